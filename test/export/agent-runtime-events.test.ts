// What each family of facts becomes as events of Agent Runtime (EXPORT-1, EXPORT-2).

import { createAgentRuntimeProjection, type AgentRuntimeEvent } from "@soong/export";
import type { Fact, FactType, ToolStatus } from "@soong/core";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import { writtenFact } from "../facts.ts";
import { richSession } from "../core/rich-session.ts";
import { calls, done, failed, openStage, says } from "../agent/loop-stage.ts";
import { ALLOW_ALL, writeTool } from "../agent/loop-tools.ts";
import { validateAgentRuntimeEvent } from "./schemas.ts";

type Written = readonly [type: FactType, data?: unknown, about?: Partial<Fact>];

/** Facts of one call of one run, with any data. */
function write(...facts: readonly Written[]): Fact[] {
  return facts.map(([type, data = {}, about], i) => {
    const ids = { run_id: "run_1", agent_id: "agent_1", tool_call_id: "call_1", tool_name: "a.b" };
    return writtenFact({ seq: i + 1, ...ids, ...about, type, data });
  });
}

function project(facts: readonly Fact[], profile: "core" | "lime" = "core"): AgentRuntimeEvent[] {
  const projection = createAgentRuntimeProjection({ profile });
  const events = facts.flatMap((fact) => projection.push(fact));
  const schema = profile === "lime" ? "lime" : "public";
  for (const event of events)
    expect(validateAgentRuntimeEvent(event, { profile: schema })).toEqual([]);
  return events;
}

function describeEvents(events: readonly AgentRuntimeEvent[]): string[] {
  return events.map(({ type, status }) => (status === undefined ? type : `${type} ${status}`));
}

test("tool.started means that the model asked, and comes before the decision", () => {
  verifies("EXPORT-2");
  const events = project(
    write(
      ["tool.requested", { index: 0, model_input: { path: "a" } }],
      ["tool.validated", { effects: {} }],
      ["tool.queued", { class: "parallel" }],
      ["permission.evaluated", { decision: "allow", reason: "It is.", chain: [] }],
      ["tool.started", { decision: "allow", decision_ref: "f4" }],
      ["tool.progress", { message: "half" }],
      ["tool.completed", { result: { status: "succeeded", summary: "done" }, decision_ref: "f4" }],
      ["tool.yielded", { status: "succeeded" }],
    ),
  );
  expect(describeEvents(events)).toEqual([
    "tool.started accepted",
    "tool.args",
    "tool.progress queued",
    "permission.evaluated",
    "tool.progress running",
    "tool.progress running",
    "tool.result completed",
  ]);
  expect(events[1]?.payload).toMatchObject({ safeArgs: { path: "a" } });
  const decisionEventId = "s/f4/permission.evaluated";
  expect(events[4]?.refs).toEqual({ decisionEventId });
  expect(events.at(-1)?.refs).toMatchObject({ decisionEventId });
});

test("every event of a call has its id outside the run, and the ids of thread and turn", () => {
  verifies("EXPORT-1");
  for (const event of project(write(["tool.requested"], ["tool.queued"]))) {
    expect(event).toMatchObject({
      sessionId: "s",
      threadId: "agent_1",
      turnId: "run_1",
      stepId: "run_1/call_1",
      toolCallId: "run_1/call_1",
    });
  }
});

const ENDINGS: readonly [ToolStatus, FactType, string][] = [
  ["succeeded", "tool.completed", "tool.result completed"],
  ["partial", "tool.completed", "tool.result completed"],
  ["failed", "tool.failed", "tool.failed failed"],
  ["timed_out", "tool.failed", "tool.failed timed_out"],
  ["aborted", "tool.failed", "tool.failed cancelled"],
  ["unknown", "tool.failed", "tool.failed unknown"],
  ["denied", "tool.denied", "tool.failed blocked"],
  ["rejected", "tool.denied", "tool.failed blocked"],
  ["skipped", "tool.skipped", "tool.failed cancelled"],
  ["cancelled", "tool.cancelled", "tool.failed cancelled"],
  ["discarded", "tool.discarded", "tool.failed cancelled"],
];

