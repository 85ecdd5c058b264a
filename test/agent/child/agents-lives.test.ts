// How children live and end beside their parent (AGENT-3, AGENT-5, PIPE-5…7, PERM-12): time, aborts, users, progress.

import {
  defineTool,
  type AskPermission,
  type PermissionRequest,
  type ToolResult,
} from "@soong/core";
import { verifies } from "#laws";
import { describe, expect, test } from "vitest";
import { allEvents } from "../loop-stage.ts";
import { readTool, slowTool, writeTool } from "../loop-tools.ts";
import { openAgentStage, start, told, type AgentStage } from "./agent-stage.ts";

const SUB = "agent.create_sub_agent";
const FOREVER = [{ parts: [{ text: "Half a word" }, { text: "never", after_ms: 80_000_000 }] }];

function resultOf(stage: AgentStage, tool = SUB): ToolResult | undefined {
  const ended = stage
    .facts("tool.completed", "tool.failed", "tool.cancelled")
    .find(({ tool_name }) => tool_name === tool);
  return (ended?.data as { result?: ToolResult } | undefined)?.result;
}

describe("time", () => {
  test("that the caller gave ends the child, and what it had said is kept", async () => {
    verifies("AGENT-3", "PIPE-5");
    const stage = await openAgentStage({
      turns: [start(SUB, { task: "x", timeout_ms: 5000 }), { text: "Too slow." }],
      agents: { default_sub_agent: [FOREVER] },
    });
    expect(await stage.ask("go")).toMatchObject({ reason: "completed", answer: "Too slow." });
    const result = resultOf(stage);
    expect(result).toMatchObject({ status: "timed_out", data: { status: "timed_out" } });
    expect(result?.error?.message).toContain("did not end within 5000 ms");
    expect(JSON.stringify(result?.content)).toContain("Half a word");
    expect(stage.ofChild(0).at(-1)?.type).toBe("run.aborted");
    expect(stage.facts("agent.child.failed")[0]?.data).toMatchObject({ status: "timed_out" });
  });

  test("of the config is the most there is, and the kernel holds it", async () => {
    verifies("AGENT-3", "PIPE-5");
    const stage = await openAgentStage(
      {
        turns: [
          start(SUB, { task: "x", timeout_ms: 60_001 }),
          start(SUB, { task: "x" }),
          { text: "Too slow." },
        ],
        agents: { default_sub_agent: [FOREVER] },
      },
      { config: { agents: { child_timeout_ms: 60_000 } } },
    );
    expect(await stage.ask("go")).toMatchObject({ reason: "completed", answer: "Too slow." });
    const results = stage.facts("tool.failed").map(({ data }) => data.result);
    expect(results[0]).toMatchObject({ error: { error_class: "schema_validation_failed" } });
    expect(results[1]).toMatchObject({ status: "timed_out" });
    expect(JSON.stringify(results[1]?.content)).toContain("Half a word");
    // The child has its end before the call that waited for it, and no value comes late.
    const story = told(stage.journal.facts, "run.aborted", "agent.child.failed", "tool.late");
    expect(story).toEqual(["child 1: run.aborted", "parent: agent.child.failed"]);
  });

  test("the user thinks is not the child's", async () => {
    verifies("PIPE-6", "AGENT-5", "PERM-12");
    const done: string[] = [];
    const requests: PermissionRequest[] = [];
    const ask: AskPermission = async (request) => {
      requests.push(request);
      await new Promise<void>((resolve) => {
        stage.clock.after(600_000, resolve);
      });
      return { decision: "allow_once" };
    };
    const stage = await openAgentStage(
      {
        turns: [start(SUB, { task: "x", timeout_ms: 10_000 }), { text: "ok" }],
        agents: {
          default_sub_agent: [[{ calls: [{ tool: "a.write", input: {} }] }, { text: "written" }]],
        },
      },
      { tools: [writeTool("a.write", done)], sessionOptions: { ask } },
    );
    expect(await stage.ask("go")).toMatchObject({ reason: "completed", answer: "ok" });
    expect(done).toEqual(["{}"]);
    const [created] = stage.facts("agent.child.created");
    const { child_run_id, child_agent_id } = created?.data ?? {};
    expect(requests[0]).toMatchObject({
      run_id: child_run_id,
      agent_id: child_agent_id,
      parent_run_id: created?.run_id,
      parent_agent_id: created?.agent_id,
      role: "sub",
    });
    expect(resultOf(stage)).toMatchObject({ status: "succeeded", metadata: { duration_ms: 0 } });
  });
});

