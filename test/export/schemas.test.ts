import { expect, test } from "vitest";
import {
  AGENT_TOOL_SCHEMAS,
  readFixture,
  validateAgentRuntimeEvent,
  validateAgentRuntimeSnapshot,
  validateAgentTool,
} from "./schemas.ts";

const EVENT_FIXTURES = [
  "evidence-export-event.json",
  "routing-single-candidate-event.json",
  "submit-turn-event.json",
  "task-retry-attempt-failed-event.json",
  "tool-approval-action-required-event.json",
];

test.each(EVENT_FIXTURES)("the example %s is valid in both profiles", (name) => {
  const event = readFixture(name);
  expect(validateAgentRuntimeEvent(event)).toEqual([]);
  expect(validateAgentRuntimeEvent(event, { profile: "lime" })).toEqual([]);
});

test("the example of a snapshot is valid in both profiles", () => {
  const snapshot = readFixture("thread-read-snapshot.json");
  expect(validateAgentRuntimeSnapshot(snapshot)).toEqual([]);
  expect(validateAgentRuntimeSnapshot(snapshot, { profile: "lime" })).toEqual([]);
});

test("an event without a zone in its time, or of an unknown type, is refused", () => {
  const event = { type: "tool.started", eventId: "e1", timestamp: "2026-05-11T10:00:00Z" };
  expect(validateAgentRuntimeEvent(event)).toEqual([]);
  expect(validateAgentRuntimeEvent({ ...event, timestamp: "2026-05-11T10:00:00" })).not.toEqual([]);
  expect(validateAgentRuntimeEvent({ ...event, type: "tool.thought" })).not.toEqual([]);
  expect(validateAgentRuntimeEvent(event, { profile: "lime" })).not.toEqual([]);
});

test.each(Object.keys(AGENT_TOOL_SCHEMAS))("an empty %s is refused", (record_type) => {
  expect(validateAgentTool({ record_type })).not.toEqual([]);
});

test("a record of no kind, null fields and values that only the prose lists are refused", () => {
  const result = {
    record_type: "tool_result",
    schema_version: "0.2.0",
    result_id: "r",
    invocation_id: "i",
    status: "succeeded",
    created_at: "2026-05-11T10:00:00Z",
  };
  expect(validateAgentTool(result)).toEqual([]);
  expect(validateAgentTool({ ...result, record_type: "tool_thought" })).not.toEqual([]);
  expect(validateAgentTool({ ...result, summary: null })).not.toEqual([]);
  expect(validateAgentTool({ ...result, status: "cancelled" })).not.toEqual([]);
  expect(validateAgentTool({ ...result, error: { error_class: "oops" } })).not.toEqual([]);
  expect(validateAgentTool({ ...result, created_at: "yesterday" })).not.toEqual([]);
  expect(validateAgentTool({ ...result, schema_version: "0.1.0" })).not.toEqual([]);
});