test.each(ENDINGS)("a call that ended as %s ends once", (status, type, expected) => {
  verifies("EXPORT-1");
  const error = { code: "x", error_class: "timeout", message: "why", retryable: true };
  const [event, ...more] = project(write([type, { result: { status, summary: "s", error } }]));
  expect(describeEvents(event ? [event] : [])).toEqual([expected]);
  expect(event?.nativeStatus).toBe(status);
  expect(more).toEqual([]);
  if (type === "tool.completed") expect(event?.payload).toMatchObject({ preview: "s" });
  else {
    expect(event?.payload).toMatchObject({ error: { category: "timeout", retryable: true } });
    expect(event?.statusReason).toBe("why");
  }
});

test("an end without a result still says how the call ended", () => {
  const events = project(
    write(["tool.completed"], ["tool.denied", null], ["tool.failed", { result: 7 }]),
  );
  expect(describeEvents(events)).toEqual([
    "tool.result completed",
    "tool.failed blocked",
    "tool.failed failed",
  ]);
});

test("an approval is a permission and an action, answered together", () => {
  verifies("EXPORT-1");
  const request = { request_id: "ask_1", reason: "It writes.", arguments: { a: 1 } };
  const events = project(
    write(
      ["tool.requested"],
      [
        "permission.evaluated",
        { decision: "ask", chain: [{ layer: "rules", rule: "r", decisive: true }] },
      ],
      ["permission.requested", { request }],
      [
        "permission.resolved",
        { request_id: "ask_1", decision: "allow_for_session", answered_by: "me" },
      ],
      ["tool.started", { decision: "allow_for_session", decision_ref: "f4" }],
    ),
  );
  expect(describeEvents(events)).toEqual([
    "tool.started accepted",
    "permission.evaluated",
    "permission.requested waiting_permission",
    "action.required waiting_permission",
    "permission.resolved completed",
    "action.resolved completed",
    "tool.progress running",
  ]);
  expect(events[1]?.permissionDecision).toMatchObject({
    decision: "ask",
    decisionSource: "rules",
    ruleRefs: ["r"],
  });
  expect(events[3]).toMatchObject({
    actionId: "ask_1",
    payload: { actionType: "tool_permission", toolName: "a.b", safeArgs: { a: 1 } },
  });
  expect(events[4]?.permissionDecision).toMatchObject({ decision: "allow", scope: "session" });
  expect(events[6]?.refs).toEqual({ decisionEventId: "s/f4/permission.resolved" });
});

test("a request that no one answers is resolved as unavailable", () => {
  const events = project(
    write(
      ["tool.requested"],
      ["permission.requested", { request: { request_id: "ask_1" } }],
      ["permission.failed", { request_id: "ask_1", message: "no one" }],
    ),
  );
  expect(events.at(-2)?.permissionDecision?.decision).toBe("unavailable");
  expect(describeEvents(events.slice(-2))).toEqual([
    "permission.resolved failed",
    "action.resolved failed",
  ]);
});

test("a call that could not ask anyone has a decision and no action", () => {
  const failing = ["permission.failed", { request_id: "ask_1", message: "no one" }] as const;
  const events = project(write(["tool.requested"], failing));
  expect(describeEvents(events)).toEqual(["tool.started accepted", "permission.evaluated"]);
  expect(events[1]?.permissionDecision?.decision).toBe("unavailable");
});

test("a call that ends while it waits for an answer withdraws its request", () => {
  const events = project(
    write(
      ["tool.requested"],
      ["permission.requested", { request: { request_id: "ask_1" } }],
      ["tool.failed", { result: { status: "aborted" } }],
    ),
  );
  expect(describeEvents(events).slice(3)).toEqual([
    "permission.resolved cancelled",
    "action.resolved cancelled",
    "tool.failed cancelled",
  ]);
});

test("a hook that denies is a decision", () => {
  const [event] = project(write(["hook.denied", { hook: "guard", reason: "no" }]));
  expect(event).toMatchObject({
    type: "permission.evaluated",
    permissionDecision: { decision: "deny", decisionSource: "hook", ruleRefs: ["hook:guard"] },
  });
});

