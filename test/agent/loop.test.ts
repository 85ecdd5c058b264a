// The loop from prompt to end (LOOP-1, 2, 4, PIPE-4, CTX-4): what is asked, what is executed, how it ends.

import { defineHook, defineTool, ToolFailure, type HeldClock } from "@soong/core";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import {
  allEvents,
  calls,
  done,
  failed,
  openStage,
  says,
  texts,
  writtenModel,
} from "./loop-stage.ts";
import { ALLOW_ALL, readTool, slowTool, writeTool } from "./loop-tools.ts";

test("a prompt is answered, and the facts say how", async () => {
  verifies("LOOP-1", "LOOP-4", "CTX-1");
  const stage = await openStage([[says("Good "), says("day."), done()]]);
  const end = await stage.ask("Hello");
  expect(end).toEqual({
    reason: "completed",
    answer: "Good day.",
    turns: 1,
    usage: {
      requests: 1,
      untold: 0,
      unpriced: 1,
      cost: null,
      input_tokens: 10,
      output_tokens: 5,
    },
  });
  expect(texts(stage.model.requests[0]?.messages ?? [])).toEqual(["user: Hello"]);
  expect(stage.story("run", "context", "routing", "model")).toEqual([
    "run.queued",
    "run.started",
    "context.resolved",
    "routing.decided",
    "model.started",
    "model.delta",
    "model.completed",
    "run.completed",
  ]);
  expect(stage.facts("run.completed")[0]?.data).toMatchObject({ reason: "completed", turns: 1 });
  const runFacts = stage.journal.facts.filter(({ run_seq }) => run_seq !== undefined);
  expect(runFacts.map(({ run_seq }) => run_seq)).toEqual(runFacts.map((_, i) => i + 1));
});

test("calls are executed and their results are read by the next request, in call order", async () => {
  verifies("LOOP-1", "LOOP-4", "PIPE-4");
  const clock = (): HeldClock => stage.clock;
  const stage = await openStage(
    [
      [says("Looking."), calls("a__slow", {}, "1"), calls("b__fast", {}, "2"), done("tool_use")],
      [says("Both are there."), done()],
    ],
    { tools: [slowTool(clock, "a.slow", 5000), readTool("b.fast", () => "fast")] },
  );
  const end = await stage.ask("Look");
  expect(end).toMatchObject({ reason: "completed", answer: "Both are there.", turns: 2 });
  expect(texts(stage.model.requests[1]?.messages ?? [])).toEqual([
    "user: Look",
    "assistant: Looking.<a__slow><b__fast>",
    "tool: a.slow took 5000 ms | fast",
  ]);
  const last = stage.journal.facts.findLast((fact) => fact.type === "tool.completed");
  const second = stage.facts("model.started")[1];
  expect(second?.seq).toBeGreaterThan(last?.seq ?? Infinity);
  // Records of their own: a node each, on one path.
  expect(stage.journal.nodes.map(({ kind }) => kind).toSorted()).toEqual([
    "message",
    "message",
    "message",
    "tool_result",
    "tool_result",
  ]);
});

test("a call starts while the model still streams, and its result waits for the stream's end", async () => {
  verifies("LOOP-1");
  const started: number[] = [];
  const stage = await openStage(
    [
      [calls("a__read", {}, "1"), { wait: 2000 }, says("and more"), done("tool_use")],
      [says("ok"), done()],
    ],
    { tools: [readTool("a.read", () => String(started.push(stage.clock.now())))] },
  );
  const begin = stage.clock.now();
  await stage.ask("go");
  expect(started).toEqual([begin]);
});

test("each user message and answer is committed with a fact of its own", async () => {
  verifies("LOOP-1", "STORE-1");
  const stage = await openStage(
    [
      [calls("a__read"), done("tool_use")],
      [says("ok"), done()],
    ],
    {
      tools: [readTool("a.read", () => "x")],
    },
  );
  await stage.ask("go");
  const withNodes = stage.journal.entries.filter(({ nodes }) => (nodes?.length ?? 0) > 0);
  expect(withNodes.map(({ facts }) => facts.at(-1)?.type)).toEqual([
    "context.resolved",
    "model.completed",
    "tool.completed",
    "model.completed",
  ]);
  const { nodes } = stage.journal;
  expect(nodes.map(({ parent_id }) => parent_id)).toEqual([
    undefined,
    ...nodes.slice(0, -1).map(({ node_id }) => node_id),
  ]);
});

