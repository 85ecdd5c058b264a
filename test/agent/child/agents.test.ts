// Agents as tools (AGENT-1…4): a child is a call and its result to its caller, and a run of its own inside.

import { type Script, reportUsage } from "@soong/agent";
import { defineHook, type Fact, type ToolResult } from "@soong/core";
import { verifies } from "#laws";
import { describe, expect, test } from "vitest";
import { contextsIn } from "../../facts.ts";
import { readTool } from "../loop-tools.ts";
import { openAgentStage, start, told, type AgentStage } from "./agent-stage.ts";

const SUB = "agent.create_sub_agent";
const FORK = "agent.fork_agent";

function resultsOf(stage: AgentStage, tool: string): ToolResult[] {
  return stage
    .facts("tool.completed", "tool.failed", "tool.denied", "tool.skipped", "tool.cancelled")
    .filter(({ tool_name }) => tool_name === tool)
    .map(({ data }) => (data as { result: ToolResult }).result);
}

test("hooks learn when a sub agent starts and how it stops", async () => {
  verifies("HOOK-7");
  const seen: unknown[] = [];
  const stage = await openAgentStage(
    {
      turns: [start(SUB, { task: "Count." }), { text: "Three." }],
      agents: { default_sub_agent: [[{ text: "There are three." }]] },
    },
    {
      sessionOptions: {
        hooks: (["SubagentStart", "SubagentStop"] as const).map((event) =>
          defineHook({ id: event, event, run: (payload) => void seen.push([event, payload]) }),
        ),
      },
    },
  );
  await stage.ask("How many?");
  const [created] = stage.facts("agent.child.created");
  const { child_run_id } = created?.data ?? {};
  const about = {
    run_id: created?.run_id,
    child_run_id,
    agent_definition_id: "default_sub_agent",
  };
  expect(seen).toEqual([
    ["SubagentStart", expect.objectContaining(about)],
    ["SubagentStop", expect.objectContaining({ ...about, status: "completed" })],
  ]);
});

test("a sub agent gets its task and its context and no more, and its answer is the result of the call", async () => {
  verifies("AGENT-1", "AGENT-2", "AGENT-4");
  const stage = await openAgentStage(
    {
      turns: [
        start(SUB, { task: "Count the files.", context: "They are in src." }),
        { expect: [{ result: 0, contains: "There are three." }], text: "Three, it says." },
      ],
      agents: {
        default_sub_agent: [
          [
            {
              expect: [
                { last_user: { matches: "Count the files[^]*They are in src" } },
                { last_user: { not_contains: "How many" } },
                { system: { contains: "Another agent has started you" } },
                { tools: ["a.count"] },
                { not_tools: [SUB, FORK, "agent.inspect_agent", "agent.plan_template"] },
              ],
              calls: [{ tool: "a.count", input: {} }],
            },
            { text: "There are three.\n\nFindings:\n- a.ts\n- b.ts\nThat is all." },
          ],
        ],
      },
    },
    { tools: [readTool("a.count", () => "3")], system: ["The house rules."] },
  );
  const end = await stage.ask("How many files?");
  expect(end).toMatchObject({ reason: "completed", answer: "Three, it says." });
  const [result] = resultsOf(stage, SUB);
  expect(result).toMatchObject({
    status: "succeeded",
    summary: "There are three.",
    data: {
      status: "completed",
      summary: "There are three.",
      findings: ["a.ts", "b.ts"],
      artifacts: [],
      agent_definition_id: "default_sub_agent",
      role: "sub",
      reason: "completed",
      turns: 2,
    },
  });
  expect(
    told(
      stage.journal.facts,
      "run.queued",
      "run.started",
      "agent.child.created",
      "agent.child.completed",
      "run.completed",
    ),
  ).toEqual([
    "parent: run.queued",
    "parent: run.started",
    "child 1: run.started",
    "parent: agent.child.created",
    "child 1: run.completed",
    "parent: agent.child.completed",
    "parent: run.completed",
  ]);
  // One journal, and whose child it is is in every fact of it.
  const { run_id } = stage.facts("run.started")[0] ?? {};
  for (const fact of stage.ofChild(0)) expect(fact.parent_run_id).toBe(run_id);
  const [created] = stage.facts("agent.child.created");
  expect(created).toMatchObject({ run_id, tool_name: SUB });
  expect(created?.data).toMatchObject({
    role: "sub",
    tools: ["a.count"],
    task: "Count the files.",
  });
  // The result enters the conversation as the call's, with a node that says whose it is and repeats nothing.
  const nodes = stage.journal.nodes.filter(({ kind }) => kind === "child_result");
  expect(nodes).toHaveLength(1);
  expect(nodes[0]).toMatchObject({
    run_id,
    content: [],
    data: { status: "completed", role: "sub" },
  });
  const ofParent = stage.journal.facts.filter((fact) => fact.run_id === run_id);
  expect(contextsIn(ofParent).at(-1)?.agent_refs).toMatchObject([
    { run_id: created?.data.child_run_id },
  ]);
});