test("a run is a turn of a thread, which starts once", () => {
  const of = (run_id: string) => ({ run_id, tool_call_id: undefined });
  const events = project(
    write(
      ["session.created"],
      ["run.started", {}, of("run_1")],
      ["run.queued", { ahead: 1 }, of("run_2")],
      ["run.completed", { reason: "completed" }, of("run_1")],
      ["run.started", {}, of("run_2")],
      ["run.aborted", { message: "stop" }, of("run_2")],
    ),
  );
  expect(describeEvents(events)).toEqual([
    "session.created idle",
    "thread.started running",
    "turn.submitted accepted",
    "turn.started running",
    "turn.submitted queued",
    "queue.changed",
    "turn.completed completed",
    "queue.changed",
    "turn.started running",
    "turn.failed cancelled",
  ]);
  expect(events.at(-1)?.statusReason).toBe("stop");
});

test("requests, fallbacks, costs and limits of models are events of their own", async () => {
  verifies("EXPORT-1");
  const stage = await openStage([
    [says("half"), failed("rate_limited")],
    [says("whole"), done()],
  ]);
  await stage.ask("go");
  const types = project(stage.facts()).map(({ type }) => type);
  expect(types.filter((type) => /^(model|rate_limit)\./u.test(type))).toEqual([
    "model.requested",
    "model.delta",
    "model.failed",
    "rate_limit.hit",
    "model.requested",
    "model.delta",
    "model.completed",
  ]);
  expect(types).toContain("routing.single_candidate");
  const cost = { currency: "USD", micros: 7 };
  const [, recorded] = project(write(["model.completed", { request: 1, attempt: 1, cost }]));
  expect(recorded).toMatchObject({
    type: "cost.recorded",
    modelRequestId: "run_1/request-1.1",
    costState: { amountMicros: 7, currency: "USD" },
  });
});

test("the steps of a task are child tasks, and their claims attempts", () => {
  verifies("EXPORT-1");
  const claim = { run_id: "run_w", agent_id: "agent_w", worker: "w/1", claimed_at: "t" };
  const step = { task_id: "task_1", step_id: "a" };
  const events = project(
    write(
      ["task.created", { task_id: "task_1", title: "The work", steps: 1 }],
      ["task.step.claimed", { ...step, attempt: 1, max_attempts: 2, claim }],
      ["task.started", { task_id: "task_1" }],
      ["task.step.started", { ...step, attempt: 1, claim }],
      ["task.step.lease_lost", { ...step, attempt: 1, reason: "silent", status: "ready", claim }],
      ["task.step.claimed", { ...step, attempt: 2, max_attempts: 2, claim }],
      ["task.step.failed", { ...step, attempt: 2, reason: "no", claim }],
      ["task.step.retried", { ...step, attempts: 2, max_attempts: 3 }],
      [
        "task.cancelled",
        { task_id: "task_1", reason: "enough", claims_ended: [{ step_id: "a", ...claim }] },
      ],
    ),
  );
  expect(describeEvents(events)).toEqual([
    "task.created accepted",
    "task.accepted accepted",
    "task.attempt.started running",
    "task.started running",
    "task.started running",
    "task.lost lost",
    "task.attempt.failed lost",
    "task.queued queued",
    "task.accepted accepted",
    "task.attempt.started running",
    "task.attempt.failed failed",
    "task.failed failed",
    "task.retrying retrying",
    "task.attempt.failed cancelled",
    "task.cancelled cancelled",
  ]);
  expect(events[2]).toMatchObject({
    taskId: "task_1/a",
    parentTaskId: "task_1",
    runId: "run_w",
    worker: { name: "w/1" },
  });
});

test("children are subagents with a thread of their own", () => {
  const child = { child_agent_id: "agent_2", child_run_id: "run_2" };
  const events = project(
    write(
      ["agent.child.created", { ...child, role: "explorer", task: "Look." }],
      ["agent.child.completed", { ...child, summary: "It is there.", artifacts: ["art_1"] }],
      ["agent.child.failed", { ...child, status: "timed_out", error: { message: "late" } }],
      ["agent.child.cancelled", child],
    ),
  );
  expect(describeEvents(events)).toEqual([
    "subagent.spawned running",
    "subagent.completed completed",
    "subagent.failed timed_out",
    "subagent.closed cancelled",
  ]);
  expect(events[1]).toMatchObject({ subagentId: "agent_2", refs: { artifactIds: ["art_1"] } });
});

