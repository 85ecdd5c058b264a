// The live runtimes as the inspector sees them, where they do not behave: real sockets, spoken to by hand.

import { once } from "node:events";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, test } from "vitest";
import { verifies } from "#laws";
import type { LiveState } from "@soong/inspector";
import { openLivePort, type LiveRuntimesPort } from "./live.ts";

let home: string;
const ends: (() => unknown)[] = [];

beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), "soong-live-")));
});

afterEach(async () => {
  for (const end of ends.splice(0)) end();
  await rm(home, { recursive: true, force: true });
});

test("a peer that does not speak the protocol is reported, and blocks no one else", async () => {
  verifies("CLI-8");
  await runtime("1", ({ socket }) => void socket.write("who are you?\n"));
  await runtime("2", honest("session_b"));
  const live = opened();
  const state = await until(
    live,
    ({ sessions, problems }) => sessions.size + problems.length === 2,
  );
  expect([...state.sessions.keys()]).toEqual(["session_b"]);
  expect(state.problems[0]).toMatch(/1\.sock does not speak soong\.control\/1\.$/);
  await expect(live.abort("session_a", "run_a")).rejects.toMatchObject({ code: "gone" });
});

test("a folder that cannot hold sockets is reported, and no one waits for it", async () => {
  verifies("CLI-8");
  await writeFile(join(home, "control"), "");
  const live = opened();
  live.attend();
  const { problems } = await until(live, (state) => state.problems.length > 0);
  expect(problems).toEqual([
    expect.stringMatching(/^Live sessions cannot be reached: .*move it away/),
  ]);
  await live.attended("session_a");
});

test("a question that was on its way when the page was left is not kept, and one after it is", async () => {
  verifies("CLI-8", "PERM-6");
  let name: unknown;
  await runtime("1", (client) => {
    honest("session_a")(client);
    client.on("questions.attend", (params) => {
      ({ name } = params);
      client.push("question.opened", asked("q2"));
    });
    client.on("questions.leave", () => client.push("question.opened", asked("q1")));
  });
  const live = opened();
  await until(live, ({ sessions }) => sessions.size === 1);
  live.attend();
  await until(live, ({ questions }) => questions.length === 1);
  expect(name).toBe("inspector");
  live.leave();
  expect(live.state().questions).toEqual([]);
  live.attend();
  const { questions } = await until(live, (state) => state.questions.length > 0);
  expect(questions.map(({ question_id }) => question_id)).toEqual(["q2"]);
  await expect(live.answer("session_a", "q1", { decision: "deny" })).rejects.toMatchObject({
    code: "settled",
  });
});

test("a session is attended once it has said so, and at once where no one checks", async () => {
  verifies("CLI-8");
  const live = opened();
  await live.attended("session_a");
  live.attend();
  let hasSaidSo = false;
  const attended = live.attended("session_a").then(() => hasSaidSo);
  await runtime("1", (client) => {
    honest("session_a")(client);
    client.on("questions.attend", () => {
      hasSaidSo = true;
    });
  });
  expect(await attended).toBe(true);
});

test("what a runtime says that cannot be shown is reported, and ends nothing", async () => {
  verifies("CLI-8");
  await runtime("1", (client) =>
    client.push("hello", { ...HELLO, session_id: "session_a", runs: 1 }),
  );
  await runtime("2", (client) => {
    honest("session_b", 2)(client);
    client.socket.write('{"event":"question.settled"}\n{"event":"question.opened"}\n');
    client.push("question.opened", { kind: "permission", question_id: "q1", asked_at: "" });
  });
  await runtime("3", honest("session_c", 3), { "grants.list": { grants: "none" } });
  await runtime("4", (client) => {
    honest("session_d", 4)(client);
    client.on("questions.attend", () => client.push("question.opened", asked("q2", "session_d")));
  });
  const live = opened();
  live.attend();
  const state = await until(live, (now) => now.problems.length === 3 && now.questions.length > 0);
  expect(state.questions.map(({ question_id }) => question_id)).toEqual(["q2"]);
  expect(state.problems.toSorted()).toEqual([
    expect.stringMatching(/1\.sock does not say who it is/),
    expect.stringMatching(/session_b .* says what cannot be shown here; use `soong attach`/),
    expect.stringMatching(/session_c .* says what cannot be shown here/),
  ]);
  await expect(live.answer("session_b", "q1", { decision: "allow_once" })).rejects.toMatchObject({
    code: "settled",
  });
});