test("a fork has read the conversation up to the answer that starts it, and goes its own way", async () => {
  verifies("AGENT-2", "STORE-2", "CTX-3");
  const stage = await openAgentStage(
    {
      turns: [
        { text: "Reading.", calls: [{ tool: "a.read", input: {}, id: "r1" }] },
        {
          text: "Two ways.",
          calls: [
            { tool: FORK, input: { task: "Try the second way." }, id: "f1" },
            { tool: "a.read", input: {}, id: "r2" },
          ],
        },
        { expect: [{ result: 0, contains: "second way works" }], text: "The second." },
      ],
      agents: {
        default_fork_agent: [
          [
            {
              expect: [
                { result: 0, contains: "the text" },
                { last_user: { contains: "Try the second way." } },
                { system: { contains: "The house rules." } },
                { system: { not_contains: "Another agent" } },
                { not_tools: [FORK, SUB] },
              ],
              text: "The second way works.",
            },
          ],
        ],
      },
    },
    { tools: [readTool("a.read", () => "the text")], system: ["The house rules."] },
  );
  const end = await stage.ask("Which way?");
  expect(end).toMatchObject({ reason: "completed", answer: "The second." });
  const { nodes } = stage.journal;
  const [created] = stage.facts("agent.child.created");
  const own = nodes.filter(({ run_id }) => run_id === created?.data.child_run_id);
  // A branch: its first node hangs below the result the fork has read, beside the answer that started it.
  const read = nodes.find(({ tool_call_id }) => tool_call_id === "r1");
  expect(own[0]?.parent_id).toBe(read?.node_id);
  const answer = nodes.find(({ data }) => JSON.stringify(data ?? {}).includes('"f1"'));
  expect(answer?.parent_id).toBe(read?.node_id);
  expect(created?.data).toMatchObject({ role: "fork", inherited_nodes: 3 });
  expect(stage.ofChild(0).some(({ tool_call_id }) => tool_call_id === "f1")).toBe(false);
});

test("children started side by side work at the same time, and one that fails cancels no other", async () => {
  verifies("AGENT-3", "AGENT-4", "SCHED-2");
  const stage = await openAgentStage(
    {
      turns: [
        {
          calls: [
            { tool: SUB, input: { task: "one" }, id: "one" },
            { tool: SUB, input: { task: "two" }, id: "two" },
            { tool: SUB, input: { task: "three" }, id: "three" },
          ],
        },
        {
          expect: [
            { result: 0, status: "ok", contains: "first" },
            { result: 1, status: "error", contains: "script" },
            { result: 2, status: "ok", contains: "third" },
          ],
          text: "Two of three.",
        },
      ],
      agents: {
        default_sub_agent: [
          [{ parts: [{ text: "first", after_ms: 3000 }] }],
          [],
          [{ parts: [{ text: "third", after_ms: 1000 }] }],
        ],
      },
    },
    {},
  );
  const end = await stage.ask("go");
  expect(end).toMatchObject({ reason: "completed", answer: "Two of three." });
  expect(
    told(stage.journal.facts, "run.started", "run.completed", "run.failed").slice(0, 4),
    "all have begun before any has ended",
  ).toEqual([
    "parent: run.started",
    "child 1: run.started",
    "child 2: run.started",
    "child 3: run.started",
  ]);
  const ends = stage.facts("agent.child.completed", "agent.child.failed");
  expect(ends.map(({ tool_call_id }) => tool_call_id)).toEqual(["two", "three", "one"]);
  expect(stage.facts("agent.child.failed")[0]?.data).toMatchObject({ status: "failed" });
});