test("what was cut off a result is spilled and truncated output", () => {
  const events = project(
    write(
      ["artifact.created", { artifact_id: "art_1", media_type: "text/plain", size: 9 }],
      ["output.truncated", { original_chars: 9, kept_chars: 3, artifact_id: "art_1" }],
      ["output.truncated", { original_chars: 9, kept_chars: 3 }],
      ["output.redacted", { replacements: 1 }],
    ),
  );
  expect(events.map(({ type, outputRef }) => [type, outputRef])).toEqual([
    ["artifact.changed", "artifact:art_1"],
    ["output.spilled", "artifact:art_1"],
    ["output.truncated", "artifact:art_1"],
    ["output.truncated", undefined],
    ["output.redacted", undefined],
  ]);
});

test("a catalog has a step, and in the Lime profile a call of that name", () => {
  verifies("EXPORT-1");
  const facts = write(["tool.catalog.resolved", { revision: 3, tools: [{ tool_name: "a.b" }] }]);
  const catalog = facts.map((fact) => ({ ...fact, tool_call_id: undefined }));
  expect(project(catalog)[0]).toMatchObject({ stepId: "run_1/catalog-3", toolCallId: undefined });
  expect(project(catalog, "lime")[0]).toMatchObject({
    schemaVersion: "lime-profile-0.4.0",
    runtimeId: "soong",
    toolCallId: "run_1/catalog-3",
  });
});

test("in the Lime profile an id that a fact lacks is unavailable", () => {
  const [event] = project([writtenFact({ type: "tool.queued" })], "lime");
  expect(event).toMatchObject({
    threadId: "unavailable",
    turnId: "unavailable",
    stepId: "unavailable",
    toolCallId: "unavailable",
  });
});

test("several events of one type have ids of their own", () => {
  const claims = ["a", "b"].map((step_id) => ({ step_id, run_id: "r", claimed_at: "t" }));
  const events = project(write(["task.failed", { task_id: "task_1", claims_ended: claims }]));
  expect(events.map(({ eventId }) => eventId)).toEqual([
    "s/f1/task.attempt.failed",
    "s/f1/task.attempt.failed/2",
    "s/f1/task.failed",
  ]);
});

test("a time that is none is that of the fact before", () => {
  const times = ["2026-01-01T00:00:00.000Z", "2026-02-30T00:00:00Z", "now", 7, undefined];
  const facts = times.map((time) => writtenFact({ type: "session.created", time: time as string }));
  expect(project(facts).map(({ timestamp }) => timestamp)).toEqual(times.map(() => times[0]));
  expect(project(facts.slice(1))[0]?.timestamp).toBe("1970-01-01T00:00:00.000Z");
});

test("an unknown type of fact, and what is no fact, have no event", () => {
  const projection = createAgentRuntimeProjection();
  const strange = [null, 7, "x", [], {}, { type: "__proto__" }, { type: "a.b" }, { type: 7 }];
  for (const fact of strange) expect(projection.push(fact as never)).toEqual([]);
  expect(projection.end()).toEqual([]);
});

test("no secret is in the events of a session that has seen one", async () => {
  verifies("EXPORT-1");
  const stage = await richSession();
  const text = JSON.stringify(project(stage.facts()));
  expect(text).not.toContain("s3cr3t-value-0001");
  expect(text).toContain("tool.result");
});

test("an answer that is thrown away leaves its calls discarded", async () => {
  const written: string[] = [];
  const stage = await openStage(
    [
      [calls("a__write", {}, "1"), failed("authentication")],
      [says("ok"), done()],
    ],
    { tools: [writeTool("a.write", written)], sessionOptions: { policy: ALLOW_ALL } },
  );
  await stage.ask("go");
  const events = project(stage.facts());
  const ends = events.filter(({ type }) => type === "tool.result" || type === "tool.failed");
  expect(ends).toHaveLength(events.filter(({ type }) => type === "tool.started").length);
});
