// Children that are asked for too much, at the wrong moment, or of the wrong name: every call and every run has its end,
// no one has more than its role and its definition give, and the next one can begin.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createAgents,
  loadAgentCatalog,
  openConversation,
  scriptedModel,
  type Model,
  type ModelRequest,
} from "@soong/agent";
import {
  createHeldClock,
  createKernel,
  defineTool,
  type AskPermission,
  type Fact,
  type ToolResult,
} from "@soong/core";
import { openStore } from "@soong/store";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import { readTool, writeTool } from "../loop-tools.ts";
import { openAgentStage, start, type AgentStage } from "./agent-stage.ts";

const SUB = "agent.create_sub_agent";
const FOREVER = [{ parts: [{ text: "Half a word" }, { text: "never", after_ms: 80_000_000 }] }];

function results(stage: AgentStage, tool = SUB): ToolResult[] {
  return stage
    .facts("tool.completed", "tool.failed", "tool.cancelled", "tool.denied", "tool.skipped")
    .filter(({ tool_name }) => tool_name === tool)
    .map(({ data }) => data.result);
}

/** Calls, runs and children, each once; and one journal of all of them, in order. */
function everythingEnded({ journal: { facts } }: AgentStage): void {
  const idsOf = (type: RegExp, idOf: (fact: Fact) => unknown): string[] =>
    facts
      .filter((fact) => type.test(fact.type))
      .map((fact) => JSON.stringify(idOf(fact)))
      .toSorted();
  const callOf = ({ run_id, tool_call_id }: Fact) => [run_id, tool_call_id];
  expect(idsOf(/^tool\.(completed|failed|denied|skipped|cancelled|discarded)$/, callOf)).toEqual(
    idsOf(/^tool\.requested$/, callOf),
  );
  const runOf = ({ run_id }: Fact) => run_id;
  expect(idsOf(/^run\.(completed|failed|aborted)$/, runOf)).toEqual(idsOf(/^run\.started$/, runOf));
  const childOf = ({ data }: Fact) => "child_run_id" in data && data.child_run_id;
  expect(idsOf(/^agent\.child\.(completed|failed|cancelled)$/, childOf)).toEqual(
    idsOf(/^agent\.child\.created$/, childOf),
  );
  expect(facts.map(({ seq }) => seq)).toEqual(facts.map((_, i) => i + 1));
  for (const run_id of new Set(facts.map(runOf))) {
    if (run_id === undefined) continue;
    const own = facts.filter((fact) => fact.run_id === run_id && fact.run_seq !== undefined);
    expect(own.map(({ run_seq }) => run_seq)).toEqual(own.map((_, i) => i + 1));
  }
}

test("fifty at once: four begin, the others are refused in their order, and all are waited for", async () => {
  verifies("AGENT-3", "SCHED-2");
  const stage = await openAgentStage({
    turns: [
      {
        calls: Array.from({ length: 50 }, (_, i) => ({
          tool: SUB,
          input: { task: `t${i}` },
          id: `c${i}`,
        })),
      },
      { text: "ok" },
    ],
    agents: { default_sub_agent: Array.from({ length: 4 }, (_, i) => [{ text: `done ${i}` }]) },
  });
  expect(await stage.ask("go")).toMatchObject({ reason: "completed", answer: "ok" });
  const codes = new Map(results(stage).map((r) => [r.tool_call_id, r.error?.code ?? r.status]));
  expect(Array.from({ length: 50 }, (_, i) => codes.get(`c${i}`))).toEqual([
    ...Array.from({ length: 4 }, () => "succeeded"),
    ...Array.from({ length: 46 }, () => "child_agent_limit_exceeded"),
  ]);
  everythingEnded(stage);
});

test("an abort while some wait for a place ends them too, and leaves no place taken", async () => {
  verifies("AGENT-5", "SCHED-2", "PIPE-7");
  const stage = await openAgentStage(
    {
      turns: [
        { calls: [1, 2, 3].map((i) => ({ tool: SUB, input: { task: `t${i}` } })) },
        start(SUB, { task: "again" }),
        { text: "ok" },
      ],
      agents: { default_sub_agent: [FOREVER, [{ text: "Again." }]] },
    },
    { config: { agents: { max_concurrent_children_per_session: 1 } } },
  );
  const run = stage.conversation.send("go");
  await stage.clock.settle();
  await stage.clock.advance(1000);
  expect(stage.facts("agent.child.created")).toHaveLength(1);
  const aborted = run.abort("enough");
  expect(await stage.finish(run)).toMatchObject({ reason: "aborted_tools" });
  await aborted;
  everythingEnded(stage);
  expect(await stage.ask("go on")).toMatchObject({ reason: "completed", answer: "ok" });
  expect(stage.facts("agent.child.created")).toHaveLength(2);
  everythingEnded(stage);
});

