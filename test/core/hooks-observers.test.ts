// What hooks other than guards may do (HOOK-6), and that their failure costs no one anything (HOOK-4).

import {
  defineHook,
  type AnyHook,
  type AnyTool,
  type ContentBlock,
  type ElicitationAnswer,
  type Hook,
  type HookAnswers,
  type HookEvent,
} from "@soong/core";
import { verifies } from "#laws";
import { describe, expect, test } from "vitest";
import { callOnce } from "./call-once.ts";
import { watchedReader } from "./watched.ts";
import { createWorld, pause, reader, type World, type WorldOptions } from "./world.ts";

function on<Event extends HookEvent>(
  event: Event,
  run: Hook<Event>["run"] | (() => unknown),
  about: Partial<Hook<Event>> = {},
): AnyHook {
  return defineHook<Event>({ id: `on ${event}`, event, run: run as Hook<Event>["run"], ...about });
}

function nodeOf(world: World, tool_call_id = "c1") {
  return world.journal.nodes.find(
    (node) => node.kind === "tool_result" && node.tool_call_id === tool_call_id,
  );
}

describe("PostToolUse", () => {
  const text = (value: string): ContentBlock[] => [{ type: "text", text: value }];

  test("replaces what the model reads, while fact and result keep the original", async () => {
    verifies("HOOK-6");
    const hooks = [on("PostToolUse", () => ({ replace: "nothing to see" }))];
    const tool = watchedReader("notes.read", { handler: () => "the original" });
    const { world } = await callOnce(tool, {}, { hooks });
    expect(nodeOf(world)?.content).toEqual(text("nothing to see"));
    const [completed] = world.facts("tool.completed");
    expect(completed?.data.result).toMatchObject({ content: text("the original") });
  });

  test("may replace with content blocks, and the last word counts", async () => {
    verifies("HOOK-6");
    const blocks: ContentBlock[] = [
      { type: "text", text: "one" },
      { type: "json", json: { n: 1 } },
    ];
    const hooks = [
      on("PostToolUse", () => ({ replace: "first" }), { id: "a" }),
      on("PostToolUse", () => ({ replace: blocks }), { id: "b" }),
    ];
    const { world } = await callOnce(watchedReader("notes.read"), {}, { hooks });
    expect(nodeOf(world)?.content).toEqual(blocks);
  });

  test("adds context after the result", async () => {
    verifies("HOOK-6");
    const hooks = [on("PostToolUse", () => ({ context: "it was late" }))];
    const { world } = await callOnce(watchedReader("notes.read"), {}, { hooks });
    expect(world.journal.nodes.map(({ kind }) => kind)).toEqual(["tool_result", "hook_context"]);
    expect(world.journal.nodes[1]?.content).toEqual(text("it was late"));
  });

  test("receives successes, PostToolUseFailure receives failures, and neither what never ran", async () => {
    verifies("HOOK-6", "HOOK-1");
    const told: string[] = [];
    const hooks = [
      on("PostToolUse", ({ tool_call_id }) => void told.push(`ok ${tool_call_id}`)),
      on("PostToolUseFailure", ({ tool_call_id, result }) => {
        told.push(`failed ${tool_call_id} ${result.status}`);
        return { replace: "try the other one" };
      }),
    ];
    const tools = [
      reader("notes.read"),
      reader("notes.fail", 0, { handler: () => Promise.reject(new Error("boom")) }),
      reader("notes.hang", 0, { handler: () => new Promise(() => {}), timeout_ms: 10 }),
      reader("notes.peek", 0, { tags: ["dangerous"] }),
    ];
    const world = await createWorld({ tools, hooks });
    await world.execute(...tools.map(({ name }) => ({ id: name, name, arguments: {} })));
    expect(told.toSorted()).toEqual([
      "failed notes.fail failed",
      "failed notes.hang timed_out",
      "ok notes.read",
    ]);
    expect(nodeOf(world, "notes.fail")).toMatchObject({
      is_error: true,
      content: text("try the other one"),
    });
    const failed = world
      .facts("tool.failed")
      .find(({ tool_call_id }) => tool_call_id === "notes.fail");
    expect(JSON.stringify(failed?.data.result)).toContain("boom");
  });

  test.each<[string, () => unknown]>([
    ["throws", () => failing()],
    ["hangs", async () => new Promise(() => {})],
    ["answers a field nobody knows", () => ({ decision: "deny" })],
    ["replaces with a number", () => ({ replace: 7 })],
    ["replaces with a list of numbers", () => ({ replace: [7] })],
    ["replaces with a block nobody knows", () => ({ replace: [{ type: "video", url: "x" }] })],
    ["replaces with a text block without text", () => ({ replace: [{ type: "text" }] })],
  ])("that %s leaves the result alone and a warning on record", async (_, run) => {
    verifies("HOOK-4", "HOOK-6");
    const tool = watchedReader("notes.read", { handler: () => "the original" });
    const { status, world } = await callOnce(tool, {}, { hooks: [on("PostToolUse", run)] });
    expect(status).toBe("succeeded");
    expect(nodeOf(world)?.content).toEqual(text("the original"));
    expect(world.facts("hook.failed")).toMatchObject([{ level: "warn", tool_call_id: "c1" }]);
  });

  test("cannot change the result through its payload", async () => {
    verifies("HOOK-6");
    const hooks = [
      on("PostToolUse", ({ result }) => {
        result.content = text("changed");
        result.status = "failed";
      }),
    ];
    const tool = watchedReader("notes.read", { handler: () => "the original" });
    const { status, world } = await callOnce(tool, {}, { hooks });
    expect(status).toBe("succeeded");
    expect(nodeOf(world)?.content).toEqual(text("the original"));
  });
});

