// Hooks before a call (HOOK-1, HOOK-2): which ones fire, and what they may answer.

import { defineHook, type AnyHook, type Hook, type HookEvent, type JsonObject } from "@soong/core";
import { verifies } from "#laws";
import { describe, expect, test } from "vitest";
import { callOnce } from "./call-once.ts";
import { personWho } from "./people.ts";
import { pre } from "./pre-hook.ts";
import { planByInput, watchedReader, watchedWriter } from "./watched.ts";
import { allowAll, createWorld, reader, takeTimeBy, textOf, writer } from "./world.ts";

const ROOTS = { project: "/project", write: [] };

const edit = (input: JsonObject = { text: "a" }) => ({
  id: "c1",
  name: "notes.edit",
  arguments: input,
});

describe("events", () => {
  test("all nine fire where they should, with a payload of their own, and are on record", async () => {
    verifies("HOOK-1");
    const seen = new Map<HookEvent, JsonObject>();
    const watch = (event: HookEvent): AnyHook =>
      defineHook({
        id: `on ${event}`,
        event,
        run: (payload) => {
          seen.set(event, payload as unknown as JsonObject);
          return {};
        },
      });
    const events: HookEvent[] = [
      "SessionStart",
      "UserPromptSubmit",
      "PreToolUse",
      "PermissionRequest",
      "Elicitation",
      "ElicitationResult",
      "PostToolUse",
      "PostToolUseFailure",
      "Stop",
    ];
    const asking = writer("notes.edit", 0, {
      handler: async (_, context) =>
        context.elicit({ mode: "form", message: "which?", requested_schema: {} }),
    });
    const failing = reader("notes.fail", 0, { handler: () => Promise.reject(new Error("no")) });
    const world = await createWorld({
      tools: [asking, failing],
      hooks: events.map(watch),
      ask: personWho("allow_once").ask,
      elicit: () => ({ action: "accept", content: { which: "a" } }),
    });
    await world.run.submitPrompt("do it");
    await world.execute(edit(), { id: "c2", name: "notes.fail", arguments: {} });
    await world.run.stopping();

    expect(new Set(seen.keys())).toEqual(new Set(events));
    for (const event of events) {
      const facts = world
        .facts("hook.started", "hook.completed")
        .filter(({ data }) => data.event === event);
      expect(facts.map(({ type }) => type).slice(0, 2), event).toEqual([
        "hook.started",
        "hook.completed",
      ]);
    }
    const { session_id, run_id, agent_id } = world.run.identity;
    const use = { session_id, run_id, agent_id, tool_call_id: "c1", tool_name: "notes.edit" };
    expect(seen.get("SessionStart")).toEqual({ session_id });
    expect(seen.get("UserPromptSubmit")).toEqual({ session_id, run_id, prompt: "do it" });
    expect(seen.get("PermissionRequest")).toMatchObject({ request: { tool_call_id: "c1" } });
    expect(seen.get("PostToolUse")).toMatchObject({ ...use, result: { status: "succeeded" } });
    expect(seen.get("PostToolUseFailure")).toMatchObject({
      tool_call_id: "c2",
      result: { status: "failed" },
    });
    expect(seen.get("Elicitation")).toMatchObject({
      tool_call_id: "c1",
      request: { message: "which?" },
    });
    expect(seen.get("ElicitationResult")).toMatchObject({
      answer: { action: "accept", content: { which: "a" } },
    });
    expect(seen.get("Stop")).toEqual({ session_id, run_id, already_continued: false });
  });

  test("facts of a hook carry its call, outcome and duration", async () => {
    verifies("HOOK-1");
    const { world } = await callOnce(
      watchedReader("notes.read"),
      {},
      { hooks: [pre("a", { decision: "pass" })] },
    );
    expect(world.facts("hook.completed")).toMatchObject([
      {
        tool_call_id: "c1",
        tool_name: "notes.read",
        data: { hook: "a", outcome: "pass", duration_ms: 0 },
      },
    ]);
  });

  test.each<[string, Partial<Hook<"PreToolUse">>, boolean]>([
    ["its exact name", { tool: "notes.edit" }, true],
    ["a pattern", { tool: "notes.*" }, true],
    ["another name", { tool: "notes.ed" }, false],
    ["another namespace", { tool: "code.*" }, false],
    ["a tag it has", { tags: ["filesystem"] }, true],
    ["tags of which it has one", { tags: ["filesystem", "network"] }, false],
    ["a path it touches", { path: "/project/**/*.md" }, true],
    ["a path it does not touch", { path: "/project/*.txt" }, false],
    ["name and path together", { tool: "notes.edit", path: "/other/**" }, false],
    ["nothing in particular", {}, true],
  ])("a hook for %s", async (_, about, fires) => {
    verifies("HOOK-1");
    const tool = watchedWriter("notes.edit", { tags: ["filesystem"], prepare: planByInput() });
    const deny = pre("deny", { decision: "deny" }, about);
    const got = await callOnce(tool, { path: "/project/a/b.md" }, { hooks: [deny] });
    expect(got.status).toBe(fires ? "denied" : "succeeded");
  });

  test("a hook for a canonical name fires for a call by alias, and receives the name", async () => {
    verifies("HOOK-1");
    const { tool } = watchedReader("notes.read", { aliases: ["read_note"] });
    let told = "";
    const hook = defineHook({
      id: "a",
      event: "PreToolUse",
      tool: "notes.read",
      run: ({ tool_name }) => {
        told = tool_name;
      },
    });
    const world = await createWorld({ tools: [tool], hooks: [hook] });
    await world.execute({ name: "read_note", arguments: {} });
    expect(told).toBe("notes.read");
  });

  test("a hook of the changed target fires, too", async () => {
    verifies("HOOK-1", "PIPE-2");
    const tool = watchedWriter("notes.edit", { prepare: planByInput() });
    const hooks = [
      pre("only secrets", { decision: "deny" }, { path: "/project/secret/**" }),
      pre("move", ({ path }) =>
        path === "/project/a" ? { input: { path: "/project/secret/a" } } : {},
      ),
    ];
    const got = await callOnce(tool, { path: "/project/a" }, { hooks, policy: allowAll });
    expect(got.status).toBe("denied");
    expect(tool.inputs).toEqual([]);
  });
});