test("a run ends at its most requests", async () => {
  verifies("LOOP-1", "LOOP-2");
  const again = [calls("a__read"), done("tool_use")];
  const stage = await openStage([again, again, again], {
    tools: [readTool("a.read", () => "x")],
    limits: { max_turns: 2 },
  });
  const end = await stage.ask("go");
  expect(end).toMatchObject({ reason: "max_turns", turns: 2, error: { code: "max_turns" } });
  expect(stage.facts("run.failed")[0]?.data).toMatchObject({ reason: "max_turns" });
  expect(stage.facts("tool.completed")).toHaveLength(2);
});

test("a run makes 128 requests by default", async () => {
  verifies("LOOP-2");
  const again = [calls("a__read"), done("tool_use")];
  const stage = await openStage(
    Array.from({ length: 129 }, () => again),
    {
      tools: [readTool("a.read", () => "x")],
    },
  );
  expect(await stage.ask("go")).toMatchObject({ reason: "max_turns", turns: 128 });
});

test("an answer that is cut off ends the run, and what it asked for is not done", async () => {
  verifies("LOOP-1");
  const written: string[] = [];
  const stage = await openStage([[says("I will"), calls("a__write"), done("max_tokens")]], {
    tools: [writeTool("a.write", written)],
    run: { policy: ALLOW_ALL },
  });
  const end = await stage.ask("go");
  expect(end).toMatchObject({ reason: "max_output_tokens", answer: "I will" });
  expect(written).toEqual([]);
  expect(stage.journal.nodes.map(({ kind }) => kind)).toEqual([
    "message",
    "message",
    "tool_result",
  ]);
});

test("a model that refuses, or fails for good, ends the run as failed with what it said", async () => {
  verifies("LOOP-1");
  const refusing = await openStage([[says("No."), done("refused")]]);
  expect(await refusing.ask("go")).toMatchObject({ reason: "failed", error: { code: "refused" } });
  const keyless = await openStage([[failed("authentication", { message: "Set the key." })]]);
  expect(await keyless.ask("go")).toMatchObject({
    reason: "failed",
    error: { code: "authentication", message: "Set the key." },
    turns: 1,
  });
  expect(keyless.model.requests).toHaveLength(1);
});

test("an empty answer completes, and the next prompt is sent without it", async () => {
  verifies("LOOP-1");
  const stage = await openStage([[done()], [says("hi"), done()]]);
  expect(await stage.ask("one")).toMatchObject({ reason: "completed", answer: "" });
  await stage.ask("two");
  expect(texts(stage.model.requests[1]?.messages ?? [])).toEqual(["user: one / two"]);
});

test("later prompts queue, learn that they do, and continue where the one before ended", async () => {
  verifies("LOOP-2");
  const stage = await openStage([
    [{ wait: 1000 }, says("first"), done()],
    [says("second"), done()],
  ]);
  const first = stage.conversation.send("one");
  const second = stage.conversation.send("two");
  await stage.clock.settle();
  expect(stage.model.requests).toHaveLength(1);
  expect((await stage.finish(second)).answer).toBe("second");
  expect((await first.end).answer).toBe("first");
  expect(texts(stage.model.requests[1]?.messages ?? [])).toEqual([
    "user: one",
    "assistant: first",
    "user: two",
  ]);
  expect((await allEvents(second))[0]).toEqual({ type: "queued", ahead: 1 });
  expect(stage.facts("run.queued").map(({ data }) => data.ahead)).toEqual([0, 1]);
});

test("two conversations of one session share the queue; a child of a run does not wait in it", async () => {
  verifies("LOOP-2");
  const { openConversation } = await import("../../packages/agent/src/loop/index.ts");
  const stage = await openStage([[{ wait: 60_000 }, says("late"), done()]]);
  const { clock, session } = stage;
  const other = writtenModel(clock, [[says("other"), done()]]);
  const child = writtenModel(clock, [[says("child"), done()]]);
  const beside = await openConversation({ session, models: [other], clock });
  const below = await openConversation({
    session,
    models: [child],
    clock,
    run: { parent: { run_id: "run_0", agent_id: "agent_0" } },
  });
  const root = stage.conversation.send("one");
  const queued = beside.send("two");
  const inner = below.send("three");
  await clock.settle();
  expect((await inner.end).answer).toBe("child");
  expect(other.requests).toHaveLength(0);
  await clock.advance(60_000);
  expect((await root.end).answer).toBe("late");
  expect((await stage.finish(queued)).answer).toBe("other");
});

