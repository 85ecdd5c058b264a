// The rules over a log of Agent Runtime events: each is broken once, on purpose (EXPORT-1, EXPORT-2).

import { findAgentRuntimeProblems, type AgentRuntimeRule } from "@soong/export";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import { readFixture } from "./schemas.ts";

type Event = Readonly<Record<string, unknown>>;

/** Ids and sequences are given where an event has none. */
function log(...events: readonly Event[]): Event[] {
  return events.map((event, i) => ({ eventId: `e${i}`, sequence: i, ...event }));
}

function findRules(...events: readonly Event[]): AgentRuntimeRule[] {
  return findAgentRuntimeProblems(log(...events)).map(({ rule }) => rule);
}

const OF_CALL = { turnId: "t", toolCallId: "t/1" };
const TURN = { type: "turn.started", turnId: "t" };
const TURN_ENDS = { type: "turn.completed", turnId: "t" };
const STARTED = { type: "tool.started", ...OF_CALL };
const RUNNING = { type: "tool.progress", status: "running", ...OF_CALL };
const RESULT = { type: "tool.result", ...OF_CALL };

function evaluated(decision: string): Event {
  return { type: "permission.evaluated", permissionDecision: { decision }, ...OF_CALL };
}

function resolved(decision: string): Event {
  return { type: "permission.resolved", permissionDecision: { decision }, ...OF_CALL };
}

test("a log in order has no problem", () => {
  verifies("EXPORT-1");
  expect(findRules(TURN, STARTED, evaluated("allow"), RUNNING, RESULT, TURN_ENDS)).toEqual([]);
  expect(findRules(TURN, STARTED, evaluated("deny"), { ...RESULT, type: "tool.failed" })).toEqual(
    [],
  );
  expect(findRules()).toEqual([]);
});

test("an id that is used twice, or missing", () => {
  verifies("EXPORT-1");
  expect(findRules(TURN, { ...TURN_ENDS, eventId: "e0" })).toEqual(["unique_event_ids"]);
  expect(findRules({ ...TURN, eventId: "" })).toEqual(["unique_event_ids"]);
});

test("a sequence that does not grow", () => {
  verifies("EXPORT-1");
  expect(findRules(TURN, { ...TURN_ENDS, sequence: 0 })).toEqual(["monotone_sequence"]);
  expect(findRules({ ...TURN, sequence: 5 }, { ...TURN_ENDS, sequence: 4 })).toEqual([
    "monotone_sequence",
  ]);
});

test("tool.started that says that execution began", () => {
  verifies("EXPORT-2");
  // The trap: the fact of the same name, exported under its name.
  expect(findRules(TURN, evaluated("allow"), STARTED, RESULT)).toEqual([
    "tool_started_is_the_request",
    "tool_started_is_the_request",
  ]);
  expect(findRules(TURN, STARTED, evaluated("allow"), STARTED, RESULT)).toEqual([
    "tool_started_is_the_request",
  ]);
});

test("a call that no one asked for", () => {
  expect(findRules(TURN, { ...RESULT, toolCallId: "t/2" })).toEqual([
    "tool_started_is_the_request",
    "refs_resolve",
  ]);
});

test("a call that ends twice, continues after its end, or has no end", () => {
  verifies("EXPORT-1");
  const failed = { type: "tool.failed", ...OF_CALL };
  expect(findRules(TURN, STARTED, RESULT, failed)).toEqual(["one_terminal_event"]);
  expect(findRules(TURN, STARTED, evaluated("allow"), RESULT, RUNNING)).toEqual([
    "one_terminal_event",
  ]);
  expect(findRules(TURN, STARTED, TURN_ENDS)).toEqual(["one_terminal_event"]);
  // It may outlive its turn, and a live turn may have open calls.
  expect(findRules(TURN, STARTED, TURN_ENDS, RESULT)).toEqual([]);
  expect(findRules(TURN, STARTED)).toEqual([]);
});

test("a call that runs before it was allowed", () => {
  verifies("EXPORT-1");
  expect(findRules(TURN, STARTED, RUNNING, RESULT)).toEqual(["decision_before_running"]);
  expect(findRules(TURN, STARTED, evaluated("ask"), RUNNING, RESULT)).toEqual([
    "decision_before_running",
  ]);
  // The plan was judged again, and needs an answer.
  expect(findRules(TURN, STARTED, evaluated("allow"), evaluated("ask"), RUNNING, RESULT)).toEqual([
    "decision_before_running",
  ]);
});

test("a call that was allowed by the user may run, though the plan is judged once more", () => {
  const asked = [STARTED, evaluated("ask"), resolved("allow"), evaluated("ask"), RUNNING, RESULT];
  expect(findRules(TURN, ...asked)).toEqual([]);
});