test("a run starts so many children and no more; a start that is refused is none", async () => {
  verifies("AGENT-3", "SCHED-2", "SURF-4");
  const bad = { task: "x", allowed_tools: ["code.nothing"] };
  const stage = await openAgentStage(
    {
      turns: [
        ...[1, 2, 3].map(() => start(SUB, bad)),
        { calls: [1, 2, 3].map((i) => ({ tool: SUB, input: { task: `t${i}` }, id: `ok${i}` })) },
        {
          expect: [
            { result: 0, status: "ok" },
            { result: 1, status: "ok" },
            { result: 2, status: "error", contains: "2 child agents" },
          ],
          text: "Enough.",
        },
      ],
      agents: { default_sub_agent: [[{ text: "a" }], [{ text: "b" }], [{ text: "c" }]] },
    },
    { config: { agents: { max_children_per_run: 2 } } },
  );
  expect(await stage.ask("go")).toMatchObject({ answer: "Enough." });
  expect(resultsOf(stage, SUB).map(({ error }) => error?.code)).toEqual([
    "invalid_allowed_tools",
    "invalid_allowed_tools",
    "invalid_allowed_tools",
    "child_agent_limit_exceeded",
    undefined,
    undefined,
  ]);
  expect(stage.facts("agent.child.created")).toHaveLength(2);
});

test("over the session's limit a child waits for a place", async () => {
  verifies("AGENT-3", "SCHED-2");
  const stage = await openAgentStage(
    {
      turns: [
        { calls: [1, 2, 3].map((i) => ({ tool: SUB, input: { task: `t${i}` } })) },
        { text: "done" },
      ],
      agents: {
        default_sub_agent: [1, 2, 3].map((i) => [{ parts: [{ text: `${i}`, after_ms: 500 }] }]),
      },
    },
    { config: { agents: { max_concurrent_children_per_session: 1 } } },
  );
  expect(await stage.ask("go")).toMatchObject({ reason: "completed" });
  const lives = told(stage.journal.facts, "run.started", "run.completed").slice(1, -1);
  expect(lives).toEqual(
    [1, 2, 3].flatMap((i) => [`child ${i}: run.started`, `child ${i}: run.completed`]),
  );
});