test("the text describes, and the tools sent are the surface alone", async () => {
  verifies("CTX-4");
  const stage = await openStage([[says("ok"), done()]], {
    tools: [readTool("a.read", () => "x"), readTool("b.read", () => "y")],
    system: ["You can edit files and run commands."],
    run: { allowedTools: ["a.read"] },
    sessionOptions: {
      hooks: [
        defineHook({ id: "h", event: "SessionStart", run: () => ({ context: "From a hook." }) }),
      ],
    },
  });
  await stage.ask("go");
  const [request] = stage.model.requests;
  expect(request?.tools.map(({ name }) => name)).toEqual(["a__read"]);
  expect(request?.system).toEqual(["You can edit files and run commands.", "From a hook."]);
});

test("a call of a tool that is only mentioned is refused, and the model may continue", async () => {
  verifies("CTX-4");
  const stage = await openStage(
    [
      [calls("run_command"), done("tool_use")],
      [says("ok"), done()],
    ],
    {
      system: ["You can run commands."],
    },
  );
  expect(await stage.ask("go")).toMatchObject({ reason: "completed" });
  expect(stage.facts("tool.started")).toHaveLength(0);
  const [, , tool] = stage.model.requests[1]?.messages ?? [];
  expect(tool).toMatchObject({ role: "tool", results: [{ is_error: true, name: "run_command" }] });
});

test("a write that fails, and what came after it, are all reported to the model with what they said", async () => {
  verifies("LOOP-1", "PIPE-4", "CTX-3");
  const written: string[] = [];
  const broken = defineTool({
    name: "a.broken",
    description: "Fails",
    input_schema: { type: "object" },
    handler: () => {
      throw new ToolFailure({ code: "exit_1", message: "exited with 1" }, [
        { type: "text", text: "line 7: no such module" },
      ]);
    },
  });
  const stage = await openStage(
    [
      [
        calls("a__broken", {}, "1"),
        calls("a__write", {}, "2"),
        calls("a__write", '{"x": ', "3"),
        calls("no__such", {}, "4"),
        done("tool_use"),
      ],
      [says("ok"), done()],
    ],
    { tools: [broken, writeTool("a.write", written)], run: { policy: ALLOW_ALL } },
  );
  expect(await stage.ask("go")).toMatchObject({ reason: "completed" });
  expect(written).toEqual([]);
  const [, answer, tool] = stage.model.requests[1]?.messages ?? [];
  expect(answer).toMatchObject({
    calls: [{ arguments: "{}" }, { arguments: "{}" }, { arguments: '{"x": ' }, { arguments: "{}" }],
  });
  const results = tool?.role === "tool" ? tool.results : [];
  expect(results.map(({ tool_call_id, is_error }) => [tool_call_id, is_error])).toEqual([
    ["1", true],
    ["2", true],
    ["3", true],
    ["4", true],
  ]);
  expect(JSON.stringify(results[0])).toContain("line 7: no such module");
});

test("hooks block a prompt, add to it, and have a finished model continue once", async () => {
  verifies("LOOP-1", "HOOK-6");
  const hooks = [
    defineHook({
      id: "prompt",
      event: "UserPromptSubmit",
      run: ({ prompt }) =>
        prompt.includes("secret") ? { block: true, reason: "not that" } : { context: "Be brief." },
    }),
    defineHook({
      id: "stop",
      event: "Stop",
      run: () => ({ continue: true, context: "Check it." }),
    }),
  ];
  const stage = await openStage(
    [
      [says("one"), done()],
      [says("two"), done()],
    ],
    {
      sessionOptions: { hooks },
    },
  );
  expect(await stage.ask("the secret")).toMatchObject({
    reason: "failed",
    error: { code: "prompt_blocked", message: "The prompt was blocked by a hook: not that" },
    turns: 0,
  });
  expect(stage.journal.nodes).toEqual([]);
  expect(await stage.ask("work")).toMatchObject({ reason: "completed", answer: "two", turns: 2 });
  expect(texts(stage.model.requests[1]?.messages ?? [])).toEqual([
    "user: work / Be brief.",
    "assistant: one",
    "user: Check it.",
  ]);
});

test("a hook that stops a turn ends the run with its reason", async () => {
  verifies("LOOP-1");
  const stage = await openStage([[calls("a__read"), done("tool_use")]], {
    tools: [readTool("a.read", () => "x")],
    sessionOptions: {
      hooks: [defineHook({ id: "guard", event: "PreToolUse", run: () => ({ stop: "enough" }) })],
    },
  });
  expect(await stage.ask("go")).toMatchObject({
    reason: "aborted_tools",
    error: { code: "stopped_by_hook", message: "The hook guard ended the run: enough" },
  });
});