describe("around a run", () => {
  test("SessionStart adds context", async () => {
    verifies("HOOK-6");
    const hooks = ["a", "b"].map((id) =>
      on("SessionStart", () => ({ context: `know ${id}` }), { id }),
    );
    const world = await createWorld({ hooks });
    expect(world.session.context).toEqual(["know a", "know b"]);
  });

  test("UserPromptSubmit blocks or adds context", async () => {
    verifies("HOOK-6");
    const hooks = [
      on("UserPromptSubmit", ({ prompt }) =>
        prompt.includes("bad") ? { block: true, reason: "rude" } : { context: "be kind" },
      ),
      on("UserPromptSubmit", () => ({ block: false, context: "be brief" }), { id: "second" }),
    ];
    const world = await createWorld({ hooks });
    expect(await world.run.submitPrompt("good")).toEqual({ context: ["be kind", "be brief"] });
    expect(await world.run.submitPrompt("bad")).toMatchObject({ blocked: "rude" });
  });

  test("Stop asks to continue once, however often it is asked", async () => {
    verifies("HOOK-6");
    const told: boolean[] = [];
    const hooks = [
      on("Stop", ({ already_continued }) => {
        told.push(already_continued);
        return { continue: true, context: "run the tests" };
      }),
    ];
    const world = await createWorld({ hooks });
    expect(await world.run.stopping()).toEqual({ continue: true, context: ["run the tests"] });
    expect(await world.run.stopping()).toMatchObject({ continue: false });
    expect(await world.run.stopping()).toMatchObject({ continue: false });
    expect(told).toEqual([false, true, true]);
    const other = await world.session.startRun();
    expect(await other.stopping()).toMatchObject({ continue: true });
  });

  const failures: [string, () => unknown][] = [
    ["throws", () => failing()],
    ["rejects", async () => Promise.reject(new Error("crashed"))],
    ["hangs", async () => new Promise(() => {})],
    ["answers nonsense", () => ({ block: "yes", continue: 1, context: {} })],
  ];
  test.each(failures)("an observer that %s is a warning and nothing else", async (_, run) => {
    verifies("HOOK-4");
    const { kernel, journal, clock } = await createWorld();
    const events = ["SessionStart", "UserPromptSubmit", "Stop"] as const;
    const finishing = (async () => {
      const session = await kernel.openSession({
        journal,
        hooks: events.map((event) => on(event, run)),
      });
      const started = await session.startRun();
      return {
        context: session.context,
        prompt: await started.submitPrompt("x"),
        stop: await started.stopping(),
      };
    })();
    await clock.advance(600_000);
    expect(await finishing).toEqual({
      context: [],
      prompt: { context: [] },
      stop: { continue: false, context: [] },
    });
    const failed = journal.facts.filter((fact) => fact.type === "hook.failed");
    expect(failed.map(({ data, level }) => [data.event, level])).toEqual(
      events.map((event) => [event, "warn"]),
    );
  });
});