describe("allowed_tools", () => {
  test("names that are unknown or can never be had are refused one by one, and nothing begins", async () => {
    verifies("SURF-4", "AGENT-2");
    const stage = await openAgentStage(
      {
        turns: [
          start(SUB, { task: "x", allowed_tools: ["a.raed", "agent.create_sub_agent", "a.read"] }),
          { text: "I see." },
        ],
      },
      { tools: [readTool("a.read", () => "x")] },
    );
    expect(await stage.ask("go")).toMatchObject({ answer: "I see." });
    const [result] = resultsOf(stage, SUB);
    expect(result).toMatchObject({
      status: "failed",
      error: {
        code: "invalid_allowed_tools",
        error_class: "invalid_arguments",
        recovery: "change_arguments",
        details: {
          problems: [
            { code: "unknown_tool", tool_name: "a.raed" },
            { code: "tool_excluded", tool_name: "agent.create_sub_agent" },
          ],
        },
      },
    });
    expect(result?.error?.message).toContain("role_not_allowed: never given to sub");
    expect(stage.facts("agent.child.created", "run.failed")).toEqual([]);
    expect(new Set(stage.journal.facts.map(({ run_id }) => run_id)).size).toBe(2);
  });

  test("without them it has what its role has, no matter what its parent was left with", async () => {
    verifies("SURF-4");
    const stage = await openAgentStage(
      {
        turns: [start(SUB, { task: "x" }), { text: "ok" }],
        agents: {
          default_sub_agent: [
            [
              {
                expect: [{ tools: ["a.read", "b.read"] }, { not_tools: ["c.read"] }],
                text: "both",
              },
            ],
          ],
        },
      },
      {
        tools: ["a.read", "b.read", "c.read"].map((name) => readTool(name, () => "x")),
        // But what the task denies, it denies to both.
        run: { allowedTools: [SUB], taskDenied: ["c.*"] },
      },
    );
    expect(await stage.ask("go")).toMatchObject({ reason: "completed", answer: "ok" });
    expect(resultsOf(stage, SUB)).toMatchObject([{ status: "succeeded" }]);
  });

  test("a definition's own list is the most that can be asked of it; its suggestions allow nothing", async () => {
    verifies("SURF-4", "AGENT-1");
    const definition = {
      id: "reader",
      description: "Reads.",
      system: "You read.",
      suggested_tools: ["a.read"],
      allowed_tools: ["a.*"],
    };
    const stage = await openAgentStage(
      {
        turns: [
          start(SUB, { task: "x", agent_definition_id: "reader", allowed_tools: ["b.read"] }),
          start(SUB, { task: "x", agent_definition_id: "raeder" }),
          start(SUB, { task: "x", agent_definition_id: "default_worker_agent" }),
          start(SUB, { task: "x", agent_definition_id: "reader" }),
          { expect: [{ result: 0, contains: "read it" }], text: "ok" },
        ],
        agents: {
          reader: [
            [
              {
                expect: [
                  { tools: ["a.read"] },
                  { not_tools: ["b.read"] },
                  { system: { contains: "You read." } },
                ],
                text: "read it",
              },
            ],
          ],
        },
      },
      {
        tools: [readTool("a.read", () => "x"), readTool("b.read", () => "y")],
        definitions: [definition],
      },
    );
    expect(await stage.ask("go")).toMatchObject({ reason: "completed", answer: "ok" });
    const [beyond, unknown, role] = resultsOf(stage, SUB).map(({ error }) => error?.message);
    expect(beyond).toBe(
      'The agent was not started. "reader" may be given a.* at the most, and allowed_tools names b.read.',
    );
    expect(unknown).toBe('There is no agent definition "raeder". Did you mean "reader"?');
    expect(role).toContain("cannot be started as sub; it is for worker");
  });
});

test("a definition that skips what is missing starts with what there is", async () => {
  verifies("SURF-4", "AGENT-1");
  const definition = {
    id: "reader",
    description: "Reads.",
    system: "You read.",
    allowed_tools: ["a.read", "web.fetch", "mcp.gone.*", SUB],
    skip_missing_tools: true,
  };
  const stage = await openAgentStage(
    {
      turns: [
        start(SUB, { task: "x", agent_definition_id: "reader" }),
        start(SUB, { task: "x", agent_definition_id: "reader", allowed_tools: ["web.fetch"] }),
        { text: "ok" },
      ],
      agents: {
        reader: [
          [{ expect: [{ tools: ["a.read"] }, { not_tools: ["b.read", SUB] }], text: "read it" }],
        ],
      },
    },
    {
      tools: [readTool("a.read", () => "x"), readTool("b.read", () => "y")],
      definitions: [definition],
    },
  );
  expect(await stage.ask("go")).toMatchObject({ reason: "completed", answer: "ok" });
  const [first, second] = resultsOf(stage, SUB);
  expect(first).toMatchObject({ status: "succeeded", summary: "read it" });
  // What the caller itself names has to be there.
  expect(second?.error?.message).toContain('"web.fetch", but no tool of that name is registered');
});

