import { findAgentToolProblems, type AgentToolRule } from "@soong/export";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import {
  CALL,
  endedAs,
  exportRecords,
  readRecords,
  RUN,
  STARTED,
  writeFacts,
  type Written,
} from "./agent-tool-stage.ts";

type AnyRecord = Record<string, unknown>;

const HOOK = { hook: "up", event: "PreToolUse" };
const ARTIFACT = { artifact_id: "art", media_type: "text/plain", size: 1, sha256: "ab" };

/** A sound log with records of nearly all kinds. */
function soundLog(): AnyRecord[] {
  const facts: Written[] = [
    ...RUN,
    ...STARTED.slice(0, 3),
    ["hook.started", HOOK],
    ["hook.completed", { ...HOOK, outcome: "input" }],
    ["input.mutated", { source: "hook:up", observable_input: {} }],
    ...STARTED.slice(3),
    ["tool.progress", { message: "half" }],
    ["tool.progress", { message: "all" }],
    [
      "tool.completed",
      endedAs(
        "succeeded",
        { artifacts: [ARTIFACT] },
        { truncation: { original_chars: 9, kept_chars: 1, artifact_id: "art" } },
      ),
    ],
    ["tool.yielded", { status: "succeeded" }],
  ];
  const records: unknown = readRecords(exportRecords(writeFacts(facts)));
  return records as AnyRecord[];
}

/** Where an event of the log is. */
function placeOf(log: readonly AnyRecord[], event: string): number {
  return log.findIndex(({ event_type }) => event_type === `tool.${event}`);
}

function without(log: readonly AnyRecord[], wanted: (record: AnyRecord) => boolean): AnyRecord[] {
  return log.filter((record) => !wanted(record));
}

function changed(
  log: readonly AnyRecord[],
  kind: string,
  change: (record: AnyRecord) => AnyRecord,
): AnyRecord[] {
  return log.map((record) => (record["record_type"] === kind ? change(record) : record));
}

/** The event, moved to just before another. */
function movedBefore(log: readonly AnyRecord[], event: string, other: string): AnyRecord[] {
  const moved = log[placeOf(log, event)]!;
  const rest = log.filter((record) => record !== moved);
  return rest.toSpliced(placeOf(rest, other), 0, moved);
}

const is =
  (kind: string) =>
  ({ record_type }: AnyRecord): boolean =>
    record_type === kind;
const isEvent =
  (event: string) =>
  ({ event_type }: AnyRecord): boolean =>
    event_type === `tool.${event}`;

const BREAKS: readonly (readonly [
  what: string,
  rule: AgentToolRule,
  change: (log: AnyRecord[]) => unknown[],
])[] = [
  ["a record of no known kind", "known_record_type", (log) => [...log, { record_type: "x" }]],
  ["a line that is no record", "known_record_type", (log) => [...log, 7]],
  [
    "two events of one id",
    "unique_ids",
    (log) => changed(log, "tool_event", (event) => ({ ...event, event_id: "e" })),
  ],
  [
    "two decisions of one id",
    "unique_ids",
    (log) => [...log, log.find(is("tool_permission_decision"))],
  ],
  [
    "an event without an id",
    "unique_ids",
    (log) => changed(log, "tool_event", (event) => ({ ...event, event_id: undefined })),
  ],
  [
    "events that count backwards",
    "monotone_sequence",
    (log) => {
      let left = log.length;
      return changed(log, "tool_event", (event) => ({ ...event, sequence: (left -= 1) }));
    },
  ],
  [
    "two events of one fact with one number",
    "monotone_sequence",
    (log) =>
      changed(log, "tool_event", (event) => ({
        ...event,
        sequence: Math.floor(Number(event["sequence"]) / 1e6),
      })),
  ],
  [
    "progress that repeats its number",
    "monotone_sequence",
    (log) => changed(log, "tool_progress", (progress) => ({ ...progress, sequence: 1 })),
  ],
  ["an invocation without a result", "one_result", (log) => without(log, is("tool_result"))],
  [
    "two results",
    "one_result",
    (log) =>
      log.flatMap((record) =>
        is("tool_result")(record) ? [record, { ...record, result_id: "x" }] : [record],
      ),
  ],
  [
    "an invocation without an end",
    "one_result",
    (log) => without(log, isEvent("invocation.succeeded")),
  ],
  [
    "two ends",
    "one_result",
    (log) =>
      log.flatMap((record) =>
        isEvent("invocation.succeeded")(record) ? [record, { ...record, event_id: "x" }] : [record],
      ),
  ],
  [
    "a last record that is not of its end",
    "one_result",
    (log) => changed(log, "tool_invocation", (record) => ({ ...record, status: "running" })),
  ],
  [
    "an end before the result",
    "one_result",
    (log) => {
      const end = log.find(isEvent("invocation.succeeded"));
      const rest = log.filter((record) => record !== end);
      return rest.toSpliced(rest.findIndex(is("tool_result")), 0, end!);
    },
  ],
  [
    "a start without a decision",
    "decision_before_start",
    (log) => without(log, is("tool_permission_decision")),
  ],
  [
    "a start while approval is awaited",
    "decision_before_start",
    (log) =>
      changed(log, "tool_permission_decision", (decision) => ({ ...decision, behavior: "ask" })),
  ],
  [
    "a decision after the start",
    "decision_before_start",
    (log) => {
      const decision = log.find(is("tool_permission_decision"))!;
      const rest = log.filter((record) => record !== decision);
      return rest.toSpliced(placeOf(rest, "invocation.started") + 1, 0, decision);
    },
  ],
  [
    "a start after a deny",
    "no_start_after_deny",
    (log) =>
      changed(log, "tool_permission_decision", (decision) => ({ ...decision, behavior: "deny" })),
  ],
  [
    "a start where the model asked",
    "started_is_execution",
    (log) => movedBefore(log, "invocation.started", "invocation.arguments_ready"),
  ],
  [
    "a start of a call that was refused",
    "started_is_execution",
    (log) => changed(log, "tool_result", (result) => ({ ...result, status: "rejected" })),
  ],
  [
    "a start of a call with invalid arguments",
    "started_is_execution",
    (log) =>
      log.flatMap((record) =>
        isEvent("result.created")(record)
          ? [record, { ...record, event_id: "x", event_type: "tool.invocation.validation_failed" }]
          : [record],
      ),
  ],
  [
    "two starts",
    "started_is_execution",
    (log) =>
      log.flatMap((record) =>
        isEvent("invocation.started")(record) ? [record, { ...record, event_id: "x" }] : [record],
      ),
  ],
  [
    "a start that the invocation does not know of",
    "started_is_execution",
    (log) => changed(log, "tool_invocation", (record) => ({ ...record, started_at: undefined })),
  ],
  [
    "a start without its event",
    "started_is_execution",
    (log) => without(log, isEvent("invocation.started")),
  ],
  ...["tool_progress", "tool_permission_decision", "tool_invocation", "tool_result"].map(
    (kind) =>
      [
        `a ${kind} after the end`,
        "nothing_after_end",
        (log: AnyRecord[]) => [...log, log.find(is(kind))],
      ] as const,
  ),
  [
    "an event after the end",
    "nothing_after_end",
    (log) => [...log, { ...log[placeOf(log, "invocation.queued")], event_id: "x" }],
  ],
];