describe("elicitation", () => {
  const request = {
    mode: "form",
    message: "which one?",
    requested_schema: { type: "object", properties: { which: { type: "string" } } },
  } as const;
  const asking: AnyTool = reader("notes.ask", 0, {
    handler: async (_, context) => context.elicit(request),
  });

  async function elicited(options: WorldOptions): Promise<{ answer: unknown; world: World }> {
    const world = await createWorld({ tools: [asking], ...options });
    const [result] = await world.execute({ id: "c1", name: "notes.ask", arguments: {} });
    return { answer: result?.data, world };
  }
  const person = (answer: unknown) => () => answer as ElicitationAnswer;
  const fromPerson = { action: "accept", content: { which: "person" } } as const;

  test.each<[string, HookAnswers["Elicitation"], unknown]>([
    [
      "answer",
      { action: "accept", content: { which: "hook" } },
      { action: "accept", content: { which: "hook" } },
    ],
    ["decline", { action: "decline" }, { action: "decline" }],
    ["cancel", { action: "cancel" }, { action: "cancel" }],
    ["pass, so that the person is asked", { action: "pass" }, fromPerson],
    ["say nothing, which is to pass", {}, fromPerson],
  ])("a hook may %s", async (_, said, expected) => {
    verifies("HOOK-6");
    let asked = 0;
    const elicit = () => {
      asked += 1;
      return fromPerson;
    };
    const { answer, world } = await elicited({ hooks: [on("Elicitation", () => said)], elicit });
    expect(answer).toEqual(expected);
    expect(asked).toBe(expected === fromPerson ? 1 : 0);
    expect(world.facts("mcp.server.elicitation")).toMatchObject([
      {
        tool_call_id: "c1",
        data: { message: "which one?", action: (expected as ElicitationAnswer).action },
      },
    ]);
  });

  test("the first hook with an answer counts, and only hooks for this tool", async () => {
    verifies("HOOK-6");
    const hooks = [
      on("Elicitation", () => ({ action: "cancel" }), { id: "other", tool: "code.*" }),
      on("Elicitation", () => ({ action: "pass" }), { id: "a" }),
      on("Elicitation", () => ({ action: "accept", content: { which: "b" } }), { id: "b" }),
      on("Elicitation", () => ({ action: "decline" }), { id: "c" }),
    ];
    const { answer } = await elicited({ hooks });
    expect(answer).toEqual({ action: "accept", content: { which: "b" } });
  });

  test("without anyone to ask: declined", async () => {
    verifies("HOOK-6");
    expect((await elicited({})).answer).toEqual({ action: "decline" });
  });

  test.each<[string, WorldOptions]>([
    [
      "a hook that throws",
      { hooks: [on("Elicitation", () => failing())], elicit: person(fromPerson) },
    ],
    [
      "a hook that hangs",
      { hooks: [on("Elicitation", async () => new Promise(() => {}))], elicit: person(fromPerson) },
    ],
    [
      "a hook that answers nonsense",
      { hooks: [on("Elicitation", () => ({ action: "yes" }))], elicit: person(fromPerson) },
    ],
  ])("%s is a warning, and the user is asked", async (_, options) => {
    verifies("HOOK-4", "HOOK-6");
    const { answer, world } = await elicited(options);
    expect(answer).toEqual(fromPerson);
    expect(world.facts("hook.failed")).toHaveLength(1);
  });

  test.each<[string, () => unknown]>([
    ["throws", () => failing()],
    ["answers nonsense", () => "yes"],
    ["answers nothing", () => undefined],
  ])("an approval callback that %s is a no", async (_, elicit) => {
    verifies("HOOK-6");
    expect((await elicited({ elicit: elicit as () => ElicitationAnswer })).answer).toEqual({
      action: "decline",
    });
  });

  test("ElicitationResult sees the answer and changes nothing, not even when it fails", async () => {
    verifies("HOOK-6", "HOOK-4");
    const seen: ElicitationAnswer[] = [];
    const hooks = [
      on("ElicitationResult", ({ answer }) => {
        seen.push({ ...answer });
        answer.action = "decline";
      }),
      on("ElicitationResult", () => ({ action: "decline" }), { id: "b" }),
      on("ElicitationResult", () => failing(), { id: "c" }),
    ];
    const { answer, world } = await elicited({ hooks, elicit: person(fromPerson) });
    expect(seen).toEqual([fromPerson]);
    expect(answer).toEqual(fromPerson);
    expect(world.facts("hook.failed").map(({ data }) => data.hook)).toEqual(["b", "c"]);
  });

  test("the user may take longer than the tool's time", async () => {
    verifies("HOOK-6", "PIPE-6");
    const world = await createWorld({
      tools: [{ ...asking, timeout_ms: 1000 }],
      elicit: async () => {
        await pause(world.clock, 3_600_000);
        return fromPerson;
      },
    });
    const executing = world.run.execute([{ name: "notes.ask", arguments: {} }]);
    await world.clock.advance(3_600_000);
    const [result] = await executing;
    expect(result).toMatchObject({ status: "succeeded", metadata: { duration_ms: 0 } });
  });
});

function failing(): never {
  throw new Error("crashed");
}
