// The socket of a live session, over real sockets: who can see it, what it answers, and what it withstands.

import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createKernel, defineTool, type Run, type Session } from "@soong/core";
import { commandEnvironment, startProcess } from "@soong/platform";
import { verifies } from "#laws";
import { expect, it, onTestFinished, vi } from "vitest";
import {
  connectControl,
  createApprovalBroker,
  listLiveRuntimes,
  serveControl,
  watchSession,
  type ControlClient,
  type ControlEvent,
  type ApprovalBroker,
} from "./index.ts";
import { PROGRAM_VERSION } from "./protocol.ts";

it("is a socket of 0600 in a directory of 0700, seen only once it answers, and gone with its session", async () => {
  verifies("CLI-8");
  const { home, folder, path, server } = await live();
  expect(modeOf(folder)).toBe(0o700);
  expect(modeOf(path)).toBe(0o600);
  expect(lstatSync(path).isSocket()).toBe(true);
  expect(readdirSync(folder)).toHaveLength(1);
  const { live: found, problems } = await listLiveRuntimes(home);
  expect(found.map((one) => one.path)).toEqual([path]);
  expect(problems).toEqual([]);
  expect(found[0]?.hello).toMatchObject({
    pid: process.pid,
    project: "/p",
    session_id: "s",
    attendants: 0,
  });
  await server.close();
  expect(readdirSync(folder)).toEqual([]);
  expect(await listLiveRuntimes(home)).toEqual({ live: [], problems: [] });
});

it("reports the version of its package", () => {
  verifies("CLI-8");
  const url = new URL("../../cli/package.json", import.meta.url);
  const { version } = JSON.parse(readFileSync(url, "utf8")) as { version: string };
  expect(PROGRAM_VERSION).toBe(version);
});

it("is made where others could look, for its owner alone", async () => {
  verifies("CLI-8");
  const home = newHome();
  mkdirSync(join(home, "control"), { mode: 0o755 });
  chmodSync(join(home, "control"), 0o755);
  const { folder } = await live({ home });
  expect(modeOf(folder)).toBe(0o700);
});

it("is reached also under a home with a path longer than an address may be", async () => {
  verifies("CLI-8");
  const home = newHome("h".repeat(150));
  const { path, server, folder } = await live({ home });
  expect(Buffer.byteLength(path)).toBeGreaterThan(108);
  expect(modeOf(path)).toBe(0o600);
  const { live: found } = await listLiveRuntimes(home);
  expect(found.map((one) => one.path)).toEqual([path]);
  const client = await connectControl(path);
  expect(await client.request("grants.list", {})).toEqual({ grants: [] });
  await server.close();
  await client.closed;
  expect(readdirSync(folder)).toEqual([]);
});

it("is refused where a link, a file or someone else's directory is in its place", async () => {
  verifies("CLI-8");
  const elsewhere = newHome();
  const linked = newHome();
  symlinkSync(elsewhere, join(linked, "control"));
  await expect(live({ home: linked })).rejects.toThrow(/control is not a directory/);
  await expect(listLiveRuntimes(linked)).rejects.toThrow(/control is not a directory/);
  expect(readdirSync(elsewhere)).toEqual([]);
  const filed = newHome();
  writeFileSync(join(filed, "control"), "");
  await expect(live({ home: filed })).rejects.toThrow(/control is not a directory/);
  if (process.getuid?.() === 0) {
    const foreign = newHome();
    mkdirSync(join(foreign, "control"));
    chownSync(join(foreign, "control"), 12345, 12345);
    await expect(live({ home: foreign })).rejects.toThrow(/belongs to another user/);
  }
});

