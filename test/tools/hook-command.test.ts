// Commands as hooks (HOOK-5), through the kernel: what they get, what they may answer, how they fail and end.

import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import {
  createKernel,
  createMemoryJournal,
  defineTool,
  type AnyHook,
  type Fact,
  type JsonObject,
  type SessionOptions,
  type ToolResult,
} from "@soong/core";
import { verifies } from "#laws";
import { describe, expect, test, vi } from "vitest";
import { commandHook, type CommandHook } from "../../packages/tools/src/hook/command-hook.ts";
import { eventually, placesOfEachTest, textOf } from "./declarative-world.ts";
import { isAlive } from "./process-watching.ts";

const places = placesOfEachTest();

/** A guard whose command is this script. */
function guard(script: string, about: Partial<CommandHook> = {}): AnyHook {
  return commandHook({
    id: "guard",
    event: "PreToolUse",
    command: ["/bin/sh", "-c", script],
    cwd: places.home,
    ...about,
  });
}

/** Answers with this. */
function answers(answer: JsonObject): string {
  return `printf '%s' '${JSON.stringify(answer)}'`;
}

const seen: JsonObject[] = [];
const tool = (permission: "readonly" | "write") =>
  defineTool({
    name: permission === "write" ? "notes.edit" : "notes.read",
    description: "A tool for tests",
    input_schema: {
      type: "object",
      properties: { text: { type: "string" }, pin: { type: "string", "x-sensitive": true } },
    },
    permission,
    concurrency_safe: true,
    handler(input) {
      seen.push(input as JsonObject);
      return "done";
    },
  });

async function start(hooks: readonly AnyHook[], options: SessionOptions = {}) {
  seen.length = 0;
  const journal = createMemoryJournal();
  const asked: string[] = [];
  const run = await createKernel({ tools: [tool("write"), tool("readonly")] }).startRun({
    journal,
    hooks,
    ask(request) {
      asked.push(request.reason);
      return { decision: "allow_once" };
    },
    ...options,
  });
  const facts = (...types: string[]): Fact[] =>
    journal.facts.filter(({ type }) => types.includes(type));
  return { run, journal, asked, facts };
}

async function edit(
  hook: AnyHook,
  input: JsonObject = { text: "a" },
): Promise<ToolResult & { asked: string[] }> {
  const { run, asked } = await start([hook]);
  return { ...(await run.call("notes.edit", input)), asked };
}

describe("what a command hook may answer", () => {
  test("nothing, which is to pass", async () => {
    verifies("HOOK-5");
    for (const script of ["true", "cat >/dev/null", "echo; echo", "echo log >&2", answers({})]) {
      expect(await edit(guard(script))).toMatchObject({ status: "succeeded" });
    }
  });

  test("deny, with the reason for the model and no question to anyone", async () => {
    verifies("HOOK-5");
    const result = await edit(guard(answers({ decision: "deny", reason: "not on a Friday" })));
    expect(result).toMatchObject({ status: "denied", error: { code: "hook_denied" }, asked: [] });
    expect(textOf(result)).toContain("not on a Friday");
    expect(seen).toEqual([]);
  });

  test("ask, also about what would need no approval", async () => {
    verifies("HOOK-5");
    const { run, asked } = await start([guard(answers({ decision: "ask", reason: "sure?" }))]);
    expect(await run.call("notes.read", {})).toMatchObject({ status: "succeeded" });
    expect(asked).toEqual([expect.stringContaining("sure?")]);
  });

  test("another input, which it is shown once more, and words for the model", async () => {
    verifies("HOOK-5");
    const replace = `node -e 'let s="";process.stdin.on("data",(c)=>s+=c).on("end",()=>{const p=JSON.parse(s);console.log(JSON.stringify({input:{...p.input,text:"changed"},context:"was "+p.input.text}))})'`;
    const { run, journal } = await start([guard(replace)]);
    await run.call("notes.edit", { text: "first" });
    expect(seen).toEqual([{ text: "changed" }]);
    expect(JSON.stringify(journal.nodes)).toContain("was changed");
  });

  test("the answers of other events", async () => {
    verifies("HOOK-5", "HOOK-1");
    const hooks = [
      guard(answers({ context: "be kind" }), { id: "start", event: "SessionStart" }),
      guard(answers({ block: true, reason: "no prompts today" }), {
        id: "prompt",
        event: "UserPromptSubmit",
      }),
      guard(answers({ replace: "something else" }), { id: "post", event: "PostToolUse" }),
      guard(answers({ continue: true, context: "go on" }), { id: "stop", event: "Stop" }),
    ];
    const { run, journal } = await start(hooks);
    expect(run.session.context).toEqual(["be kind"]);
    expect(await run.submitPrompt("hello")).toMatchObject({ blocked: "no prompts today" });
    await run.call("notes.read", {});
    expect(JSON.stringify(journal.nodes)).toContain("something else");
    expect(await run.stopping()).toEqual({ continue: true, context: ["go on"] });
  });
});