describe("an expected form", () => {
  const schema = {
    type: "object",
    required: ["count"],
    properties: { count: { type: "integer" } },
  };
  const script = (...answers: string[]): Script => ({
    turns: [start(SUB, { task: "Count.", expected_output_schema: schema }), { text: "ok" }],
    agents: { default_sub_agent: [answers.map((text) => ({ text }))] },
  });

  test("is announced beforehand, and an answer that has it comes back as a value", async () => {
    verifies("AGENT-4");
    const stage = await openAgentStage(script('```json\n{"count": 3}\n```'));
    await stage.ask("go");
    expect(resultsOf(stage, SUB)[0]).toMatchObject({
      status: "succeeded",
      data: { status: "completed", output: { count: 3 }, turns: 1 },
    });
    const [asked] = stage.journal.nodes.filter(({ parent_id }) => parent_id === undefined).slice(1);
    expect(JSON.stringify(asked?.content)).toContain('\\"required\\":[\\"count\\"]');
  });

  test("that was missed can be fixed once", async () => {
    verifies("AGENT-4");
    const stage = await openAgentStage(script("Three.", '{"count": 3}'));
    await stage.ask("go");
    expect(resultsOf(stage, SUB)[0]).toMatchObject({
      status: "succeeded",
      data: { output: { count: 3 }, turns: 2 },
    });
    const said = stage.ofChild(0).filter((fact) => fact.type === "run.started");
    expect(said, "in one run").toHaveLength(1);
  });

  test("that is missed twice is a failure that keeps the text", async () => {
    verifies("AGENT-4");
    const stage = await openAgentStage(script("Three.", '{"count": "three"}'));
    expect(await stage.ask("go")).toMatchObject({ reason: "completed", answer: "ok" });
    const [result] = resultsOf(stage, SUB);
    expect(result).toMatchObject({ status: "failed", error: { code: "unexpected_output" } });
    expect(result?.error?.message).toContain("count");
    expect(JSON.stringify(result?.content)).toContain('{\\"count\\": \\"three\\"}');
    expect(stage.facts("agent.child.failed")[0]?.data.error).toMatchObject({
      code: "unexpected_output",
    });
  });

  test("that is no schema starts nothing", async () => {
    verifies("AGENT-4", "SURF-4");
    const stage = await openAgentStage({
      turns: [
        start(SUB, { task: "x", expected_output_schema: { type: "objekt" } }),
        { text: "ok" },
      ],
    });
    await stage.ask("go");
    expect(resultsOf(stage, SUB)[0]).toMatchObject({
      error: { code: "invalid_expected_output_schema", details: { started: false } },
    });
    expect(stage.facts("agent.child.created")).toEqual([]);
  });
});

test("what children use is their parent's to pay, and counts for its budget", async () => {
  verifies("EVENT-7", "MODEL-4", "AGENT-4");
  const script: Script = {
    turns: [start(SUB, { task: "one" }), start(SUB, { task: "two" }), { text: "done" }],
    agents: {
      default_sub_agent: [
        [{ calls: [{ tool: "a.read", input: {} }] }, { text: "x" }],
        [{ text: "y" }],
      ],
    },
  };
  const tools = [readTool("a.read", () => "x")];
  const stage = await openAgentStage(script, { tools });
  const end = await stage.ask("go");
  expect(end).toMatchObject({ reason: "completed", turns: 3, usage: { requests: 6 } });
  const report = reportUsage(stage.journal.facts);
  expect(report.session).toEqual(end.usage);
  expect(report.runs.get(stage.facts("run.started")[0]?.run_id ?? "")).toEqual(end.usage);
  const own = stage.facts("run.completed").map(({ data }) => data.usage as { requests: number });
  expect(own.map(({ requests }) => requests)).toEqual([2, 1, 3]);

  // Enough for the parent's first request and the child's: the child's second is over it.
  const used = stage.facts("model.completed").map(({ data }) => data.usage as typeof end.usage);
  const [parent = 0, child = 0] = used.map(
    (one) => (one.input_tokens ?? 0) + (one.output_tokens ?? 0),
  );
  const bounded = await openAgentStage(script, {
    tools,
    limits: { budget: { tokens: parent + child } },
  });
  const spent = await bounded.ask("go");
  expect(spent).toMatchObject({ reason: "failed", error: { code: "budget" } });
  expect(spent.usage.requests).toBe(2);
  // The child is stopped by the same budget, before its parent is.
  expect(bounded.ofChild(0).at(-1)).toMatchObject({
    type: "run.failed",
    data: { error: { code: "budget" } },
  });
});

