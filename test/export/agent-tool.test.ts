import {
  createAgentToolProjection,
  AGENT_TOOL_UNMAPPED,
  type AgentToolRecord,
} from "@soong/export";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { expectSound, exportRecords, readRecords, recordsOf } from "./agent-tool-stage.ts";
import { FACT_TYPES, recordRuns } from "./recorded-runs.ts";
import { AGENT_TOOL_SCHEMAS } from "./schemas.ts";

const runs = await recordRuns();

test.each(runs)("no schema refuses a record of $name, and no rule is broken", ({ facts }) => {
  verifies("EXPORT-1", "EXPORT-2");
  expectSound(exportRecords(facts));
});

test("each call of the recorded runs has one result", () => {
  verifies("EXPORT-1");
  for (const { facts } of runs) {
    const requested = facts.filter(({ type }) => type === "tool.requested");
    const calls = new Set(requested.map((fact) => `${fact.run_id}/${fact.tool_call_id}`));
    const results = recordsOf(exportRecords(facts), "tool_result");
    expect(results.map(({ invocation_id }) => invocation_id).toSorted()).toEqual(
      [...calls].toSorted(),
    );
  }
});

test("execution begins in the export where it began in the journal, and nowhere else", () => {
  verifies("EXPORT-2");
  for (const { facts } of runs) {
    const began = facts.filter(({ type }) => type === "tool.started");
    const events = recordsOf(exportRecords(facts), "tool_event").filter(
      ({ event_type }) => event_type === "tool.invocation.started",
    );
    expect(
      events.map(({ sequence, invocation_id }) => [Math.floor(sequence / 1e6), invocation_id]),
    ).toEqual(began.map(({ seq, run_id, tool_call_id }) => [seq, `${run_id}/${tool_call_id}`]));
  }
});

test("the recorded runs become records of all kinds", () => {
  const kinds = new Set(
    runs.flatMap(({ facts }) => exportRecords(facts).map((r) => r.record_type)),
  );
  expect([...kinds].toSorted()).toEqual(Object.keys(AGENT_TOOL_SCHEMAS).toSorted());
});

test("each type of fact has records, a reason to have none, or adds to records of others", () => {
  const unmapped = Object.keys(AGENT_TOOL_UNMAPPED);
  expect(unmapped.filter((type) => !FACT_TYPES.some((known) => known === type))).toEqual([]);
  for (const type of unmapped) {
    const projection = createAgentToolProjection();
    const facts = runs.flatMap((run) => run.facts).filter((fact) => fact.type === type);
    expect(facts.flatMap((fact) => projection.push(fact))).toEqual([]);
  }
});

test("without content the export has no argument, no result and no text about them", () => {
  const words = ["model_input", "call_input", "content", "structured_content", "summary"];
  for (const { facts } of runs) {
    const records = readRecords(exportRecords(facts, { content: "omit" }));
    expectSound(records);
    for (const record of records) {
      expect(Object.keys(record).filter((field) => words.includes(field))).toEqual([]);
    }
    for (const { strategy } of recordsOf(records, "tool_result_persistence")) {
      expect(["never_persist", "drop_with_reason"]).toContain(strategy);
    }
  }
});

test("an export of some of the runs is sound", () => {
  for (const { facts } of runs) {
    const ids = [...new Set(facts.map(({ run_id }) => run_id))];
    for (const id of ids) {
      const records: AgentToolRecord[] = exportRecords(facts.filter(({ run_id }) => run_id === id));
      expectSound(records);
    }
  }
});
