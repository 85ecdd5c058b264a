// `soong mcp serve` as hosts start it: the real program over its pipes, the SDK's own client in both eras, and a second
// terminal that answers for it (GATE-1, GATE-2, CLI-8).

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { verifies } from "#laws";
import { createHost, ERAS, textOf, type EraMode } from "../mcp/sdk-host.ts";
import { withoutSandboxWarning } from "../sandbox/support.ts";
import { bundleCli, environment, type CliBundle, type Place } from "./cli-bundle.ts";
import { factsOf, secondTerminal, stdioOf, WAIT } from "./mcp-serve-stage.ts";
import { atTerminal, canMakeTerminals } from "./pseudo-terminal.ts";

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

const MODERN: EraMode = { pin: "2026-07-28" };
const WRITE = { name: "code__write_file", arguments: { path: "b.txt", content: "two" } };

describe.each(ERAS)("over stdio, in %s", (_name, mode) => {
  it("serves the tools of a kept session, and ends with its client", async () => {
    verifies("GATE-1", "GATE-2", "GATE-4");
    const place = await bundle.place();
    await place.write("a.txt", "hello\n");
    await place.write("huge.txt", `first\n${"line of a long file\n".repeat(20_000)}`);
    const { transport, notes } = stdioOf(bundle, place, ["--allow", "code.run_command"]);
    const { client } = createHost(mode);
    await client.connect(transport);
    expect(client.getServerVersion()).toMatchObject({ name: "soong" });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("code__read_file");
    expect(tools.filter(({ name }) => !/^[A-Za-z0-9_-]{1,45}$/.test(name))).toEqual([]);

    const read = await client.callTool({ name: "code__read_file", arguments: { path: "a.txt" } });
    expect(read.isError).toBe(false);
    expect(textOf(read)).toContain("hello");

    const huge = await client.callTool({
      name: "code__run_command",
      arguments: { argv: ["cat", "huge.txt"] },
    });
    expect(textOf(huge)).toContain("first");
    expect(textOf(huge)).toContain("internal__read_artifact");
    expect(textOf(huge).length).toBeLessThan(12_000);

    const denied = await client.callTool(WRITE);
    expect(denied.isError).toBe(true);
    expect(textOf(denied)).toMatch(/soong attach session_\w+/);
    expect(textOf(denied)).toContain(
      '[[permissions.rules]]\ntool = "code.write_file"\ndecision = "allow"',
    );
    expect(existsSync(join(place.project, "b.txt"))).toBe(false);

    await client.close();
    expect(withoutSandboxWarning(notes())).toBe("");
    const facts = await factsOf(place);
    expect(facts.filter(({ type }) => type.startsWith("run.")).map(({ type }) => type)).toEqual([
      "run.started",
      "run.completed",
    ]);
    expect(facts.filter((fact) => fact.type === "tool.completed")).toHaveLength(2);
    expect(readdirSync(join(place.home, "control"))).toEqual([]);
  });

  it("asks its client about a sensitive file without showing what is in it", async () => {
    verifies("PIPE-9", "GATE-2");
    const place = await bundle.place();
    await place.write(".env", "KEY=hunter2\n");
    const { transport } = stdioOf(bundle, place);
    const { client, asked } = createHost(mode, () => ({ action: "decline" }));
    await client.connect(transport);
    const write = { path: ".env", content: "KEY=new\n", overwrite: true };
    const edit = { path: ".env", edits: [{ old: "not there", new: "KEY=new" }] };
    const results = [
      await client.callTool({ name: "code__write_file", arguments: write }),
      await client.callTool({ name: "code__edit_file", arguments: edit }),
    ];
    await client.close();
    expect(results.map(({ isError }) => isError)).toEqual([true, true]);
    expect(asked).toHaveLength(2);
    expect(JSON.stringify([asked, results, await factsOf(place)])).not.toContain("hunter2");
    for (const question of asked) {
      expect(question).toContain("KEY=new");
      expect(question).toContain("No preview is shown here, because the file is restricted");
    }
  });
});