it("clears away what a killed runtime has left, and nothing that lives or is not its own", async () => {
  verifies("CLI-8");
  const { home, folder, path } = await live();
  const dead = join(folder, "1-dead.sock");
  const unborn = join(folder, ".new-1");
  const begun = join(folder, ".new-2");
  await leaveSockets([dead, unborn, begun]);
  utimesSync(unborn, 1, 1);
  symlinkSync(path, join(folder, "2-link.sock"));
  writeFileSync(join(folder, "3-file.sock"), "");
  writeFileSync(join(folder, "note.txt"), "");
  const { live: found, problems } = await listLiveRuntimes(home);
  expect(found.map((one) => one.path)).toEqual([path]);
  expect(problems.join("\n")).toMatch(
    /2-link\.sock is not a socket.*\n.*3-file\.sock is not a socket/,
  );
  expect(existsSync(dead)).toBe(false);
  expect(existsSync(unborn)).toBe(false);
  expect(readdirSync(folder).toSorted()).toEqual(
    [".new-2", "2-link.sock", "3-file.sock", "note.txt", path.slice(folder.length + 1)].toSorted(),
  );
});

it("puts a question to the attending clients, and the first answer is on record with its name", async () => {
  verifies("CLI-8", "PERM-4", "PERM-5");
  const { session, run, path } = await live();
  const events: ControlEvent[] = [];
  const [one, other] = await Promise.all([
    connected(path, (event) => events.push(event)),
    connected(path),
  ]);
  await one.request("questions.attend", { name: "second window" });
  expect((await other.request("hello", {})).attendants).toBe(1);
  const called = run.call("notes.add", { text: "milk" });
  await vi.waitFor(() => expect(events).toHaveLength(1));
  const [opened] = events;
  const { questions } = await other.request("questions.list", {});
  expect(questions).toEqual([opened?.data]);
  const [question] = questions;
  expect(question).toMatchObject({ kind: "permission", request: { tool_name: "notes.add" } });
  const { question_id } = question!;
  const answer = { question_id, decision: "allow_for_session" } as const;
  await one.request("questions.answer", answer);
  expect((await called).status).toBe("succeeded");
  await expect(other.request("questions.answer", answer)).rejects.toMatchObject({
    code: "not_found",
  });
  await vi.waitFor(() => expect(events).toHaveLength(2));
  expect(events[1]).toEqual({
    event: "question.settled",
    data: {
      question_id,
      outcome: "answered",
      decision: "allow_for_session",
      answered_by: "control:second window",
    },
  });

  const { grants } = await other.request("grants.list", {});
  expect(grants).toMatchObject([
    { tool_name: "notes.add", granted_by: "control:second window", session_id: "s" },
  ]);
  expect(grants[0]?.covers).toMatch(/^For the rest of the session, /);
  expect((await run.call("notes.add", { text: "milk" })).status).toBe("succeeded");
  const [grant] = session.grants();
  const revoked = await other.request("grants.revoke", { grant_id: grant!.grant_id });
  expect(revoked.grant.grant_id).toBe(grant!.grant_id);
  expect(session.grants()).toEqual([]);
  await expect(other.request("grants.revoke", { grant_id: grant!.grant_id })).rejects.toMatchObject(
    { code: "not_found" },
  );

  await other.request("questions.attend", {});
  const third = run.call("notes.add", { text: "milk" });
  await vi.waitFor(() => expect(events).toHaveLength(3));
  await one.request("questions.leave", {});
  const { questions: left } = await other.request("questions.list", {});
  await other.request("questions.answer", { ...answer, question_id: left[0]!.question_id });
  expect((await third).status).toBe("succeeded");
  await one.request("grants.revoke", { grant_id: session.grants()[0]!.grant_id });
  await other.request("questions.leave", {});
  expect((await run.call("notes.add", { text: "milk" })).status).toBe("denied");
  // A responder that has left receives nothing more.
  await one.request("hello", {});
  expect(events).toHaveLength(3);
});

it("counts a client that disconnects as no one", async () => {
  verifies("CLI-8", "PERM-4");
  const { run, path } = await live();
  const events: ControlEvent[] = [];
  const client = await connected(path, (event) => events.push(event));
  await client.request("questions.attend", {});
  const called = run.call("notes.add", { text: "milk" });
  await vi.waitFor(() => expect(events).toHaveLength(1));
  client.close();
  const result = await called;
  expect(result.status).toBe("denied");
  expect(result.error?.message).toContain("no one is there to ask");
});