describe("what a command hook gets", () => {
  const keep =
    'cat > "payload-$$"; mv "payload-$$" payload; pwd > cwd; env > env; printf "%s" "$0 $*" > argv';
  const kept = (name: string): string => readFileSync(join(places.home, name), "utf8");

  test("the event, the project and the call as one line of JSON, in its own directory", async () => {
    verifies("HOOK-5");
    await edit(guard(keep, { project: places.project }), { text: "ä\n" });
    expect(kept("payload").trim().split("\n")).toHaveLength(1);
    expect(JSON.parse(kept("payload"))).toMatchObject({
      event: "PreToolUse",
      project: places.project,
      tool_name: "notes.edit",
      input: { text: "ä\n" },
    });
    expect(kept("cwd").trim()).toBe(places.home);
  });

  test("no secrets: neither known ones nor marked ones, neither on stdin nor in the environment", async () => {
    verifies("HOOK-5");
    vi.stubEnv("SOONG_TEST_SECRET", "pass-word-of-some-length");
    vi.stubEnv("SOONG_TEST_NAMED", "named");
    const hook = guard(keep, { env_allowlist: ["SOONG_TEST_NAMED"] });
    const { run } = await start([hook], {
      secrets: [{ name: "SOONG_TEST_SECRET", value: "pass-word-of-some-length" }],
    });
    await run.call("notes.edit", { text: "it is pass-word-of-some-length", pin: "4711-pin" });
    expect(seen).toEqual([{ text: "it is pass-word-of-some-length", pin: "4711-pin" }]);
    for (const name of ["payload", "env"]) {
      expect(kept(name)).not.toContain("pass-word-of-some-length");
      expect(kept(name)).not.toContain("4711-pin");
    }
    expect(kept("env")).toContain("SOONG_TEST_NAMED=named");
  });

  test("its arguments as they are: no shell reads the settings or the input", async () => {
    verifies("HOOK-5");
    const evil = "$(touch pwned) `touch pwned`; touch pwned; *";
    const hook = commandHook({
      id: evil,
      event: "PreToolUse",
      command: ["/bin/sh", "-c", keep, evil, evil, ""],
      tool: "notes.*",
      cwd: places.home,
    });
    const { run } = await start([hook]);
    await run.call("notes.edit", { text: evil });
    expect(kept("argv")).toBe(`${evil} ${evil} `);
    expect(JSON.parse(kept("payload"))).toMatchObject({ input: { text: evil } });
    expect(existsSync(join(places.home, "pwned"))).toBe(false);
  });

  test("matching by name, tag and path is the kernel's", async () => {
    verifies("HOOK-5", "HOOK-1");
    const hook = guard(answers({ decision: "deny" }), { tool: "notes.edit", tags: ["write"] });
    const { run } = await start([hook]);
    expect(await run.call("notes.read", {})).toMatchObject({ status: "succeeded" });
    expect(await run.call("notes.edit", {})).toMatchObject({ status: "denied" });
    expect(guard("true", { path: "/a/**", on_failure: "continue" })).toMatchObject({
      path: "/a/**",
      on_failure: "continue",
    });
  });

  test("what it writes to stderr is log, cut to its end", async () => {
    verifies("HOOK-5");
    const logged: string[] = [];
    const log = (hook: string, text: string): void => void logged.push(`${hook}: ${text}`);
    expect(await edit(guard("echo one >&2; echo two >&2", { log }))).toMatchObject({
      status: "succeeded",
    });
    expect(logged).toEqual(["guard: one\ntwo\n"]);
    await edit(guard("i=0; while [ $i -lt 9000 ]; do echo line $i >&2; i=$((i+1)); done", { log }));
    expect(logged[1]).toMatch(/^guard: line [0-9]+\n[^]*line 8999\n$/);
    expect(logged[1]?.length).toBeLessThan(17_000);
  });
});