test("a definition names its model, its mode and its turns", async () => {
  verifies("AGENT-1", "SURF-9");
  const asked: string[] = [];
  const own = await import("@soong/agent").then(({ scriptedModel }) =>
    scriptedModel(
      {
        turns: [],
        agents: { planner: [[{ calls: [{ tool: "a.read", input: {} }] }, { text: "planned" }]] },
      },
      { id: "script:own" },
    ),
  );
  const planner = {
    id: "planner",
    description: "Plans.",
    system: "You plan.",
    model: "own",
    mode: "plan" as const,
    max_turns: 1,
  };
  const stage = await openAgentStage(
    {
      turns: [
        start(SUB, { task: "x", agent_definition_id: "planner" }),
        start(SUB, { task: "x", agent_definition_id: "lost" }),
        { text: "ok" },
      ],
    },
    {
      tools: [readTool("a.read", () => "x")],
      definitions: [planner, { ...planner, id: "lost", model: "nowhere" }],
      agents: {
        async models(reference) {
          asked.push(reference);
          if (reference !== "own") throw new Error("there is no such model");
          return [own];
        },
      },
    },
  );
  expect(await stage.ask("go")).toMatchObject({ reason: "completed", answer: "ok" });
  expect(asked).toEqual(["own", "nowhere"]);
  expect(stage.facts("agent.child.created")[0]?.data).toMatchObject({
    mode: "plan",
    models: ["script:own"],
  });
  const [first, second] = resultsOf(stage, SUB);
  expect(first).toMatchObject({ status: "failed", data: { reason: "max_turns", turns: 1 } });
  expect(second).toMatchObject({ error: { code: "child_not_started" } });
  expect(second?.error?.message).toContain(
    "nowhere of lost cannot be used: there is no such model",
  );
});

test("a child of a plan run is in plan mode, no matter what its definition says", async () => {
  verifies("SURF-9", "AGENT-2");
  const stage = await openAgentStage(
    {
      turns: [start(SUB, { task: "x", agent_definition_id: "doer" }), { text: "ok" }],
      agents: { doer: [[{ text: "done" }]] },
    },
    {
      definitions: [{ id: "doer", description: "Does.", system: "You do.", mode: "normal" }],
      run: { mode: "plan" },
    },
  );
  expect(await stage.ask("go")).toMatchObject({ reason: "completed" });
  expect(stage.facts("agent.child.created")[0]?.data).toMatchObject({ mode: "plan" });
});

test.each([
  [undefined, "accept_edits", "accept_edits"],
  ["normal", "accept_edits", "normal"],
  ["accept_edits", "normal", "accept_edits"],
] as const)(
  "a child that says %s of its mode is, below a run in %s, in %s",
  async (mode, above, expected) => {
    verifies("SURF-9", "PERM-12");
    const stage = await openAgentStage(
      {
        turns: [start(SUB, { task: "x", agent_definition_id: "doer" }), { text: "ok" }],
        agents: { doer: [[{ text: "done" }]] },
      },
      {
        definitions: [
          { id: "doer", description: "Does.", system: "You do.", ...(mode && { mode }) },
        ],
        run: { mode: above },
      },
    );
    expect(await stage.ask("go")).toMatchObject({ reason: "completed" });
    expect(stage.facts("agent.child.created")[0]?.data).toMatchObject({ mode: expected });
  },
);