it("takes answers to what a tool wants to know only from who attends to that", async () => {
  verifies("CLI-8");
  const { broker, path } = await live();
  const elicit = (): Promise<unknown> =>
    broker.elicit(
      { mode: "form", message: "Which?", schema: {}, tool_name: "a.b", tool_call_id: "1" } as never,
      { signal: new AbortController().signal },
    );
  const events: ControlEvent[] = [];
  const client = await connected(path, (event) => events.push(event));
  await client.request("questions.attend", { kinds: ["permission"] });
  await expect(elicit()).rejects.toThrow("no one");
  await client.request("questions.attend", {});
  const elicited = elicit();
  await vi.waitFor(() => expect(events).toHaveLength(1));
  const [opened] = events as [Extract<ControlEvent, { event: "question.opened" }>];
  expect(opened.data).toMatchObject({ kind: "elicitation", request: { message: "Which?" } });
  const { question_id } = opened.data;
  const wrong = client.request("questions.answer", { question_id, decision: "deny" });
  await expect(wrong).rejects.toMatchObject({ code: "not_found" });
  await client.request("questions.answer", { question_id, action: "accept", content: { it: 2 } });
  expect(await elicited).toEqual({ action: "accept", content: { it: 2 } });
});

it("sends the facts from any seq on, to the end of the session", async () => {
  verifies("CLI-8", "EVENT-4");
  const { session, run, path, server } = await live();
  await run.call("notes.list", {});
  const events: ControlEvent[] = [];
  const client = await connected(path, (event) => events.push(event));
  await client.request("facts.follow", { after: 2 });
  await expect(client.request("facts.follow", {})).rejects.toMatchObject({ code: "bad_params" });
  await run.call("notes.list", {});
  run.end("completed");
  await session.close();
  await server.close();
  await client.closed;
  const seqs = events.flatMap((event) => (event.event === "fact" ? [event.data.seq] : []));
  expect(seqs).toEqual(seqs.map((_, at) => at + 3));
  expect(events.at(-1)).toEqual({
    event: "facts.end",
    data: { last_seq: seqs.at(-1), complete: true },
  });
  expect(events.at(-2)).toMatchObject({ data: { type: "run.completed" } });
});

it("names the active runs, and ends one through its driver", async () => {
  verifies("CLI-8");
  const { run, path, watched } = await live();
  const client = await connected(path);
  const { run_id } = run.identity;
  expect((await client.request("hello", {})).runs).toMatchObject([{ run_id, role: "main" }]);
  const slow = run.call("notes.wait", {});
  const unknown = client.request("run.abort", { run_id: "run_x" });
  await expect(unknown).rejects.toMatchObject({ code: "not_found" });
  const aborts: unknown[] = [];
  const stop = watched.onAbort((...given) => aborts.push(given));
  const asked = { run_id, reason: "enough" };
  expect(await client.request("run.abort", asked)).toEqual({ run_ids: [run_id] });
  expect(aborts).toEqual([["enough", [run_id]]]);
  stop();
  // No one drives it: its calls end.
  await client.request("run.abort", {});
  expect((await slow).is_error).toBe(true);
  run.end("aborted");
  expect((await client.request("hello", {})).runs).toEqual([]);
  await expect(client.request("run.abort", {})).rejects.toMatchObject({ code: "not_found" });
});

const MISTAKES: readonly (readonly [string, string])[] = [
  ["not json", "bad_request"],
  ["[]", "bad_request"],
  ["null", "bad_request"],
  ['{"id":{},"method":"hello"}', "bad_request"],
  ['{"id":1,"method":"hello","params":[]}', "bad_request"],
  ["[".repeat(200_000), "bad_request"],
  ['{"id":1,"method":"constructor"}', "unknown_method"],
  ['{"id":1,"method":"run.call","params":{}}', "unknown_method"],
  ['{"id":1,"method":"grants.revoke"}', "bad_params"],
  ['{"id":1,"method":"grants.revoke","params":{"grant_id":7}}', "bad_params"],
  ['{"id":1,"method":"facts.follow","params":{"after":-1}}', "bad_params"],
  ['{"id":1,"method":"questions.attend","params":{"kinds":["all"]}}', "bad_params"],
  [
    '{"id":1,"method":"questions.answer","params":{"question_id":"x","decision":"yes"}}',
    "bad_params",
  ],
  [
    '{"id":1,"method":"questions.answer","params":{"question_id":"x","decision":"deny"}}',
    "not_identified",
  ],
];