test("an abort while a child's question is open takes the question back", async () => {
  verifies("AGENT-5", "PIPE-7", "PERM-12");
  const done: string[] = [];
  let withdrawn = false;
  const ask: AskPermission = (_request, { signal }) =>
    new Promise(() => {
      signal.addEventListener("abort", () => {
        withdrawn = true;
      });
    });
  const stage = await openAgentStage(
    {
      turns: [start(SUB, { task: "x" })],
      agents: { default_sub_agent: [[{ calls: [{ tool: "a.write", input: {} }] }]] },
    },
    { tools: [writeTool("a.write", done)], sessionOptions: { ask } },
  );
  const run = stage.conversation.send("go");
  await stage.clock.settle();
  await stage.clock.advance(5_000_000);
  expect(stage.facts("agent.child.failed")).toEqual([]);
  const aborted = run.abort("enough");
  expect(await stage.finish(run)).toMatchObject({ reason: "aborted_tools" });
  await aborted;
  expect(withdrawn).toBe(true);
  expect(done).toEqual([]);
  everythingEnded(stage);
});

test("names that come twice, by alias, by pattern or by the model's own spelling give what they say and no more", async () => {
  verifies("SURF-4");
  const aliased = defineTool({
    name: "a.old",
    aliases: ["safe.old"],
    description: "Old.",
    input_schema: { type: "object" },
    permission: "readonly",
    handler: () => "old",
  });
  const stage = await openAgentStage(
    {
      turns: [
        {
          calls: [
            {
              id: "1",
              tool: SUB,
              input: { task: "1", allowed_tools: ["a.read", "a.read", "a.*"] },
            },
            { id: "2", tool: SUB, input: { task: "2", allowed_tools: ["a__read"] } },
            { id: "3", tool: SUB, input: { task: "3", allowed_tools: ["agent.*"] } },
            { id: "4", tool: SUB, input: { task: "4", allowed_tools: ["*"] } },
            {
              id: "5",
              tool: SUB,
              input: { task: "5", agent_definition_id: "safe", allowed_tools: ["safe.old"] },
            },
            {
              id: "6",
              tool: SUB,
              input: { task: "6", agent_definition_id: "safe", allowed_tools: ["*"] },
            },
            {
              id: "7",
              tool: SUB,
              input: { task: "7", agent_definition_id: "safe", allowed_tools: [] },
            },
            { id: "8", tool: SUB, input: { task: "8", allowed_tools: ["safe.old"] } },
          ],
        },
        { text: "ok" },
      ],
      agents: {
        default_sub_agent: [[{ text: "1" }], [{ text: "4" }], [{ text: "8" }]],
        safe: [[{ text: "7" }]],
      },
    },
    {
      tools: [readTool("a.read", () => "x"), readTool("safe.read", () => "x"), aliased],
      definitions: [{ id: "safe", description: "d", system: "s", allowed_tools: ["safe.*"] }],
      config: { agents: { max_children_per_run: 20 } },
    },
  );
  expect(await stage.ask("go")).toMatchObject({ reason: "completed" });
  const codes = new Map(results(stage).map((r) => [r.tool_call_id, r.error?.code ?? r.status]));
  expect(Object.fromEntries(codes)).toEqual({
    1: "succeeded",
    2: "invalid_allowed_tools",
    3: "invalid_allowed_tools",
    4: "succeeded",
    5: "invalid_allowed_tools",
    6: "invalid_allowed_tools",
    7: "succeeded",
    8: "succeeded",
  });
  const started = stage.facts("agent.child.created").map(({ data }) => [data.task, data.tools]);
  expect(Object.fromEntries(started as [string, string[]][])).toEqual({
    1: ["a.old", "a.read"],
    4: ["a.old", "a.read", "safe.read"],
    7: [],
    8: ["a.old"],
  });
  everythingEnded(stage);
});