test("time a tool of a child asks the user in is not the child's either, and no more than that", async () => {
  verifies("PIPE-6", "AGENT-3");
  const asks = defineTool({
    name: "a.asks",
    description: "Asks somebody.",
    permission: "readonly",
    input_schema: { type: "object" },
    handler: async (_input, context) => {
      const answer = await context.elicit({ mode: "form", message: "Who?", requested_schema: {} });
      // From here on the time is the child's again.
      await new Promise<void>((resolve) => {
        stage.clock.after(60_000, resolve);
      });
      return answer.action;
    },
  });
  const stage = await openAgentStage(
    {
      turns: [start(SUB, { task: "x", timeout_ms: 10_000 }), { text: "ok" }],
      agents: {
        default_sub_agent: [[{ calls: [{ tool: "a.asks", input: {} }] }]],
      },
    },
    {
      tools: [asks],
      sessionOptions: {
        elicit: async () => {
          await new Promise<void>((resolve) => {
            stage.clock.after(600_000, resolve);
          });
          return { action: "accept" };
        },
      },
    },
  );
  const run = stage.conversation.send("go");
  await stage.clock.settle();
  await stage.clock.advance(600_000);
  await stage.clock.advance(9_999);
  expect(stage.facts("agent.child.failed")).toEqual([]);
  await stage.clock.advance(1);
  expect(await stage.finish(run)).toMatchObject({ reason: "completed", answer: "ok" });
  expect(resultOf(stage)).toMatchObject({
    status: "timed_out",
    metadata: { duration_ms: 10_000 },
  });
});

test("an abort of the parent reaches every child, and waits for it", async () => {
  verifies("AGENT-5", "PIPE-7", "LOOP-2");
  const stage = await openAgentStage(
    {
      turns: [
        {
          calls: [
            { tool: SUB, input: { task: "one" } },
            { tool: SUB, input: { task: "two" } },
          ],
        },
      ],
      agents: {
        default_sub_agent: [
          FOREVER,
          [{ text: "Waiting.", calls: [{ tool: "a.slow", input: {} }] }],
        ],
      },
    },
    { tools: [slowTool(() => stage.clock, "a.slow", 50_000_000)] },
  );
  const run = stage.conversation.send("go");
  await stage.clock.settle();
  await stage.clock.advance(1000);
  expect(stage.facts("agent.child.created")).toHaveLength(2);
  const aborting = run.abort("the person has had enough");
  await stage.clock.settle();
  await aborting;
  expect(await run.end).toMatchObject({ reason: "aborted_tools" });
  expect(
    told(
      stage.journal.facts,
      "run.aborted",
      "agent.child.cancelled",
      "agent.child.failed",
      "tool.late",
    ).toSorted(),
  ).toEqual([
    "child 1: run.aborted",
    "child 2: run.aborted",
    "parent: agent.child.cancelled",
    "parent: agent.child.cancelled",
    "parent: run.aborted",
  ]);
  expect(stage.journal.facts.at(-1)).toMatchObject({ type: "run.aborted" });
  expect(stage.journal.facts.at(-1)?.parent_run_id, "the parent's is the last").toBeUndefined();
  expect(resultOf(stage)).toMatchObject({ status: "aborted", is_error: true });
  for (const { tool_call_id, seq } of stage.facts("agent.child.cancelled")) {
    const call = stage.facts("tool.failed").find((fact) => fact.tool_call_id === tool_call_id);
    expect(call?.seq, "a call ends after its child").toBeGreaterThan(seq);
  }
  expect(stage.facts("agent.child.cancelled")[0]?.data.error).toMatchObject({
    message: expect.stringContaining("had enough") as string,
  });
});

test("what a child says and does is progress of the call, with who it is", async () => {
  verifies("AGENT-5");
  const stage = await openAgentStage(
    {
      turns: [start(SUB, { task: "x" }), { text: "ok" }],
      agents: {
        default_sub_agent: [
          [
            { text: "First this.\nThen that.", calls: [{ tool: "a.read", input: { n: 1 } }] },
            { text: "Done." },
          ],
        ],
      },
    },
    { tools: [readTool("a.read", () => "it")] },
  );
  const run = stage.conversation.send("go");
  await stage.finish(run);
  const [created] = stage.facts("agent.child.created");
  const progress = stage.facts("tool.progress").filter(({ run_id }) => run_id === created?.run_id);
  expect(progress.map(({ data }) => data.message)).toEqual([
    "default_sub_agent: First this.",
    "default_sub_agent: Then that.",
    'default_sub_agent: a.read {"n":1}',
    "default_sub_agent: a.read succeeded: it",
    "default_sub_agent: Done.",
  ]);
  expect(progress[0]).toMatchObject({ tool_name: SUB });
  expect(progress[0]?.data.data).toEqual({
    kind: "text",
    origin: {
      agent_id: created?.data.child_agent_id,
      run_id: created?.data.child_run_id,
      role: "sub",
      agent_definition_id: "default_sub_agent",
    },
  });
  const events = await allEvents(run);
  const seen = events.filter(
    (event) => event.type === "fact" && event.fact.type === "tool.progress",
  );
  expect(seen).toHaveLength(5);
});