it("answers every mistake with what is wrong, and continues", async () => {
  verifies("CLI-8");
  const { path } = await live();
  const { socket, next } = await raw(path);
  expect(await next()).toMatchObject({ event: "hello", data: { protocol: "soong.control/1" } });
  for (const [line, code] of MISTAKES) {
    socket.write(`${line}\n\n{"id":"after","method":"grants.list"}\n`);
    const answer = await next();
    expect([line.slice(0, 80), answer]).toMatchObject([
      line.slice(0, 80),
      {
        // A client that waits for the answer to a request finds it by that.
        id: line.startsWith('{"id":1') ? 1 : null,
        error: { code, message: expect.stringMatching(/\.$/) as string },
      },
    ]);
    expect(await next()).toEqual({ id: "after", result: { grants: [] } });
  }
});

it("answers what came before a client closed its side, also without a last line break", async () => {
  verifies("CLI-8");
  const { path } = await live();
  const { socket, next } = await raw(path);
  socket.end('{"id":1,"method":"grants.list"}\n{"id":2,"method":"questions.list"}');
  await next();
  expect(await next()).toEqual({ id: 1, result: { grants: [] } });
  expect(await next()).toEqual({ id: 2, result: { questions: [] } });
  expect(await next()).toBeUndefined();
});

it("keeps little of a line without end, says so, and hangs up", async () => {
  verifies("CLI-8");
  const { path } = await live();
  const { socket, next } = await raw(path);
  const piece = Buffer.alloc(1024 * 1024, "a");
  const before = process.memoryUsage().arrayBuffers;
  await next();
  const answered = next();
  for (let sent = 0; sent < 100; sent += 1) {
    const written = new Promise<undefined>((resolve) => {
      socket.write(piece, () => resolve(undefined));
    });
    if ((await Promise.race([answered, written])) !== undefined) break;
  }
  expect(await answered).toMatchObject({ id: null, error: { code: "line_too_long" } });
  socket.end();
  expect(await next()).toBeUndefined();
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * 1024 * 1024);
  expect((await connected(path)).hello.session_id).toBe("s");
});

it("talks with so many at a time and turns the rest away, and the run does not notice", async () => {
  verifies("CLI-8");
  const { path, run } = await live();
  const firsts: Record<string, unknown>[] = [];
  for (let batch = 0; batch < 10; batch += 1) {
    firsts.push(...(await Promise.all(Array.from({ length: 100 }, () => firstWordsOf(path)))));
  }
  const greeted = firsts.filter((first) => first["event"] === "hello");
  const turnedAway = firsts.filter((first) => "error" in first);
  expect([greeted.length, turnedAway.length]).toEqual([64, 936]);
  expect(turnedAway[0]).toMatchObject({ error: { code: "too_many_clients" } });
  expect((await run.call("notes.list", {})).status).toBe("succeeded");
  await expect(connectControl(path)).rejects.toMatchObject({ code: "too_many_clients" });
});