describe("a command hook that fails", () => {
  test.each([
    ["exits badly", "echo first >&2; echo it broke >&2; exit 3", "exited with code 3: it broke"],
    ["crashes", "kill -KILL $$", "was ended by SIGKILL"],
    ["answers no JSON", "echo deny", "answered with something that is not JSON"],
    ["answers a list", "echo []", "answered with JSON that is not an object"],
    ["answers a text", `echo '"deny"'`, "answered with JSON that is not an object"],
    ["answers an unknown field", answers({ verdict: "deny" }), 'answered "verdict"'],
    ["answers an unknown decision", answers({ decision: "allow" }), "answered decision"],
    [
      "answers without end",
      "while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done",
      "answered with more than",
    ],
  ])("and %s denies a write and asks for a read", async (_, script, message) => {
    verifies("HOOK-5", "HOOK-4");
    const denied = await edit(guard(script));
    expect(denied).toMatchObject({ status: "denied", asked: [] });
    expect(textOf(denied)).toContain(message);
    const { run, asked } = await start([guard(script)]);
    expect(await run.call("notes.read", {})).toMatchObject({ status: "succeeded" });
    expect(asked).toEqual([expect.stringContaining(message)]);
  });

  test("lets the call continue where its entry says so, on record", async () => {
    verifies("HOOK-5", "HOOK-4");
    const { run, facts } = await start([guard("exit 1", { on_failure: "continue" })]);
    expect(await run.call("notes.edit", {})).toMatchObject({ status: "succeeded" });
    expect(facts("hook.failed")).toMatchObject([
      { data: { hook: "guard", message: expect.stringContaining("exited with code 1") as string } },
    ]);
  });

  test("an observer's failure is a warning and no more", async () => {
    verifies("HOOK-5", "HOOK-4");
    const { run, facts } = await start([guard("exit 1", { event: "PostToolUse" })]);
    expect(await run.call("notes.edit", {})).toMatchObject({ status: "succeeded" });
    expect(facts("hook.failed")).toHaveLength(1);
  });

  test("outcome and duration are facts", async () => {
    verifies("HOOK-5");
    const { run, facts } = await start([guard(answers({ decision: "deny" }))]);
    await run.call("notes.edit", {});
    expect(facts("hook.started", "hook.completed", "hook.denied")).toMatchObject([
      { data: { hook: "guard", event: "PreToolUse" } },
      { data: { hook: "guard", outcome: "deny", duration_ms: expect.any(Number) as number } },
      { data: { hook: "guard" } },
    ]);
  });

  test("a program that is not there, or that the project brought, is a failure", async () => {
    verifies("HOOK-5");
    const inside = places.write("project/guard", "#!/bin/sh\n", 0o755);
    symlinkSync(inside, join(places.home, "guard"));
    for (const program of ["no-such-program", "./none", inside, "./guard"]) {
      const hook = guard("", { command: [program], project: places.project });
      expect(await edit(hook)).toMatchObject({ status: "denied" });
    }
    places.write("home/own", "#!/bin/sh\n", 0o755);
    expect(await edit(guard("", { command: ["./own"], project: places.project }))).toMatchObject({
      status: "succeeded",
    });
  });
});

describe("the end of a command hook", () => {
  const stubborn = `sh -c 'trap "" TERM HUP; echo $$ > pid; while :; do sleep 1; done' & while [ ! -s pid ]; do :; done; `;
  const pid = (): number => {
    const file = join(places.home, "pid");
    return existsSync(file) ? Number(readFileSync(file, "utf8").trim()) : 0;
  };

  test("when its time is up it has failed, and its grandchildren are gone", async () => {
    verifies("HOOK-5");
    const result = await edit(guard(`${stubborn} wait`, { timeout_ms: 1500 }));
    expect(result).toMatchObject({ status: "denied" });
    expect(textOf(result)).toContain("did not answer within 1500 ms");
    expect(pid()).toBeGreaterThan(0);
    await eventually(() => !isAlive(pid()));
  });

  test("when the call is aborted its whole group is ended", async () => {
    verifies("HOOK-5");
    const { run } = await start([guard(`${stubborn} wait`)]);
    const calling = run.call("notes.edit", {});
    await eventually(() => pid() > 0);
    await run.abort("enough");
    expect(await calling).toMatchObject({ status: "aborted" });
    await eventually(() => !isAlive(pid()));
  });

  test("what it leaves in the background does not hold it up and does not live on", async () => {
    verifies("HOOK-5");
    const result = await edit(
      guard(`${stubborn} ${answers({ decision: "deny", reason: "quick" })}`),
    );
    expect(textOf(result)).toContain("quick");
    await eventually(() => !isAlive(pid()));
  });

  test("many calls at once do not wait for each other's hooks", async () => {
    verifies("HOOK-5");
    // Each hook answers only when all of them are running: one after the other, none ever would.
    const together = `mkdir -p here; : > "here/$$"; while [ "$(ls here | wc -l)" -lt 8 ]; do sleep 0.05; done; ${answers({ context: "met" })}`;
    const { run } = await start([guard(together, { timeout_ms: 30_000 })]);
    const calls = Array.from({ length: 8 }, (_, index) => ({
      id: `c${index}`,
      name: "notes.read",
      arguments: {},
    }));
    const results = await run.execute(calls);
    expect(results.map(({ status }) => status)).toEqual(calls.map(() => "succeeded"));
  });
});