describe("what it may answer", () => {
  test("it runs before permission, and nothing it says is needed for the call to be judged", async () => {
    verifies("HOOK-2");
    const { world } = await callOnce(watchedWriter("notes.edit"), {}, { hooks: [pre("a", {})] });
    const story = world.storyOf("c1");
    expect(story.indexOf("hook.completed")).toBeLessThan(story.indexOf("permission.evaluated"));
    expect(story.indexOf("permission.evaluated")).toBeLessThan(story.indexOf("tool.started"));
  });

  test("ask: the user decides about a call that policy allows, and sees who asked", async () => {
    verifies("HOOK-2");
    const person = personWho("deny");
    const hooks = [pre("careful", { decision: "ask", reason: "odd hour" })];
    const got = await callOnce(watchedReader("notes.read"), {}, { hooks, ask: person.ask });
    expect(got.status).toBe("rejected");
    expect(person.requests[0]).toMatchObject({ reason: "odd hour" });
    expect(JSON.stringify(person.requests[0]?.hook_results)).toContain("careful");
  });

  test("pass and nothing are the same: policy decides", async () => {
    verifies("HOOK-2");
    for (const answer of [{ decision: "pass" } as const, {}]) {
      const hooks = [pre("a", answer)];
      expect(await callOnce(watchedReader("notes.read"), {}, { hooks })).toMatchObject({
        asked: 0,
        status: "succeeded",
      });
      expect(await callOnce(watchedWriter("notes.edit"), {}, { hooks })).toMatchObject({
        asked: 1,
      });
    }
  });

  test("context: the model reads it beside the result, also when the call is denied", async () => {
    verifies("HOOK-2");
    for (const decision of ["pass", "deny"] as const) {
      const hooks = [pre("tips", { decision, context: "mind the gap" })];
      const { world } = await callOnce(watchedReader("notes.read"), {}, { hooks });
      const [result, context] = world.journal.nodes;
      expect(result).toMatchObject({ kind: "tool_result", tool_call_id: "c1" });
      expect(context).toMatchObject({
        kind: "hook_context",
        parent_id: result?.node_id,
        content: [{ type: "text", text: "mind the gap" }],
      });
    }
  });

  test("stop: the run is to end, this call and what waits do not happen, what runs may finish", async () => {
    verifies("HOOK-2");
    const ran = watchedReader("notes.peek");
    const hooks = [pre("enough", { stop: "over budget" }, { tool: "notes.peek" })];
    const world = await createWorld({
      tools: [ran.tool, reader("notes.read", 50), writer("notes.edit")],
      hooks,
      policy: allowAll,
    });
    takeTimeBy(world.clock);
    const turn = world.run.openTurn();
    turn.push({ id: "r", name: "notes.read", arguments: {} });
    turn.push({ id: "x", name: "notes.peek", arguments: {} });
    turn.push(edit());
    turn.end();
    await world.clock.advance(100);
    const results = await turn.settled();
    expect(results.map(({ status }) => status)).toEqual(["succeeded", "denied", "skipped"]);
    expect(turn.stopped).toEqual({ reason: "over budget", hook: "enough" });
    expect(textOf(results[1])).toContain("over budget");
    expect(ran.inputs).toEqual([]);
  });

  test("it can lift neither a deny nor an ask of policy", async () => {
    verifies("HOOK-2");
    const pass = pre("pass", { decision: "pass", reason: "I know this one" });
    const tool = () => watchedWriter("notes.edit", { prepare: planByInput() });
    const policy = { rules: [{ path: "/project/a", decision: "deny" as const }] };
    const denied = await callOnce(
      tool(),
      { path: "/project/a" },
      { hooks: [pass], policy, roots: ROOTS },
    );
    expect(denied).toMatchObject({ status: "denied", code: "policy_denied", asked: 0 });
    const asked = await callOnce(
      tool(),
      { path: "/project/b" },
      { hooks: [pass], policy, roots: ROOTS },
    );
    expect(asked).toMatchObject({ asked: 1 });
  });

  test("there is no word for allow: it is bad output, and a write does not happen", async () => {
    verifies("HOOK-2", "HOOK-4");
    const tool = watchedWriter("notes.edit");
    const hooks = [pre("generous", { decision: "allow" } as never)];
    const got = await callOnce(tool, {}, { hooks });
    expect(got).toMatchObject({ status: "denied", asked: 0 });
    expect(tool.inputs).toEqual([]);
  });

  test("an ask remains even if a later hook passes and the input changes", async () => {
    verifies("HOOK-2");
    const hooks = [
      pre("careful", ({ n }) => (n === 0 ? { decision: "ask" } : { decision: "pass" })),
      pre("count", ({ n }) => (n === 0 ? { input: { n: 1 } } : { decision: "pass" })),
    ];
    const tool = watchedReader("notes.read");
    expect(await callOnce(tool, { n: 0 }, { hooks })).toMatchObject({
      asked: 1,
      status: "succeeded",
    });
    expect(tool.inputs).toEqual([{ n: 1 }]);
  });
});