it("neither waits for a client that never reads nor keeps what it asks for", async () => {
  verifies("CLI-8", "EVENT-4");
  const { path, run, session, server } = await live();
  const idle = await neverReading(path, `{"id":0,"method":"facts.follow"}\n`);
  // Each of these has an answer; no one takes any, so no more are read.
  idle.write(`{"id":1,"method":"${"x".repeat(1000)}"}\n`.repeat(4000));
  for (let call = 0; call < 250; call += 1) {
    expect((await run.call("notes.long", {})).status).toBe("succeeded");
    // A turn for the sockets.
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
  // Nor are facts: the journal has them until they are taken.
  expect([idle.writableNeedDrain, idle.destroyed]).toEqual([true, false]);
  run.end("completed");
  await session.close();
  await server.close();
  expect(existsSync(path)).toBe(false);
});

it("disconnects a client that attends and takes no question, and counts it as no one", async () => {
  verifies("CLI-8", "PERM-4");
  const { path, broker } = await live();
  const client = await connected(path);
  await client.request("questions.attend", {});
  client.pause();
  expect(broker.responders()).toBe(1);
  const request = {
    chain: [],
    tool_name: "x",
    arguments: {},
    reason: "r".repeat(1024 * 1024),
  } as never;
  const { signal } = new AbortController();
  const asked = Array.from({ length: 10 }, () => Promise.resolve(broker.ask(request, { signal })));
  const outcomes = await Promise.allSettled(asked);
  expect(outcomes.map(({ status }) => status)).toEqual(asked.map(() => "rejected"));
  expect(broker.responders()).toBe(0);
});

/** Identifies itself as it should, attends under a name that is not its own, and says what came of it. */
const WOULD_ANSWER = `
  import { openSync } from "node:fs";
  import { connect } from "node:net";
  import { createInterface } from "node:readline";
  const socket = connect(process.argv[1]);
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await lines.next()).value);
  const ask = async (method, params = {}) => {
    socket.write(JSON.stringify({ id: 1, method, params }) + "\\n");
    const { error, result } = await next();
    if (error !== undefined) console.log(method, error.code);
    return result;
  };
  await next();
  await ask("questions.attend", { name: "terminal" });
  const { open } = await ask("identify");
  const descriptor = openSync(open, "r");
  await ask("identify", { pid: 1, descriptor });
  await ask("identify", { pid: process.pid, descriptor });
  await ask("identify", { pid: process.ppid, descriptor });
  await ask("questions.attend", { name: "terminal" });
  await ask("questions.answer", { question_id: "x", decision: "allow_once" });
  await ask("grants.revoke", { grant_id: "x" });
  await ask("run.abort");
  socket.destroy();
`;

it.each([
  ["as it was started", ""],
  ["without its environment", "env -i"],
  ["in a session of its own", "setsid -w"],
  ["in a session of its own, its parents gone", "setsid --fork"],
])("lets nothing that the runtime has started act on it, %s", async (_how, prefix) => {
  verifies("MCP-11", "PERM-4");
  const { path, folder, broker } = await live();
  const program = join(folder, "..", "client.mjs");
  const said = join(folder, "..", "said");
  writeFileSync(program, WOULD_ANSWER.replace("process.argv[1]", JSON.stringify(path)));
  const inner = `'${process.execPath}' '${program}' > '${said}.new'; mv '${said}.new' '${said}'`;
  const { end } = startProcess({
    executable: "/bin/sh",
    argv: ["sh", "-c", `${prefix} sh -c "$0"; until [ -e '${said}' ]; do sleep 0.05; done`, inner],
    cwd: "/",
    env: commandEnvironment(),
  });
  await end;
  expect(readFileSync(said, "utf8").split("\n")).toEqual([
    "questions.attend not_identified",
    "identify not_identified",
    "identify refused",
    "identify refused",
    "questions.attend refused",
    "questions.answer refused",
    "grants.revoke refused",
    "run.abort refused",
    "",
  ]);
  expect(broker.responders()).toBe(0);
});

it("calls a terminal on record only what is at one", async () => {
  verifies("PERM-4");
  const { run, path, broker } = await live();
  const client = await connected(path);
  await client.request("questions.attend", { name: "Terminal" });
  const called = run.call("notes.add", { text: "milk" });
  await vi.waitFor(() => expect(broker.open()).toHaveLength(1));
  const [question] = broker.open();
  await client.request("questions.answer", {
    question_id: question!.question_id,
    decision: "allow_for_session",
  });
  await called;
  const { grants } = await client.request("grants.list", {});
  expect(grants).toMatchObject([{ granted_by: "control:program" }]);
});

it("is not taken for a runtime when it speaks something else", async () => {
  verifies("CLI-8");
  const { home, folder } = await live();
  const strange = createServer((socket) => void socket.on("error", () => {}).end("hello\n"));
  const later = createServer((socket) => {
    const hello = { event: "hello", data: { protocol: "soong.control/9" } };
    socket.on("error", () => {}).end(`${JSON.stringify(hello)}\n`);
  });
  onTestFinished(() => {
    strange.close();
    later.close();
  });
  strange.listen(join(folder, "1-strange.sock"));
  later.listen(join(folder, "2-later.sock"));
  await Promise.all([once(strange, "listening"), once(later, "listening")]);
  const { live: found, problems } = await listLiveRuntimes(home);
  expect(found).toHaveLength(1);
  expect(problems.join("\n")).toMatch(
    /1-strange\.sock does not speak soong\.control\/1.*\n.*soong\.control\/9/,
  );
});

interface Live {
  readonly home: string;
  readonly folder: string;
  readonly path: string;
  readonly session: Session;
  readonly run: Run;
  readonly broker: ApprovalBroker;
  readonly server: { close(): Promise<void> };
  readonly watched: ReturnType<typeof watchSession>;
}

/** A session with a run, whose questions only the socket answers. */
async function live({ home = newHome() }: { home?: string } = {}): Promise<Live> {
  const broker = createApprovalBroker();
  const schema = { type: "object", properties: { text: { type: "string" } } } as const;
  const tool = (name: string, permission: "readonly" | "write", handler: () => unknown) =>
    defineTool({ name, description: name, input_schema: schema, permission, handler });
  const kernel = createKernel({
    tools: [
      tool("notes.add", "write", () => "added"),
      tool("notes.list", "readonly", () => "none"),
      tool("notes.long", "readonly", () => "long ".repeat(10_000)),
      tool("notes.wait", "readonly", () => new Promise(() => {})),
    ],
  });
  const opened = await kernel.openSession({
    session_id: "s",
    ask: (...question) => broker.ask(...question),
    elicit: (...question) => broker.elicit(...question),
  });
  const watched = watchSession(opened, { project: "/p", broker, secrets: [] });
  const server = await serveControl(home, watched.subject);
  if (server === undefined) throw new Error("there are no sockets here");
  onTestFinished(() => server.close());
  return {
    home,
    folder: join(home, "control"),
    path: server.path,
    session: opened,
    run: await opened.startRun(),
    broker,
    server,
    watched,
  };
}

function newHome(name = "home"): string {
  const folder = mkdtempSync(join(tmpdir(), "soong-control-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const home = join(folder, name);
  mkdirSync(home, { mode: 0o700 });
  return home;
}

async function connected(
  path: string,
  onEvent: (event: ControlEvent) => void = () => {},
): Promise<ControlClient> {
  const client = await connectControl(path, { onEvent });
  onTestFinished(() => client.close());
  return client;
}

/** Without the manners of a client. `next`: undefined at the end. */
async function raw(
  path: string,
): Promise<{ socket: Socket; next: () => Promise<Record<string, unknown> | undefined> }> {
  const socket = connect({ path, allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => {});
  await once(socket, "connect");
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  return {
    socket,
    async next() {
      const line = await lines.next();
      return line.done === true ? undefined : (JSON.parse(line.value) as Record<string, unknown>);
    },
  };
}

/** Says something, and takes nothing of what is said to it. */
async function neverReading(path: string, words: string): Promise<Socket> {
  const socket = connect(path);
  onTestFinished(() => void socket.destroy());
  socket.pause().on("error", () => {});
  await once(socket, "connect");
  socket.write(words);
  return socket;
}

/** And stays connected. */
async function firstWordsOf(path: string): Promise<Record<string, unknown>> {
  const socket = connect(path);
  onTestFinished(() => void socket.destroy());
  const [bytes] = (await once(socket, "data")) as [Buffer];
  return JSON.parse(bytes.toString()) as Record<string, unknown>;
}

/** As a process that was killed leaves them. */
async function leaveSockets(paths: readonly string[]): Promise<void> {
  const code = `
    let left = process.argv.length - 1;
    for (const path of process.argv.slice(1)) {
      require("node:net").createServer().listen(path, () => {
        left -= 1;
        if (left === 0) process.kill(process.pid, "SIGKILL");
      });
    }`;
  await once(spawn(process.execPath, ["-e", code, ...paths]), "close");
}

function modeOf(path: string): number {
  return lstatSync(path).mode & 0o777;
}
