import {
  createHeldClock,
  defineHook,
  defineTool,
  NoOneToAsk,
  toolResult,
  type ContentBlock,
  type Fact,
  type ToolContext,
} from "@soong/core";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { verifies } from "#laws";
import {
  drive,
  heldTool,
  pushAll,
  setStage,
  type Stage,
  type StageOptions,
} from "../../../../test/core/drive.ts";
import { personWho, slowPerson } from "../../../../test/core/people.ts";
import { pre } from "../../../../test/core/pre-hook.ts";
import { factsOf, recovered } from "../../../../test/core/recovered.ts";
import { planByInput } from "../../../../test/core/watched.ts";
import { allowAll, reader, START, writer } from "../../../../test/core/world.ts";
import type { CallStory, Lane } from "../wire/session-records.ts";
import { callStory } from "./call-story.ts";
import { createTimeline } from "./timeline.ts";

function storyOf(facts: readonly Fact[], id: string, stage?: Stage): CallStory {
  const timeline = createTimeline();
  timeline.take(facts);
  const lane = timeline.lane(id) as Lane;
  const node = stage?.journal.nodes.find(
    (one) => one.kind === "tool_result" && one.tool_call_id === id,
  );
  return callStory({
    session_id: "s",
    lane,
    facts: facts.filter(({ tool_call_id }) => tool_call_id === id),
    node,
    ...timeline.childrenOf(lane),
  });
}

/** One call, "1", to its end. */
async function called(
  name: string,
  input: object | string,
  options: StageOptions,
): Promise<CallStory> {
  const stage = await setStage(options);
  const turn = stage.run.openTurn();
  turn.push({ id: "1", name, arguments: input });
  turn.end();
  await drive(stage.clock, turn.settled());
  return storyOf(stage.journal.facts, "1", stage);
}

const SAME = { state: "same" };
const NEVER = { state: "never" };