test.each([evaluated("deny"), evaluated("unavailable"), resolved("deny")])(
  "a call that runs after $type $permissionDecision.decision",
  (denied) => {
    verifies("EXPORT-1");
    expect(findRules(TURN, STARTED, evaluated("allow"), denied, RUNNING, RESULT)).toEqual([
      "no_running_after_deny",
    ]);
  },
);

test("turns that start twice, end twice, or end without a start", () => {
  verifies("EXPORT-1");
  const submitted = { type: "turn.submitted", turnId: "t" };
  expect(findRules(TURN, TURN)).toEqual(["turn_pairs"]);
  expect(findRules(TURN, TURN_ENDS, TURN_ENDS)).toEqual(["turn_pairs"]);
  expect(findRules(TURN, TURN_ENDS, TURN)).toEqual(["turn_pairs"]);
  expect(findRules(TURN_ENDS)).toEqual(["turn_pairs", "refs_resolve"]);
  expect(findRules({ type: "turn.started" })).toEqual(["turn_pairs"]);
  expect(findRules(TURN, submitted)).toEqual(["turn_pairs"]);
  // A queued turn may end before it starts.
  expect(findRules(submitted, TURN_ENDS)).toEqual([]);
  expect(findRules(submitted, TURN, TURN_ENDS)).toEqual([]);
});

test("actions and attempts that end twice, or without a beginning", () => {
  verifies("EXPORT-1");
  const required = { type: "action.required", actionId: "a" };
  const answered = { type: "action.resolved", actionId: "a" };
  expect(findRules(required, answered)).toEqual([]);
  expect(findRules(required, answered, answered)).toEqual(["action_pairs"]);
  expect(findRules(answered)).toEqual(["action_pairs", "refs_resolve"]);
  const waiting = { ...required, turnId: "t" };
  expect(findRules(TURN, waiting)).toEqual([]);
  expect(findRules(TURN, waiting, TURN_ENDS)).toEqual(["action_pairs"]);
  expect(findRules(TURN, waiting, TURN_ENDS, answered)).toEqual([]);
  const begun = { type: "task.attempt.started", attemptId: "x" };
  const ended = { type: "task.attempt.failed", attemptId: "x" };
  expect(findRules(begun, ended, begun, ended)).toEqual([]);
  expect(findRules(begun, begun)).toEqual(["attempt_pairs"]);
  expect(findRules(begun, ended, ended)).toEqual(["attempt_pairs"]);
  expect(findRules(ended)).toEqual(["attempt_pairs"]);
});

test.each([
  { threadId: "x" },
  { turnId: "x" },
  { subagentId: "x" },
  { artifactId: "x" },
  { modelRequestId: "x" },
  { taskId: "x" },
  { taskId: "x/a", parentTaskId: "x", rootTaskId: "x" },
  { refs: { artifactIds: ["x"] } },
  { refs: { decisionEventId: "x" } },
])("a reference that leads nowhere: %j", (ids) => {
  verifies("EXPORT-1");
  expect(findRules({ type: "run.status", ...ids })).toEqual(["refs_resolve"]);
});

test("a reference may lead forward, and an unavailable one nowhere", () => {
  const artifact = { type: "artifact.changed", artifactId: "x" };
  expect(findRules({ type: "run.status", refs: { artifactIds: ["x"] } }, artifact)).toEqual([]);
  expect(
    findRules({ type: "tool.result", turnId: "unavailable", toolCallId: "unavailable" }),
  ).toEqual([]);
});

test("a problem names its event, and what is wrong", () => {
  const [problem] = findAgentRuntimeProblems(log(TURN, STARTED, RUNNING, RESULT));
  expect(problem).toEqual({
    rule: "decision_before_running",
    eventId: "e2",
    message: "tool.progress of t/1 runs before it was allowed",
  });
});

test("anything may be checked", () => {
  const strange = [null, 7, "x", [], {}, { type: 7 }, { type: "tool.started", toolCallId: {} }];
  const rules = findAgentRuntimeProblems(strange).map(({ rule }) => rule);
  expect(new Set(rules)).toEqual(new Set(["unique_event_ids"]));
});

test("an event of the standard's own is checked by the same rules", () => {
  const required = readFixture("tool-approval-action-required-event.json") as Event;
  const submitted = readFixture("submit-turn-event.json") as Event;
  const thread = { ...submitted, type: "thread.started", eventId: "e", sequence: 0 };
  expect(findAgentRuntimeProblems([thread, submitted, required])).toEqual([]);
});