test("a fork of a conversation that was compacted reads what is left of it, in a kept session whose chain holds", async () => {
  verifies("AGENT-2", "CTX-2", "EVENT-6");
  const directory = await mkdtemp(join(tmpdir(), "soong-hostile-"));
  const store = await openStore({ directory });
  try {
    const kept = await store.createSession({ session_id: "s1" });
    const { journal, artifacts } = kept;
    const clock = createHeldClock(Date.UTC(2026, 0, 1));
    const agents = createAgents({ catalog: await loadAgentCatalog(), childTimeoutMs: 60_000 });
    const kernel = createKernel({ sources: [agents.source], clock });
    const session = await kernel.openSession({ session_id: "s1", journal, artifacts });
    const long = "word ".repeat(2400);
    const seen: ModelRequest[] = [];
    const scripted = scriptedModel(
      {
        turns: [
          { text: `First. ${long}` },
          { text: "A summary of it." },
          start("agent.fork_agent", { task: "Try." }),
          { text: "ok" },
        ],
        agents: { default_fork_agent: [[{ text: "Tried." }]] },
      },
      { clock },
    );
    const model: Model = {
      ...scripted,
      stream(request, signal) {
        seen.push(request);
        return scripted.stream(request, signal);
      },
    };
    const conversation = await openConversation({
      session,
      models: [model],
      clock,
      runRegistry: agents.activeRuns,
      limits: { context_tokens: 6000 },
    });
    await conversation.send("Begin.").end;
    const end = await conversation.send(`And now. ${long}`).end;
    expect(end).toMatchObject({ reason: "completed", answer: "ok" });
    const [, , parent, fork] = seen.map(({ messages }) => JSON.stringify(messages));
    const read = parent?.slice(0, -"]}]".length) ?? "";
    expect(read).toContain("A summary of it.");
    expect(fork?.startsWith(read), "all its parent has read").toBe(true);
    expect(fork?.includes("First. word"), "and nothing else").toBe(false);
    await session.close();
    await kept.close();
    expect(await store.verify("s1")).toMatchObject({ ok: true });
  } finally {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  }
});

test("models that never arrive block no one longer than the child may take, and its slot is free again", async () => {
  verifies("AGENT-3", "SCHED-2");
  const stage = await openAgentStage(
    {
      turns: [
        start(SUB, { task: "x", agent_definition_id: "far", timeout_ms: 5000 }),
        start(SUB, { task: "y" }),
        { text: "ok" },
      ],
      agents: { default_sub_agent: [[{ text: "done" }]] },
    },
    {
      definitions: [{ id: "far", description: "d", system: "s", model: "far:away" }],
      agents: { models: () => new Promise(() => {}) },
      config: { agents: { max_concurrent_children_per_session: 1, max_children_per_run: 1 } },
    },
  );
  const run = stage.conversation.send("go");
  await stage.clock.settle();
  await stage.clock.advance(5000);
  expect(await stage.finish(run)).toMatchObject({ reason: "completed", answer: "ok" });
  const [first, second] = results(stage);
  expect(first?.error).toMatchObject({
    code: "child_not_started",
    message: expect.stringContaining("did not end within 5000 ms") as string,
  });
  expect(second).toMatchObject({ status: "succeeded" });
  everythingEnded(stage);
});

test("a tool of a child that does not let go when it is stopped does not outlive the parent's run", async () => {
  verifies("AGENT-5", "PIPE-7", "LOOP-2");
  const clings = defineTool({
    name: "a.clings",
    description: "Never lets go.",
    permission: "readonly",
    input_schema: { type: "object" },
    handler: (_input, context) => {
      context.onCancel(() => new Promise<void>(() => {}));
      return new Promise<string>(() => {});
    },
  });
  const stage = await openAgentStage(
    {
      turns: [start(SUB, { task: "x" })],
      agents: { default_sub_agent: [[{ calls: [{ tool: "a.clings", input: {} }] }]] },
    },
    { tools: [clings] },
  );
  const run = stage.conversation.send("go");
  await stage.clock.settle();
  const aborted = run.abort("enough");
  expect(await stage.finish(run)).toMatchObject({ reason: "aborted_tools" });
  await aborted;
  everythingEnded(stage);
  const ends = stage.journal.facts.filter((fact) => fact.type === "run.aborted");
  expect(ends.map(({ parent_run_id }) => parent_run_id === undefined)).toEqual([false, true]);
});

test("a secret at the very place where a text is cut is not half of one afterwards", async () => {
  verifies("REDACT-1", "AGENT-5");
  const value = "correct-horse/battery+staple";
  const before = (chars: number): string => `${"x".repeat(chars - 12)} ${value} more`;
  const stage = await openAgentStage(
    {
      turns: [start(SUB, { task: before(1000), timeout_ms: 5000 }), { text: "ok" }],
      agents: {
        default_sub_agent: [
          [
            {
              parts: [
                { text: `${before(400)}\n${`${value} `.repeat(60)}` },
                { text: "never", after_ms: 80_000_000 },
              ],
            },
          ],
        ],
      },
    },
    { sessionOptions: { secrets: [{ name: "PASSWORD", value }] } },
  );
  expect(await stage.ask("go")).toMatchObject({ reason: "completed", answer: "ok" });
  expect(results(stage)[0]).toMatchObject({ status: "timed_out" });
  const { facts, nodes } = stage.journal;
  const written = JSON.stringify([facts, nodes]);
  expect(written).toContain("xxx");
  expect(written).not.toContain("correct");
  expect(written).not.toContain("staple");
});