describe("a client of the newer protocol", () => {
  it("is asked itself where it can show questions, and a second terminal instead where that is said", async () => {
    verifies("GATE-2", "CLI-8");
    const place = await bundle.place();
    const { transport } = stdioOf(bundle, place);
    const { client, asked } = createHost(MODERN, () => ({
      action: "accept",
      content: { decision: "allow_once" },
    }));
    await client.connect(transport);
    const written = await client.callTool(WRITE);
    expect(written.isError).toBe(false);
    expect(await place.read("b.txt")).toBe("two");
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain("+two");
    await client.close();
    const resolved = (await factsOf(place)).find((fact) => fact.type === "permission.resolved");
    expect(resolved?.data).toMatchObject({ answered_by: "client host 1" });

    const elsewhere = await bundle.place();
    const second = stdioOf(bundle, elsewhere, ["--ask", "attached"]);
    const declining = createHost(MODERN, () => ({ action: "decline" }));
    await declining.client.connect(second.transport);
    await declining.client.listTools();
    const terminal = await secondTerminal(bundle, elsewhere, 1);
    const writing = declining.client.callTool(WRITE);
    const question = await terminal.next("question");
    expect(question).toMatchObject({
      kind: "permission",
      request: { tool_name: "code.write_file", preview: { kind: "diff" } },
    });
    expect(existsSync(join(elsewhere.project, "b.txt"))).toBe(false);
    terminal.answer({ question_id: question["question_id"], decision: "allow_once" });
    expect((await writing).isError).toBe(false);
    expect(await elsewhere.read("b.txt")).toBe("two");

    const more = { ...WRITE, arguments: { path: "c.txt", content: "no" } };
    const refused = declining.client.callTool(more);
    const next = await terminal.next("question");
    terminal.answer({ question_id: next["question_id"], decision: "deny", reason: "not that" });
    expect(textOf(await refused)).toContain("The user said no to code.write_file: not that");
    expect(declining.asked).toEqual([]);
    await declining.client.close();
    expect(await terminal.exitCode).toBe(0);
    const answers = (await factsOf(elsewhere)).filter(
      (fact) => fact.type === "permission.resolved",
    );
    expect(answers.map(({ data }) => data.answered_by)).toEqual([
      "control:attach",
      "control:attach",
    ]);
  });
});

describe("a client that shows questions, and a second terminal", () => {
  it("are asked side by side: the first answer counts, and the other learns of it", async () => {
    verifies("GATE-2", "CLI-8");
    const place = await bundle.place();
    const { transport } = stdioOf(bundle, place);
    let answer: (result: { action: "accept"; content: { decision: string } }) => void = () => {};
    const answers: Promise<Parameters<typeof answer>[0]>[] = [];
    const { client, asked } = createHost("legacy", () => {
      const given = new Promise<Parameters<typeof answer>[0]>((resolve) => {
        answer = resolve;
      });
      answers.push(given);
      return given;
    });
    await client.connect(transport);
    await client.listTools();
    const terminal = await secondTerminal(bundle, place);

    const first = client.callTool(WRITE);
    const question = await terminal.next("question");
    await vi.waitFor(() => expect(asked).toHaveLength(1), WAIT);
    terminal.answer({ question_id: question["question_id"], decision: "allow_once" });
    expect((await first).isError).toBe(false);
    await terminal.next("settled");
    // Too late: it changes nothing, and breaks nothing.
    answer({ action: "accept", content: { decision: "deny" } });

    const second = client.callTool({ ...WRITE, arguments: { path: "c.txt", content: "three" } });
    await terminal.next("question");
    await vi.waitFor(() => expect(asked).toHaveLength(2), WAIT);
    answer({ action: "accept", content: { decision: "allow_once" } });
    expect((await second).isError).toBe(false);
    expect(await terminal.next("settled")).toMatchObject({
      outcome: "answered",
      answered_by: "client host 1",
    });
    await client.close();
  });
});

