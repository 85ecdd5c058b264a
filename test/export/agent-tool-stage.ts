// Facts of one call as any version of the journal may have them, and the records that they become.

import type { Fact, FactType } from "@soong/core";
import {
  createAgentToolProjection,
  findAgentToolProblems,
  type AgentToolOptions,
  type AgentToolRecord,
  type AgentToolRecordType,
} from "@soong/export";
import { expect } from "vitest";
import { writtenFact } from "../facts.ts";
import { validateAgentTool } from "./schemas.ts";

export function exportRecords(
  facts: readonly Fact[],
  options?: AgentToolOptions,
): AgentToolRecord[] {
  const projection = createAgentToolProjection(options);
  return [...facts.flatMap((fact) => projection.push(fact)), ...projection.end()];
}

/** As a reader of the export has them. */
export function readRecords(records: readonly AgentToolRecord[]): AgentToolRecord[] {
  return JSON.parse(JSON.stringify(records)) as AgentToolRecord[];
}

/** No schema refuses a record. */
export function expectValid(records: readonly AgentToolRecord[]): void {
  for (const record of [...records, ...readRecords(records)]) {
    // With the record, so that a failure shows it.
    const problems = validateAgentTool(record);
    expect(problems.length === 0 ? [] : [...problems, record]).toEqual([]);
  }
}

/** No schema refuses a record, and no rule is broken. */
export function expectSound(records: readonly AgentToolRecord[]): void {
  expectValid(records);
  expect(findAgentToolProblems(records)).toEqual([]);
  expect(findAgentToolProblems(readRecords(records))).toEqual([]);
}

export function recordsOf<Kind extends AgentToolRecordType>(
  records: readonly AgentToolRecord[],
  kind: Kind,
): Extract<AgentToolRecord, { record_type: Kind }>[] {
  type Wanted = Extract<AgentToolRecord, { record_type: Kind }>;
  return records.filter((record): record is Wanted => record.record_type === kind);
}

/** The types of the events of one call, or of all. */
export function eventsOf(records: readonly AgentToolRecord[], call?: string): string[] {
  return recordsOf(records, "tool_event")
    .filter(({ invocation_id }) => call === undefined || invocation_id === call)
    .map(({ event_type }) => event_type);
}

/** The last record of the only call. */
export function lastInvocation(
  records: readonly AgentToolRecord[],
): Extract<AgentToolRecord, { record_type: "tool_invocation" }> {
  const last = recordsOf(records, "tool_invocation").at(-1);
  if (last === undefined) throw new Error("there is no invocation");
  return last;
}

export type Written = readonly [type: FactType, data?: unknown];

/** The first facts of a run with the tools `text.echo` and `text.later`. */
export const RUN: readonly Written[] = [
  [
    "run.started",
    {
      role: "main",
      mode: "normal",
      policy: { network: { mode: "ask" }, sandbox: { mode: "on" } },
      config: {
        tools: {
          default_timeout_ms: 1000,
          max_timeout_ms: 9000,
          max_concurrency: 4,
          inline_limit_bytes: 64,
        },
      },
      request: { profile: { id: "portable" }, suggested_tools: ["text.echo"] },
    },
  ],
  [
    "tool.catalog.resolved",
    {
      revision: 1,
      tools: [
        {
          tool_name: "text.echo",
          state: "loaded",
          description: "Echo",
          input_schema: { type: "object" },
          capabilities: ["write"],
          policy: "ask",
          runtime_owner: "local",
          is_read_only: false,
          is_destructive: false,
          is_open_world: false,
          is_concurrency_safe: false,
        },
        { tool_name: "text.later", state: "deferred", description: "Later", policy: "allowed" },
      ],
    },
  ],
];

/** A call that was allowed, up to its start. */
export const STARTED: readonly Written[] = [
  ["tool.requested", { index: 0, surface_revision: 1, model_input: '{"text":"hi"}' }],
  ["tool.validated", { effects: {} }],
  ["tool.queued", { class: "write" }],
  [
    "permission.evaluated",
    {
      decision: "allow",
      reason: "A rule allows it.",
      chain: [{ layer: "rules", rule: "rules[0]", verdict: "allow", decisive: true }],
    },
  ],
  ["tool.started", { decision: "allow", class: "write", effects: { read_only: false } }],
];

/** The id of the call in the export. */
export const CALL = "r/c";

/** Facts in this order, of one run and, from its request on, of one call of `tool_name`. */
export function writeFacts(
  list: readonly Written[],
  { tool_name = "text.echo" }: { readonly tool_name?: string } = {},
): Fact[] {
  return list.map(([type, data], i) => {
    const isOfCall = !OF_RUN.test(type);
    return writtenFact({
      seq: i + 1,
      time: new Date(Date.UTC(2026, 0, 1) + i).toISOString(),
      type,
      run_id: "r",
      agent_id: "a",
      ...(isOfCall ? { tool_call_id: "c", tool_name } : {}),
      ...(data === undefined ? {} : { data }),
    });
  });
}

const OF_RUN = /^(?:run|session|tool\.catalog|tool\.deferred)\./u;

/** The terminal data of a call. */
export function endedAs(status: string, more: object = {}, metadata: object = {}): object {
  return {
    result: {
      tool_call_id: "c",
      tool_name: "text.echo",
      status,
      is_error: status !== "succeeded" && status !== "partial",
      content: [{ type: "text", text: "hi" }],
      summary: "hi",
      artifacts: [],
      metadata: { duration_ms: 3, provenance: {}, ...metadata },
      ...more,
    },
  };
}