test("a log of this package breaks no rule", () => {
  expect(findAgentToolProblems(soundLog())).toEqual([]);
});

test.each(BREAKS)("%s breaks %s", (_, rule, change) => {
  verifies("EXPORT-1");
  const rules = findAgentToolProblems(change(soundLog())).map((problem) => problem.rule);
  expect(rules).toContain(rule);
});

test("a start that only asks for the tool is found, as in Agent Runtime", () => {
  verifies("EXPORT-2");
  const log = movedBefore(soundLog(), "invocation.started", "invocation.selected");
  const problems = findAgentToolProblems(log);
  expect(problems.map(({ rule, id }) => [rule, id])).toContainEqual(["started_is_execution", CALL]);
});

test.each([
  "tool_declaration",
  "tool_interface",
  "tool_permission_profile",
  "tool_execution_profile",
  "tool_scheduler_policy",
  "tool_surface",
  "tool_invocation",
  "tool_permission_decision",
  "tool_hook",
  "tool_result",
  "tool_result_persistence",
])("a log without its records of %s has references that lead nowhere", (kind) => {
  verifies("EXPORT-1");
  const problems = findAgentToolProblems(without(soundLog(), is(kind)));
  expect(problems.map(({ rule }) => rule)).toContain("refs_resolve");
});

test.each([
  ["tool_invocation", "tool_id"],
  ["tool_invocation", "surface_id"],
  ["tool_invocation", "parent_invocation_id"],
  ["tool_invocation", "scheduler_policy_ref"],
  ["tool_invocation", "execution_profile_ref"],
  ["tool_invocation", "call_input_ref"],
  ["tool_permission_decision", "invocation_id"],
  ["tool_hook", "tool_id"],
  ["tool_input_mutation", "source_ref"],
  ["tool_input_mutation", "from_input_ref"],
  ["tool_progress", "invocation_id"],
  ["tool_result_persistence", "result_id"],
  ["tool_event", "tool_id"],
  ["deferred_tool_ref", "tool_id"],
])("a %s whose %s is of no record is found", (kind, field) => {
  const log = changed(soundLog(), kind, (record) => ({ ...record, [field]: "nowhere" }));
  const problems = findAgentToolProblems(log);
  expect(problems.map(({ rule, id }) => [rule, id])).toContainEqual(["refs_resolve", "nowhere"]);
});

test.each([
  ["tool_invocation", { permission_decision_refs: ["nowhere"] }],
  ["tool_invocation", { hook_refs: ["nowhere"] }],
  ["tool_surface", { tool_refs: ["nowhere"] }],
  ["tool_surface", { deferred_tools: [{ tool_id: "nowhere" }] }],
  ["tool_surface", { blocked_tools: [{ tool_id: "nowhere" }] }],
  ["tool_result", { persistence_refs: ["nowhere"] }],
  ["tool_result", { artifact_refs: [{ artifact_id: "nowhere" }] }],
  ["tool_result", { error: { sibling_invocation_id: "nowhere" } }],
  ["tool_result_persistence", { persisted_ref: { artifact_id: "nowhere" } }],
  ["tool_result_persistence", { persisted_ref: {} }],
])("a %s with %j is found", (kind, fields) => {
  const log = changed(soundLog(), kind, (record) => ({ ...record, ...fields }));
  const problems = findAgentToolProblems(log);
  expect(problems.map(({ rule }) => rule)).toContain("refs_resolve");
});

test("a tool that no one declared may be requested", () => {
  const log = changed(soundLog(), "tool_event", (event) =>
    event["invocation_id"] === CALL ? { ...event, tool_id: "unknown:x" } : event,
  );
  expect(findAgentToolProblems(log)).toEqual([]);
});