test("what became of an agent can be looked up, and who could be started", async () => {
  verifies("AGENT-1", "PLAN-1");
  const stage = await openAgentStage(
    {
      turns: [
        start("agent.list_agent_definitions", { role: "sub" }),
        start(SUB, { task: "Look." }),
        start("agent.inspect_agent", { agent_id: "agent_0" }),
        start("agent.inspect_agent", {}),
        { calls: [{ tool: "agent.inspect_agent", input: { run_id: "RUN" } }] },
        { calls: [{ tool: "agent.plan_template", input: {} }] },
        { expect: [{ last_user: { contains: "How to write a plan" } }], text: "ok" },
      ],
      agents: {
        default_sub_agent: [[{ calls: [{ tool: "a.read", input: {} }] }, { text: "Seen." }]],
      },
    },
    { tools: [readTool("a.read", () => "x")], ids: namedIds("RUN") },
  );
  expect(await stage.ask("go")).toMatchObject({ reason: "completed", answer: "ok" });
  const [listed] = resultsOf(stage, "agent.list_agent_definitions");
  expect(listed?.data).toMatchObject({
    agent_definitions: [
      { id: "default_sub_agent", roles: ["sub"], origin: "a built-in definition" },
    ],
  });
  const [unknown, empty, found] = resultsOf(stage, "agent.inspect_agent");
  expect(unknown?.error).toMatchObject({ code: "unknown_agent" });
  expect(unknown?.error?.message).toContain("(RUN)");
  expect(empty?.error?.message).toContain("give the agent_id or the run_id");
  expect(found).toMatchObject({
    status: "succeeded",
    data: { run_id: "RUN", status: "completed", task: "Look.", result: { summary: "Seen." } },
  });
  expect(stage.journal.nodes.filter(({ kind }) => kind === "plan_instruction")).toHaveLength(1);
});

/** The second run, which is the child's, has a name the script can use. */
function namedIds(second: string) {
  let count = 0;
  let runs = 0;
  return {
    next(kind: string) {
      if (kind === "run") runs += 1;
      if (kind === "run" && runs === 2) return second;
      return `${kind}_${(count += 1)}`;
    },
  };
}

test("a call outside of any conversation learns that it needs one", async () => {
  verifies("AGENT-1");
  const stage = await openAgentStage({ turns: [] });
  const run = await stage.session.startRun({});
  const result = await run.call(SUB, { task: "x" });
  expect(result).toMatchObject({ status: "failed", error: { code: "no_conversation" } });
});

test("a compaction keeps who was started, and how each ended", async () => {
  verifies("CTX-2");
  const stage = await openAgentStage(
    {
      turns: [
        start(SUB, { task: "Look." }),
        { text: "It looked." },
        { text: "A summary." },
        { expect: [{ last_user: { contains: "Agents that were started" } }], text: "ok" },
      ],
      agents: { default_sub_agent: [[{ text: "word ".repeat(1600) }]] },
    },
    { limits: { context_tokens: 6000 } },
  );
  await stage.ask("go");
  const more = `more ${"word ".repeat(2400)}`;
  expect(await stage.ask(more)).toMatchObject({ reason: "completed", answer: "ok" });
  const [completed] = stage.facts("context.compaction.completed");
  const [created] = stage.facts("agent.child.created");
  const { run, agent } = idsIn(created);
  expect(completed?.data.continuation).toMatchObject({
    agents: [`default_sub_agent (${agent}, run ${run}): completed`],
  });
});

function idsIn(created: Fact<"agent.child.created"> | undefined): { run: string; agent: string } {
  return { run: created?.data.child_run_id ?? "", agent: created?.data.child_agent_id ?? "" };
}