test("what a hook put in place of a result is what the model reads", async () => {
  verifies("LOOP-1", "HOOK-6");
  const stage = await openStage(
    [
      [calls("a__read"), done("tool_use")],
      [says("ok"), done()],
    ],
    {
      tools: [readTool("a.read", () => "original")],
      sessionOptions: {
        hooks: [
          defineHook({
            id: "post",
            event: "PostToolUse",
            run: () => ({ replace: "replaced", context: "noted" }),
          }),
        ],
      },
    },
  );
  await stage.ask("go");
  expect(texts(stage.model.requests[1]?.messages ?? []).slice(2)).toEqual([
    "tool: replaced",
    "user: noted",
  ]);
});

test("events can be read late, by several, and slow readers get merged text", async () => {
  verifies("LOOP-1", "EVENT-4");
  const stage = await openStage(
    [
      [says("a"), says("b"), calls("a__read", {}, "1"), done("tool_use")],
      [says("c"), done()],
    ],
    { tools: [readTool("a.read", () => "x")] },
  );
  const run = stage.conversation.send("go");
  await stage.finish(run);
  const told = (await allEvents(run)).filter(({ type }) => type !== "fact");
  expect(told.map(({ type }) => type)).toEqual([
    "started",
    "text_delta",
    "call",
    "result",
    "text_delta",
    "end",
  ]);
  expect(told[1]).toEqual({ type: "text_delta", text: "ab" });
  const facts = (await allEvents(run)).flatMap((event) =>
    event.type === "fact" ? [event.fact.type] : [],
  );
  expect(facts).toEqual(["tool.started"]);
});

test("a reader beside the stream gets each piece of text once", async () => {
  verifies("EVENT-4");
  const stage = await openStage([
    [says("a"), { wait: 10 }, says("b"), says("c"), { wait: 10 }, says("d"), done()],
  ]);
  const run = stage.conversation.send("go");
  const read = allEvents(run);
  await stage.finish(run);
  const pieces = (await read).flatMap((event) => (event.type === "text_delta" ? [event.text] : []));
  expect(pieces[0]).toBe("a");
  expect(pieces.join("")).toBe("abcd");
});

test("a prompt that is nothing, and one to a closed conversation, end at once and say why", async () => {
  verifies("LOOP-1");
  const stage = await openStage([]);
  expect(await stage.ask("  ")).toMatchObject({
    reason: "failed",
    error: { code: "invalid_prompt" },
  });
  const bad = stage.conversation.send([{ type: "video" }] as never);
  expect(await bad.end).toMatchObject({ reason: "failed", error: { code: "invalid_prompt" } });
  await stage.conversation.close();
  expect(await stage.ask("x")).toMatchObject({ error: { code: "conversation_closed" } });
});

test("a run that cannot start is on record as failed and lets the next one in", async () => {
  verifies("LOOP-1", "LOOP-2");
  const stage = await openStage([], { run: { allowedTools: ["no.such"] } });
  expect(await stage.ask("go")).toMatchObject({ reason: "failed", error: { code: "run_refused" } });
  expect(await stage.ask("go")).toMatchObject({ reason: "failed", error: { code: "run_refused" } });
  expect(stage.story("run")).toEqual(["run.queued", "run.failed", "run.queued", "run.failed"]);
});

test("a given run id is the first run's, and the runs after it have their own", async () => {
  verifies("LOOP-2");
  const stage = await openStage(
    [
      [says("1"), done()],
      [says("2"), done()],
    ],
    {
      run: { run_id: "run_given", agent_id: "agent_given" },
    },
  );
  await stage.ask("one");
  await stage.ask("two");
  const ids = stage.facts("run.started").map(({ run_id, agent_id }) => [run_id, agent_id]);
  expect(ids[0]).toEqual(["run_given", "agent_given"]);
  expect(ids[1]?.[0]).not.toBe("run_given");
  expect(ids[1]?.[1]).toBe("agent_given");
  expect(stage.model.requests.map(({ run_id }) => run_id)).toEqual(ids.map(([id]) => id));
});

test("limits that make no sense are refused by name", async () => {
  verifies("LOOP-1");
  await expect(openStage([], { limits: { max_turns: 0 } })).rejects.toThrow(
    "limits.max_turns is 0",
  );
  await expect(openStage([], { limits: { retries: Number.NaN } })).rejects.toThrow(
    "limits.retries",
  );
});