describe("permission", () => {
  test("a child's policy is its parent's ceiling and its own rules; grants are the session's", async () => {
    verifies("PERM-12", "PERM-5", "AGENT-5");
    const done: string[] = [];
    const asked: string[] = [];
    const careful = {
      id: "careful",
      description: "Asks less, may less.",
      system: "Careful.",
      rules: [{ tool: "b.write", decision: "deny" as const, reason: "not for this one" }],
    };
    const stage = await openAgentStage(
      {
        turns: [
          start(SUB, { task: "x", agent_definition_id: "careful" }),
          { calls: [{ tool: "a.write", input: { by: "parent" } }] },
          { text: "ok" },
        ],
        agents: {
          careful: [
            [
              {
                expect: [{ tools: ["a.write"] }, { not_tools: ["b.write", "c.write"] }],
                calls: [
                  { tool: "c.write", input: {} },
                  { tool: "b.write", input: {} },
                  { tool: "a.write", input: { by: "child" } },
                ],
              },
              {
                expect: [
                  { result: 0, status: "error" },
                  { result: 1, status: "error", contains: "not for this one" },
                  { result: 2, status: "ok" },
                ],
                text: "done",
              },
            ],
          ],
        },
      },
      {
        definitions: [careful],
        tools: ["a.write", "b.write", "c.write"].map((name) => planned(name, done)),
        sessionOptions: {
          ask: async ({ tool_name, role }) => {
            asked.push(`${role}: ${tool_name}`);
            return { decision: "allow_for_session" };
          },
        },
        run: { policy: { rules: [{ tool: "c.write", decision: "deny" }] } },
      },
    );
    expect(await stage.ask("go")).toMatchObject({ reason: "completed", answer: "ok" });
    // The grant that was given to the child holds for the agents of the session.
    expect(resultOf(stage)).toMatchObject({ status: "succeeded" });
    expect(asked).toEqual(["sub: a.write"]);
    expect(done).toEqual(["a.write child", "a.write parent"]);
  });

  test("the home of the runtime is closed to a child as it is to its parent", async () => {
    verifies("PERM-12", "PERM-14");
    const done: string[] = [];
    const stage = await openAgentStage(
      {
        turns: [start(SUB, { task: "x" }), { text: "ok" }],
        agents: {
          default_sub_agent: [
            [
              { calls: [{ tool: "a.write", input: { by: "child", path: "/home/agents/x.md" } }] },
              { expect: [{ result: 0, status: "error" }], text: "no" },
            ],
          ],
        },
      },
      {
        tools: [planned("a.write", done)],
        sessionOptions: {
          ask: async () => ({ decision: "allow_once" }),
          policy: { protected_roots: ["/home"] },
        },
      },
    );
    expect(await stage.ask("go")).toMatchObject({ reason: "completed" });
    expect(resultOf(stage)).toMatchObject({ status: "succeeded" });
    expect(done).toEqual([]);
  });
});

/** Writes one file. */
function planned(name: string, done: string[]) {
  return defineTool({
    name,
    description: "Writes.",
    input_schema: { type: "object" },
    prepare: (input) => {
      const { path = "/project/x" } = input as { path?: string };
      return { resources: [{ kind: "path", access: "write", path }], destructive: false };
    },
    handler: (input) => {
      done.push(`${name} ${String((input as { by?: string }).by)}`);
      return "written";
    },
  });
}

test("a child that never ends its line costs no more than one that does, and its first words are reported", async () => {
  verifies("AGENT-5");
  const parts = Array.from({ length: 20_000 }, () => ({ text: "x".repeat(500) }));
  const stage = await openAgentStage({
    turns: [start(SUB, { task: "x" }), { text: "ok" }],
    agents: { default_sub_agent: [[{ parts }]] },
  });
  expect(await stage.ask("go")).toMatchObject({ reason: "completed", answer: "ok" });
  const told = stage.facts("tool.progress").map(({ data }) => data.message);
  expect(told).toEqual([`default_sub_agent: ${"x".repeat(400)}…`]);
  expect(resultOf(stage)).toMatchObject({ status: "succeeded" });
});

test("a child whose model sends something outrageous still ends, and its parent continues", async () => {
  verifies("AGENT-4", "LOOP-1");
  const stage = await openAgentStage(
    {
      turns: [
        {
          calls: [
            { tool: SUB, input: { task: "overloaded" } },
            { tool: SUB, input: { task: "cut off" } },
            { tool: SUB, input: { task: "silent" } },
          ],
        },
        { text: "Go on." },
      ],
      agents: {
        default_sub_agent: [
          Array.from({ length: 5 }, () => ({ error: "overloaded" as const })),
          [{ text: "cut", stop: "max_tokens" as const }],
          [{ text: "" }],
        ],
      },
    },
    {},
  );
  expect(await stage.ask("go")).toMatchObject({ reason: "completed", answer: "Go on." });
  const results = stage
    .facts("agent.child.completed", "agent.child.failed")
    .map(({ data }) => JSON.stringify([data.status, data.reason]));
  expect(results.toSorted()).toEqual([
    '["completed","completed"]',
    '["failed","failed"]',
    '["failed","max_output_tokens"]',
  ]);
});