describe("the four inputs of a call", () => {
  it("each say what changed and who changed it", async () => {
    verifies("SCHEMA-6", "UI-1");
    const sent = '{ "path":"/A",  "deep": {"force":true} }';
    const { inputs } = await called("a.tool", sent, {
      tools: [
        writer("a.tool", 0, {
          normalise: (input) => ({ ...(input as object), path: "/a" }),
        }),
      ],
      hooks: [
        pre("calm", ({ path }) => ({
          input: { path: path ?? "", deep: { force: false }, "a/b": 1 },
        })),
      ],
      policy: allowAll,
    });
    expect(inputs.model_input, "verbatim").toBe(sent);
    expect(inputs.observable_input).toEqual({
      state: "changed",
      value: { path: "/a", deep: { force: true } },
      changes: [{ path: "/path", from: "/A", to: "/a", by: "normalise" }],
    });
    expect(inputs.permission_input).toEqual({
      state: "changed",
      value: { path: "/a", deep: { force: false }, "a/b": 1 },
      changes: [
        { path: "/deep/force", from: true, to: false, by: "calm" },
        { path: "/a~1b", to: 1, by: "calm" },
      ],
    });
    expect(inputs.call_input).toEqual(SAME);
  });

  it("are the same where nothing changed them", async () => {
    verifies("SCHEMA-6");
    const { inputs } = await called("a.tool", { path: "x" }, { tools: [reader("a.tool")] });
    expect(inputs).toEqual({
      model_input: '{"path":"x"}',
      observable_input: SAME,
      permission_input: SAME,
      call_input: SAME,
    });
  });

  it("name each who changed a part of them", async () => {
    verifies("SCHEMA-6");
    const { inputs } = await called(
      "a.tool",
      { a: 1, b: 1, c: [1] },
      {
        tools: [reader("a.tool")],
        hooks: [
          pre("one", (input) => ({ input: { ...input, a: 2 } })),
          pre("two", (input) => ({ input: { ...input, b: 2, c: [1, 2] } })),
        ],
      },
    );
    expect(inputs.permission_input).toMatchObject({
      changes: [
        { path: "/a", from: 1, to: 2, by: "one" },
        { path: "/b", from: 1, to: 2, by: "two" },
        { path: "/c/1", to: 2, by: "two" },
      ],
    });
  });

  it("are as far as the call got", async () => {
    verifies("SCHEMA-6");
    const tools = [writer("a.tool", 0, { input_schema: { type: "object", required: ["x"] } })];
    const bad = await called("a.tool", "{ nonsense", { tools });
    expect(bad.inputs).toEqual({
      model_input: "{ nonsense",
      observable_input: NEVER,
      permission_input: NEVER,
      call_input: NEVER,
    });
    const denied = await called(
      "a.tool",
      { x: 1 },
      { tools, hooks: [pre("no", { decision: "deny" })] },
    );
    expect(denied.inputs).toMatchObject({ observable_input: SAME, permission_input: NEVER });
    const unasked = await called("a.tool", { x: 1 }, { tools });
    expect(unasked.inputs).toMatchObject({ permission_input: SAME, call_input: NEVER });
  });

  it("show what an author's schema makes for the handler alone where it makes it", async () => {
    verifies("SCHEMA-6");
    const defaults = defineTool({
      name: "a.defaults",
      description: "Has defaults",
      permission: "readonly",
      input_schema: z.object({ n: z.number().default(5) }),
      handler: () => "ok",
    });
    const shouts = defineTool({
      name: "a.shouts",
      description: "Makes a list of a text",
      permission: "readonly",
      input_schema: z.object({ text: z.string().transform((text) => text.split(" ")) }),
      handler: () => "ok",
    });
    const given = await called("a.defaults", {}, { tools: [defaults] });
    expect(given.inputs).toMatchObject({
      observable_input: { changes: [{ path: "/n", to: 5, by: "schema" }] },
      permission_input: SAME,
      call_input: SAME,
    });
    const transformed = await called("a.shouts", { text: "a b" }, { tools: [shouts] });
    expect(transformed.inputs).toMatchObject({
      observable_input: SAME,
      permission_input: SAME,
      call_input: {
        state: "changed",
        value: { text: ["a", "b"] },
        changes: [{ path: "/text", from: "a b", to: ["a", "b"], by: "schema" }],
      },
    });
  });

  it("that are long or secret say what is not shown of them", async () => {
    const stage = {
      tools: [
        reader("a.tool", 0, { normalise: (input: unknown) => ({ ...(input as object), n: 1 }) }),
      ],
    };
    const long = await called("a.tool", { text: "y".repeat(100_000) }, stage);
    expect(long.inputs.model_input.length).toBeLessThan(40_000);
    expect(long.inputs.observable_input).toMatchObject({
      state: "changed",
      changes: [{ path: "/n", by: "normalise" }],
    });
    expect(long.notes.join("\n")).toMatch(/have 100011 characters/);
    expect(long.artifacts.map(({ name }) => name)).toEqual(["arguments.json", "a.tool.json"]);
    const properties = { key: { type: "string", "x-sensitive": true } };
    const sensitive = await called("a.tool", '{"key":  "hunter2"}', {
      tools: [reader("a.tool", 0, { input_schema: { type: "object", properties } as never })],
    });
    expect(JSON.stringify(sensitive.inputs)).not.toContain("hunter2");
    expect(sensitive.inputs).toMatchObject({ observable_input: SAME, call_input: SAME });
    expect(sensitive.notes.join("\n")).toContain("have secrets");
  });
});

