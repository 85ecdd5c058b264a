// The read model of Agent Runtime: what is going on in a session (EXPORT-1).

import { createAgentRuntimeSnapshot, type AgentRuntimeSnapshotOptions } from "@soong/export";
import type { Fact, FactType } from "@soong/core";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import { writtenFact } from "../facts.ts";
import { validateAgentRuntimeSnapshot } from "./schemas.ts";

type Written = readonly [type: FactType, data?: unknown, about?: Partial<Fact>];

const RUN = { run_id: "run_1", agent_id: "agent_1" };
const CALL = { ...RUN, tool_call_id: "call_1", tool_name: "a.b" };

function take(facts: readonly Written[], options?: AgentRuntimeSnapshotOptions) {
  const model = createAgentRuntimeSnapshot(options);
  facts.forEach(([type, data = {}, about = RUN], i) => {
    model.push(writtenFact({ seq: i + 1, ...about, type, data }));
  });
  const snapshot = model.snapshot();
  const profile = options?.profile === "lime" ? "lime" : "public";
  expect(validateAgentRuntimeSnapshot(snapshot, { profile })).toEqual([]);
  return snapshot;
}

const ASKED: readonly Written[] = [
  ["run.started", { mode: "normal" }],
  ["tool.requested", {}, CALL],
  ["permission.evaluated", { decision: "ask", chain: [] }, CALL],
  ["permission.requested", { request: { request_id: "ask_1", reason: "It writes." } }, CALL],
];

test("a call that waits for an answer blocks its thread, and the request is there", () => {
  verifies("EXPORT-1");
  const { threads, permissionState } = take(ASKED);
  expect(threads).toMatchObject([
    {
      threadId: "agent_1",
      status: "blocked",
      activeTurnId: "run_1",
      turns: [{ turnId: "run_1", status: "running" }],
      pendingRequests: [{ actionId: "ask_1", toolCallId: "run_1/call_1", toolName: "a.b" }],
      toolCalls: [{ toolCallId: "run_1/call_1", status: "accepted", decision: "ask" }],
      permissionState: { mode: "normal", pendingActionIds: ["ask_1"] },
    },
  ]);
  expect(permissionState).toEqual({ status: "waiting", pending: 1 });
});

test("an answer, a result and an end leave nothing open", () => {
  const { threads } = take([
    ...ASKED,
    ["permission.resolved", { request_id: "ask_1", decision: "allow_once" }, CALL],
    ["tool.started", {}, CALL],
    ["tool.completed", { result: { status: "succeeded", summary: "done" } }, CALL],
    ["run.completed"],
  ]);
  expect(threads).toMatchObject([
    {
      status: "completed",
      activeTurnId: undefined,
      pendingRequests: [],
      actions: [{ actionId: "ask_1", status: "completed", decision: "allow" }],
      toolCalls: [{ status: "completed", decision: "allow", preview: "done" }],
      incidents: [],
    },
  ]);
});

test.each([
  ["run.completed", "completed"],
  ["run.failed", "failed"],
  ["run.aborted", "cancelled"],
] as const)("a thread whose last turn ended with %s is %s", (type, status) => {
  expect(take([["run.started"], [type]]).threads[0]).toMatchObject({ status });
});

test("a queued turn is in the queue of its thread", () => {
  const { threads } = take([["run.queued", { ahead: 1 }]]);
  expect(threads).toMatchObject([{ status: "queued", queuedTurns: [{ turnId: "run_1" }] }]);
});

test("failed calls are incidents, denied ones are not", () => {
  const { threads } = take([
    ["run.started"],
    ["tool.requested", {}, CALL],
    ["tool.failed", { result: { status: "failed", error: { message: "no" } } }, CALL],
    ["tool.requested", {}, { ...CALL, tool_call_id: "call_2" }],
    ["tool.denied", { result: { status: "denied" } }, { ...CALL, tool_call_id: "call_2" }],
  ]);
  expect(threads[0]?.incidents).toMatchObject([{ type: "tool.failed", message: "no" }]);
  expect(threads[0]?.toolCalls).toHaveLength(2);
});