test("an answer goes to the session whose question was shown, even if another asks one with the same id", async () => {
  verifies("PERM-8");
  const answered: string[] = [];
  const asking = (session_id: string, pid: number) => (client: ByHand) => {
    honest(session_id, pid)(client);
    client.on("questions.attend", () => client.push("question.opened", asked("q1", session_id)));
    client.on("questions.answer", () => answered.push(session_id));
  };
  await runtime("1", asking("session_a", 1));
  await runtime("2", asking("session_b", 2));
  const live = opened();
  live.attend();
  const { questions } = await until(live, (state) => state.questions.length === 2);
  expect(questions.map(({ session_id }) => session_id).toSorted()).toEqual([
    "session_a",
    "session_b",
  ]);
  await live.answer("session_b", "q1", { decision: "deny" });
  await live.answer("session_a", "q1", { decision: "deny" });
  expect(answered).toEqual(["session_b", "session_a"]);
  await expect(live.answer("session_c", "q1", { decision: "deny" })).rejects.toMatchObject({
    code: "gone",
  });
});

function opened(): LiveRuntimesPort {
  const live = openLivePort(home);
  ends.push(() => live.close());
  return live;
}

async function until(
  live: LiveRuntimesPort,
  isSo: (state: LiveState) => boolean,
): Promise<LiveState> {
  while (!isSo(live.state())) {
    await new Promise<void>((resolve) => {
      const stop = live.onChange(() => {
        stop();
        resolve();
      });
    });
  }
  return live.state();
}

interface ByHand {
  readonly socket: Socket;
  push(event: string, data: object): void;
  /** Before its answer is sent. */
  on(method: string, listener: (params: Record<string, unknown>) => void): void;
}

async function runtime(
  name: string,
  speak: (client: ByHand) => void,
  answers?: Readonly<Record<string, object>>,
): Promise<void> {
  await mkdir(join(home, "control"), { recursive: true, mode: 0o700 });
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    const listeners = new Map<string, (params: Record<string, unknown>) => void>();
    const send = (record: object): void => void socket.write(`${JSON.stringify(record)}\n`);
    speak({
      socket,
      push: (event, data) => send({ event, data }),
      on: (method, listener) => void listeners.set(method, listener),
    });
    createInterface({ input: socket }).on("line", (line) => {
      const { id, method, params } = JSON.parse(line) as Asked;
      listeners.get(method)?.(params);
      send({ id, result: answers?.[method] ?? ANSWERS[method] ?? {} });
    });
  });
  server.listen(join(home, "control", `${name}.sock`));
  await once(server, "listening");
  ends.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
}

interface Asked {
  readonly id: number;
  readonly method: string;
  readonly params: Record<string, unknown>;
}

const HELLO = { protocol: "soong.control/1", version: "0", pid: 1, project: "/p", runs: [] };
const ANSWERS: Readonly<Record<string, object>> = {
  hello: { ...HELLO, session_id: "session_a", attendants: 0 },
  "grants.list": { grants: [] },
};

function honest(session_id: string, pid = 1): (client: ByHand) => void {
  return (client) => client.push("hello", { ...HELLO, pid, session_id, attendants: 0 });
}

function asked(question_id: string, session_id = "session_a"): object {
  const request = {
    session_id,
    request_id: "request_a",
    run_id: "run_a",
    agent_id: "agent_a",
    role: "main",
    tool_call_id: "call_a",
    tool_name: "code.write_file",
    description: "Writes a file.",
    permission: "write",
    tags: [],
    arguments: {},
    resources: [],
    scopes: [],
    session_scope: "this tool",
    cwd: "/p",
    network_hosts: [],
    dangerous: false,
    destructive: false,
    hook_results: [],
    reason: "it writes",
    chain: [],
    suggested_decision: "deny",
    digest: "d",
  };
  return { kind: "permission", question_id, asked_at: "2026-01-01T00:00:00.000Z", request };
}