describe("the decisions about a call", () => {
  const write = {
    tools: [writer("a.write", 0, { targets: planByInput() })],
    roots: { project: "/project", write: ["/project"] },
  };

  it("have the policy's chain with where each rule is written, and the user's answer with how long it took", async () => {
    verifies("UI-1");
    const person = slowPerson();
    const rule = {
      tool: "a.*",
      decision: "ask" as const,
      reason: "careful",
      origin: { file: "/p/soong.json", line: 7 },
    };
    const stage = await setStage({ ...write, ask: person.ask, policy: { rules: [rule] } });
    const settled = pushAll(stage, ["a.write", { path: "/project/a" }]).settled();
    await stage.clock.advance(2500);
    const open = storyOf(stage.journal.facts, "1").decisions;
    expect(open).toMatchObject([
      { by: "policy", decision: "ask", reason: "careful", at: START },
      { by: "user", decision: "asked", request: { tool_name: "a.write" } },
    ]);
    expect(open[0]?.chain?.find(({ decisive }) => decisive)).toMatchObject({
      layer: "rules",
      verdict: "ask",
      origin: { file: "/p/soong.json", line: 7 },
    });
    person.answer("1", { decision: "allow_for_session", answered_by: "ann", reason: "fine" });
    await drive(stage.clock, settled);
    const { decisions } = storyOf(stage.journal.facts, "1");
    const [resolved] = stage.facts("permission.resolved");
    const backwards = stage.journal.facts.map((fact) => ({
      ...fact,
      time: new Date(START - fact.seq).toISOString(),
    }));
    expect(storyOf(backwards, "1").decisions[1]?.waited_ms, "the clock was set back").toBe(0);
    expect(decisions).toMatchObject([
      { by: "policy", decision: "ask" },
      {
        by: "user",
        decision: "allow_for_session",
        answered_by: "ann",
        reason: "fine",
        waited_ms: 2500,
        seq: resolved?.seq,
        request: { arguments: { path: "/project/a" } },
      },
      { by: "grant", decision: "granted", answered_by: "ann" },
    ]);
    await drive(
      stage.clock,
      stage.run.execute([{ id: "again", name: "a.write", arguments: { path: "/project/a" } }]),
    );
    expect(storyOf(stage.journal.facts, "again").decisions).toMatchObject([
      { by: "grant", decision: "allow", grant_id: decisions[2]?.grant_id },
    ]);
  });

  it("say when no one answered, why, and when no one was left to ask", async () => {
    const input = { path: "/project/a" };
    const alone = await called("a.write", input, {
      ...write,
      ask: personWho(() => {
        throw new NoOneToAsk("the window is closed");
      }).ask,
    });
    expect(alone.decisions).toMatchObject([
      { by: "policy", decision: "ask" },
      { by: "no_one", decision: "deny", reason: "the window is closed", waited_ms: 0 },
    ]);
    const stage = await setStage({ ...write, ask: slowPerson().ask });
    const settled = pushAll(stage, ["a.write", input]).settled();
    await stage.clock.advance(10);
    await stage.run.abort("enough");
    await drive(stage.clock, settled);
    const { decisions, result } = storyOf(stage.journal.facts, "1");
    expect(decisions[1]).toMatchObject({ by: "no_one", decision: "unanswered" });
    expect(result?.status).toBe("aborted");
  });

  it("name the hook that refused, or that requires approval", async () => {
    const hooks = [
      pre("first", undefined as never),
      pre("strict", { decision: "deny", reason: "not on Fridays" }),
    ];
    const denied = await called("a.write", { path: "/project/a" }, { ...write, hooks });
    expect(denied.decisions).toMatchObject([
      { by: "hook", decision: "deny", answered_by: "strict", reason: "not on Fridays" },
    ]);
    expect(denied.hooks).toMatchObject([
      { hook: "first", event: "PreToolUse", outcome: "completed", detail: "pass" },
      { hook: "strict", event: "PreToolUse", outcome: "denied", detail: "not on Fridays" },
    ]);
    const asks = [pre("unsure", { decision: "ask", reason: "look at this" })];
    const asked = await called(
      "a.write",
      { path: "/project/a" },
      {
        ...write,
        hooks: asks,
        policy: allowAll,
        ask: personWho("allow_once").ask,
      },
    );
    expect(asked.decisions).toMatchObject([
      { by: "hook", decision: "ask", reason: "look at this" },
      { by: "user", decision: "allow_once" },
    ]);
  });
});