test("tasks keep their failed attempts when they are tried again", () => {
  verifies("EXPORT-1");
  const step = { task_id: "task_1", step_id: "a" };
  const claim = (run_id: string) => ({ run_id, agent_id: "w", claimed_at: run_id });
  const { tasks, taskSummary, blockedTasks } = take([
    ["task.created", { task_id: "task_1", title: "The work" }],
    ["task.step.claimed", { ...step, title: "Do a", claim: claim("run_a") }],
    ["task.step.failed", { ...step, reason: "no", claim: claim("run_a") }],
    ["task.step.retried", step],
    ["task.step.claimed", { ...step, claim: claim("run_b") }],
    ["task.step.started", { ...step, claim: claim("run_b") }],
    ["task.blocked", { task_id: "task_1", reason: "a question" }],
  ]);
  expect(tasks).toMatchObject([
    { taskId: "task_1", title: "The work", status: "blocked", statusReason: "a question" },
    {
      taskId: "task_1/a",
      parentTaskId: "task_1",
      title: "Do a",
      status: "running",
      currentRunId: "run_b",
      attempts: [
        { runId: "run_a", status: "failed" },
        { runId: "run_b", status: "running" },
      ],
      relationships: [{ kind: "parent", targetId: "task_1" }],
    },
  ]);
  expect(taskSummary).toMatchObject({ active: 1, blocked: 1 });
  expect(blockedTasks).toEqual([{ taskId: "task_1", statusReason: "a question" }]);
});

test("the attempt of a lost worker is unknown", () => {
  const step = { task_id: "task_1", step_id: "a" };
  const claim = { run_id: "run_a", claimed_at: "t" };
  const { tasks } = take([
    ["task.step.claimed", { ...step, claim }],
    ["task.step.lease_lost", { ...step, status: "ready", claim }],
  ]);
  expect(tasks).toMatchObject([{ status: "queued", attempts: [{ status: "unknown" }] }]);
});

test("children, artifacts, tokens and costs are where they belong", () => {
  const child = { child_agent_id: "agent_2", child_run_id: "run_2" };
  const cost = { currency: "USD", micros: 7 };
  const usage = { input_tokens: 10, output_tokens: 5 };
  const answered = { request: 1, attempt: 1, usage, cost };
  const { threads } = take([
    ["run.started"],
    ["agent.child.created", { ...child, role: "explorer" }],
    ["agent.child.failed", { ...child, error: { message: "no" } }],
    ["artifact.created", { artifact_id: "art_1", size: 3 }, CALL],
    ["model.completed", answered],
    ["model.completed", answered],
    ["context.compaction.completed", { trigger: "size", node_id: "n" }],
  ]);
  expect(threads[0]).toMatchObject({
    subagents: [{ subagentId: "agent_2", status: "failed", statusReason: "no" }],
    outputs: [{ artifactId: "art_1", toolCallId: "run_1/call_1", size: 3 }],
    costState: { inputTokens: 20, outputTokens: 10, cost: [{ currency: "USD", micros: 14 }] },
    history: { compactions: 1, lastBoundary: { nodeId: "n" } },
  });
});

test("an unknown cost is null, and not nothing", () => {
  const { threads } = take([["model.completed", { request: 1, cost: null }]]);
  expect(threads[0]?.costState).toMatchObject({ cost: null });
});

test("a long session keeps what is open and the newest of what has ended", () => {
  verifies("EXPORT-1");
  const calls = Array.from({ length: 50 }, (_, i): Written[] => {
    const about = { ...CALL, tool_call_id: `next_${i}` };
    return [
      ["tool.requested", {}, about],
      ["tool.completed", { result: { status: "succeeded" } }, about],
    ];
  });
  const { threads } = take([...ASKED, ...calls.flat()], { recent: 5 });
  const [thread] = threads;
  expect(thread?.toolCalls).toHaveLength(6);
  expect(thread?.toolCalls).toMatchObject([
    { toolCallId: "run_1/next_45" },
    {},
    {},
    {},
    { toolCallId: "run_1/next_49" },
    { toolCallId: "run_1/call_1", status: "accepted" },
  ]);
  expect(thread?.history).toMatchObject({ toolCallsOmitted: 45 });
});

test("before any fact, the Lime profile has one thread that is unavailable", () => {
  expect(take([], { profile: "lime" })).toMatchObject({
    schemaVersion: "lime-profile-0.4.0",
    sessionId: "unavailable",
    threads: [{ threadId: "unavailable", status: "idle" }],
  });
  expect(take([]).threads).toEqual([]);
});