describe.skipIf(!canMakeTerminals())("the user at a second terminal (needs python3)", () => {
  it("says yes, and the call of the host ends with its result", async () => {
    verifies("GATE-2", "CLI-8");
    const place = await bundle.place();
    const { transport } = stdioOf(bundle, place);
    const { client } = createHost("legacy");
    await client.connect(transport);
    await client.listTools();
    const sitting = atTerminal(
      [process.execPath, bundle.program, "attach"],
      [{ after: "[n]o: ", type: "y\n" }],
      { cwd: place.project, env: environment(place.home, { TERM: "xterm", NO_COLOR: "1" }) },
    );
    await attended(place, 2);
    expect((await client.callTool(WRITE)).isError).toBe(false);
    await client.close();
    const { code, screen } = await sitting;
    expect(code).toBe(0);
    expect(screen).toContain("+two");
    expect(screen).toContain("The session has ended.");
  });
});

describe("interrupted", () => {
  it("by a signal, or by a client that goes, ends its calls, its run and its session", async () => {
    verifies("GATE-1");
    const ends: [(child: RawHost["child"]) => unknown, number][] = [
      [(child) => child.kill("SIGTERM"), 143],
      [(child) => child.kill("SIGINT"), 130],
      [(child) => child.stdin?.end(), 0],
    ];
    await Promise.all(
      ends.map(async ([end, exitCode]) => {
        const place = await bundle.place();
        const host = await raw(place, ["--allow", "code.run_command"]);
        host.call("code__run_command", { argv: ["sleep", "60"] });
        await startedCall(place);
        end(host.child);
        expect(await host.exitCode).toBe(exitCode);
        await expectEnded(place);
        expect(withoutSandboxWarning(host.notes())).toBe("");
      }),
    );
  });
});

describe("what is said at the start", () => {
  it("holds for every call: what is denied, and in which mode", async () => {
    verifies("GATE-1");
    const place = await bundle.place();
    const denied = stdioOf(bundle, place, ["--deny", "code.write_file", "--mode", "plan"]);
    const { client } = createHost("legacy");
    await client.connect(denied.transport);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).not.toContain("code__write_file");
    expect((await client.callTool(WRITE)).isError).toBe(true);
    await client.close();
    const [started] = (await factsOf(place)).filter((fact) => fact.type === "run.started");
    expect(started?.data).toMatchObject({ mode: "plan" });
  });
});

interface RawHost {
  readonly child: ReturnType<typeof spawn>;
  readonly exitCode: Promise<number | null>;
  notes(): string;
  call(name: string, input: object): void;
}

/** A host that does not mind how it ends. */
async function raw(place: Place, args: readonly string[]): Promise<RawHost> {
  const child = spawn(process.execPath, [bundle.program, "mcp", "serve", ...args], {
    cwd: place.project,
    env: environment(place.home),
    stdio: ["pipe", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let notes = "";
  child.stderr.on("data", (bytes: Buffer) => {
    notes += bytes.toString();
  });
  const exitCode = once(child, "close").then(([code]) => code as number | null);
  send({
    id: 0,
    method: "initialize",
    params: {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "raw", version: "1" },
    },
  });
  await once(child.stdout, "data");
  send({ method: "notifications/initialized" });
  return {
    child,
    exitCode,
    notes: () => notes,
    call: (name, input) =>
      send({ id: 1, method: "tools/call", params: { name, arguments: input } }),
  };

  function send(message: object): void {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }
}

async function startedCall(place: Place): Promise<void> {
  await vi.waitFor(async () => {
    const types = (await factsOf(place)).map(({ type }) => type);
    expect(types).toContain("tool.started");
  }, WAIT);
}

async function expectEnded(place: Place): Promise<void> {
  const facts = await factsOf(place);
  const [failed] = facts.filter((fact) => fact.type === "tool.failed");
  expect(failed?.data).toMatchObject({ result: { status: "aborted" } });
  // In our words, whoever gave it up.
  expect(JSON.stringify(failed?.data)).not.toContain("SdkError");
  // What a call says late may come behind it.
  expect(facts.filter((fact) => fact.type === "run.completed")).toHaveLength(1);
  expect(readdirSync(join(place.home, "control"))).toEqual([]);
}

async function attended({ home }: Place, by: number): Promise<void> {
  const { listLiveRuntimes } = await import("@soong/control");
  await vi.waitFor(async () => {
    const { live } = await listLiveRuntimes(home);
    expect(live[0]?.hello.attendants).toBe(by);
  }, WAIT);
}