describe("a call's story", () => {
  it("has its hooks with how long they took, and what failed in them", async () => {
    verifies("UI-1");
    const stage = await setStage({
      tools: [reader("a.read")],
      hooks: [
        defineHook({
          id: "slow",
          event: "PreToolUse",
          run: () =>
            new Promise((resolve) => {
              clockOf().after(300, () => resolve(undefined));
            }),
        }),
        defineHook({
          id: "broken",
          event: "PostToolUse",
          run: () => Promise.reject(new Error("no")),
        }),
      ],
    });
    const clockOf = () => stage.clock;
    const settled = pushAll(stage, "a.read").settled();
    await stage.clock.advance(100);
    expect(storyOf(stage.journal.facts, "1").hooks).toEqual([
      { hook: "slow", event: "PreToolUse", outcome: "running", started_at: START },
    ]);
    await stage.clock.advance(200);
    await drive(stage.clock, settled);
    expect(storyOf(stage.journal.facts, "1").hooks).toMatchObject([
      { hook: "slow", outcome: "completed", duration_ms: 300 },
      { hook: "broken", event: "PostToolUse", outcome: "failed", detail: "threw: no" },
    ]);
  });

  it("shows the plan as the user saw it; without a question, what the record has", async () => {
    verifies("UI-1");
    const diff = "--- a\n+++ b\n";
    const planned = writer("a.edit", 0, {
      prepare: () => ({ resources: [], preview: { kind: "diff", path: "/project/a", diff } }),
    });
    const asked = await called(
      "a.edit",
      {},
      { tools: [planned], ask: personWho("allow_once").ask },
    );
    expect(asked.preview).toEqual({ kind: "diff", path: "/project/a", diff });
    expect(asked.digest).toMatch(/^sha256:/);
    expect(asked.effects).toMatchObject({ read_only: false });
    const roots = { project: "/project", write: ["/project"] };
    const command = await called(
      "a.run",
      { argv: ["ls", "-l"] },
      {
        tools: [writer("a.run", 0, { prepare: planByInput() })],
        policy: allowAll,
        roots,
      },
    );
    expect(command.preview).toEqual({ kind: "command", argv: ["ls", "-l"], cwd: "/project" });
    const edited = await called(
      "a.edit",
      {},
      {
        tools: [
          writer("a.edit", 0, {
            handler: () => toolResult({ ok: true, data: { path: "/project/a", diff } }),
          }),
        ],
        policy: allowAll,
      },
    );
    expect(edited.preview).toEqual({ kind: "diff", path: "/project/a", diff });
    expect(await called("a.read", {}, { tools: [reader("a.read")] })).not.toHaveProperty("preview");
  });

  it("has its progress, its result as it is and as the model reads it, and what was cut or hidden", async () => {
    verifies("UI-1");
    const story = await called(
      "a.long",
      {},
      {
        secrets: [{ name: "KEY", value: "s3cr3t-value-0001" }],
        tools: [
          reader("a.long", 0, {
            async handler(_input: unknown, context: ToolContext) {
              context.progress({ message: "half\nway", progress: 1, total: 2 });
              context.progress({ progress: 2 });
              await context.elicit({ mode: "url", message: "look", url: "https://example.org" });
              return `s3cr3t-value-0001 ${"x".repeat(100_000)}`;
            },
          }),
        ],
        hooks: [
          defineHook({
            id: "short",
            event: "PostToolUse",
            run: () => ({ replace: "in short: x" }),
          }),
        ],
      },
    );
    expect(story.progress).toEqual([
      { at: START, text: "1 of 2: half way" },
      { at: START, text: "2" },
    ]);
    expect(story.result).toMatchObject({ status: "succeeded", is_error: false });
    expect(story.model_view).toEqual([
      { type: "text", text: "in short: x" },
    ] satisfies ContentBlock[]);
    expect(story.artifacts).toHaveLength(1);
    const { artifact_id } = story.artifacts[0] ?? {};
    expect(story.notes).toEqual([
      "A question (“look”) was answered with decline.",
      expect.stringMatching(
        new RegExp(`^Output cut from \\d+ to \\d+ characters; all of it is in ${artifact_id}\\.$`),
      ) as string,
      "1 secret hidden.",
    ]);
  });

  it("reports a call that failed, was thrown away, came too late or was cut off by a crash", async () => {
    const failed = await called(
      "a.fails",
      {},
      {
        tools: [
          writer("a.fails", 0, { handler: () => Promise.reject(new Error("the disk is full")) }),
        ],
        policy: allowAll,
      },
    );
    expect(failed.result).toMatchObject({
      status: "failed",
      error: { message: "the disk is full" },
    });
    const held = heldTool("a.held");
    const stage = await setStage({ tools: [held.tool, reader("a.quick")] });
    const turn = stage.run.openTurn();
    turn.push({ id: "quick", name: "a.quick", arguments: {} });
    turn.push({ id: "held", name: "a.held", arguments: {} });
    await stage.clock.advance(10);
    await drive(stage.clock, turn.discard("the stream broke"));
    held.calls[0]?.finish("late");
    await stage.clock.advance(10);
    expect(storyOf(stage.journal.facts, "quick").notes).toEqual([
      "It had ended (succeeded) when its attempt was discarded.",
    ]);
    expect(storyOf(stage.journal.facts, "held").notes.join("\n")).toContain(
      "returned after the call had ended",
    );
    pushAll(stage, "a.held");
    await stage.clock.advance(10);
    const again = storyOf(factsOf(recovered(stage.journal.entries)), "1");
    expect(again.result?.status).toBe("unknown");
    expect(again.notes.join("\n")).toContain("the runtime had been stopped");
  });

  it("says how its command ran, and what the sandbox refused", async () => {
    verifies("CMD-6");
    const limits = { backend: "bubblewrap", roots: ["/p"], masked: ["/a", "/b"] };
    const story = await called(
      "a.run",
      {},
      {
        policy: allowAll,
        tools: [
          defineTool({
            name: "a.run",
            description: "Runs.",
            input_schema: { type: "object" },
            handler(_input, context) {
              context.sandboxApplied({ ...limits, network: { hosts: ["a.org"] } });
              context.sandboxViolated({ kind: "host", detail: "b.org:443", certain: true });
              context.sandboxViolated({ kind: "write", detail: "a write", certain: false });
              context.sandboxApplied({ missing: "there is none" });
              return "ran";
            },
          }),
        ],
      },
    );
    expect(story.notes).toEqual([
      "In a sandbox (bubblewrap): writes to /p; 2 paths masked; network a.org.",
      "The sandbox refused b.org:443.",
      "The sandbox may have refused a write.",
      "Without a sandbox: there is none.",
    ]);
  });

  it("has the last of a long progress, and says what is omitted", async () => {
    const story = await called(
      "a.long",
      {},
      {
        tools: [
          reader("a.long", 0, {
            async handler(_input: unknown, context: ToolContext) {
              for (let i = 0; i < 250; i += 1) {
                context.progress({ progress: i });
                await new Promise<void>((resolve) => {
                  clock.after(300, resolve);
                });
              }
            },
          }),
        ],
        clock,
      },
    );
    expect(story.progress).toHaveLength(200);
    expect(story.progress.at(-1)?.text).toBe("249");
    expect(story.notes).toEqual(["Of its progress, the first 50 lines are omitted."]);
  });

  const clock = createHeldClock(START);

  it("has its own facts only, and the name the model used", async () => {
    const stage = await setStage({ tools: [reader("a.read")] });
    await drive(stage.clock, stage.run.execute([{ id: "1", name: "a__read", arguments: {} }]));
    const other = await stage.session.startRun();
    await drive(stage.clock, other.execute([{ id: "1", name: "a.read", arguments: {} }]));
    const about = { path: "/project/a", of_run: stage.run.identity.run_id };
    stage.session.recorder.record("change.undone", about, {
      tool_call_id: "1",
      tool_name: "a.read",
    });
    const timeline = createTimeline();
    timeline.take(stage.journal.facts);
    const lane = timeline.lane("1", stage.run.identity.run_id) as Lane;
    const story = callStory({ session_id: "s", lane, facts: stage.journal.facts });
    expect(story.native_name).toBe("a__read");
    expect(story.notes).toEqual(["Its change was undone: /project/a is as it was before."]);
    const own = stage.journal.facts.filter(
      ({ tool_call_id, run_id }) =>
        tool_call_id === "1" && (run_id === lane.run_id || run_id === undefined),
    );
    expect(story.facts).toEqual(own.map(({ seq }) => seq));
  });
});
