// Facts as CloudEvents 1.0 (EXPORT-1).

import { createCloudEventsProjection, invocationId } from "@soong/export";
import type { Fact } from "@soong/core";
import fc from "fast-check";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import { omitResultBytes } from "../../packages/export/src/projection/omit-bytes.ts";
import "../property-seed.ts";
import { writtenFact } from "../facts.ts";
import { findEventProblems } from "./cloud-events-rules.ts";
import { damagedFacts } from "./damaged-facts.ts";
import { recordRuns } from "./recorded-runs.ts";

const runs = await recordRuns();

type Written = Record<string, unknown> & { id: string; source: string; sequence?: string };

/** As they are written. */
function project(facts: readonly Fact[]): Written[] {
  const projection = createCloudEventsProjection();
  const events = [...facts.flatMap((fact) => projection.push(fact)), ...projection.end()];
  return events.map((event) => JSON.parse(JSON.stringify(event)) as Written);
}

test.each(runs)("$name gives one valid event for each fact, with its data", ({ facts }) => {
  verifies("EXPORT-1");
  const events = project(facts);
  expect(events).toHaveLength(facts.length);
  for (const event of events) expect(findEventProblems(event)).toEqual([]);
  expect(events.map(({ data }) => data)).toEqual(facts.map(({ data }) => omitResultBytes(data)));
  const keys = events.map(({ source, id }) => `${source} ${id}`);
  expect(new Set(keys).size).toBe(keys.length);
  const sequences = events.map(({ sequence = "" }) => sequence);
  expect(sequences).toEqual(sequences.toSorted((a, b) => (a < b ? -1 : 1)));
});

test("a fact of a call says whose it is", () => {
  verifies("EXPORT-1");
  const fact = writtenFact({
    type: "tool.started",
    seq: 12,
    run_seq: 3,
    run_id: "run_1",
    agent_id: "agent_1",
    parent_run_id: "run_0",
    parent_agent_id: "agent_0",
    tool_call_id: "call_1",
    tool_name: "a.b",
    data: { decision: "allow" },
  });
  expect(project([fact])).toEqual([
    {
      specversion: "1.0",
      id: "f12",
      source: "/soong/sessions/s",
      type: "soong.tool.started",
      time: "2026-01-01T00:00:00.000Z",
      subject: "runs/run_1/calls/call_1",
      datacontenttype: "application/json",
      sequence: "0000000000000012",
      runsequence: 3,
      level: "info",
      runid: "run_1",
      agentid: "agent_1",
      parentrunid: "run_0",
      parentagentid: "agent_0",
      toolcallid: "run_1/call_1",
      toolname: "a.b",
      data: { decision: "allow" },
    },
  ]);
});

test("a fact of the session has no subject", () => {
  const [event] = project([writtenFact({ type: "session.created" })]);
  expect(event).not.toHaveProperty("subject");
  expect(event).not.toHaveProperty("runid");
});

test("ids that a model has made up cannot break the event", () => {
  verifies("EXPORT-1");
  const ids = ["a b/c?d#e", "..", "\u0000\u001b[2J", "\ud800", "\uFFFE", "ä\n", "%zz"];
  for (const id of ids) {
    const fact = writtenFact({
      type: "tool.queued",
      session_id: id,
      run_id: id,
      tool_call_id: id,
      tool_name: id,
      id,
    });
    const [event = {}] = project([fact]);
    expect(findEventProblems(event)).toEqual([]);
  }
  const [event] = project([writtenFact({ type: "tool.queued", session_id: "../.." })]);
  expect(event?.source).toBe("/soong/sessions/..%2F..");
  const [up] = project([writtenFact({ type: "tool.queued", session_id: ".." })]);
  expect(up?.source).toBe("/soong/sessions/%2E%2E");
});

test("damaged facts give valid events, and what is no fact none", () => {
  verifies("EXPORT-1");
  const recorded = runs.map(({ facts }) => facts);
  fc.assert(
    fc.property(damagedFacts(recorded), (facts) => {
      for (const event of project(facts)) expect(findEventProblems(event)).toEqual([]);
    }),
  );
  const strange = [null, 7, "x", [], {}, { type: "" }, { type: 7 }] as never[];
  expect(project(strange)).toEqual([]);
});

test("facts without an id are told apart", () => {
  const facts = [1, 2].map((seq) => writtenFact({ type: "session.created", seq, id: "" }));
  expect(project(facts).map(({ id }) => id)).toEqual(["unnamed-1", "unnamed-2"]);
});

test("a type of fact that this version does not know is an event, too", () => {
  const fact = writtenFact({ type: "new.thing" as "error", data: { a: 1 } });
  expect(project([fact])).toMatchObject([{ type: "soong.new.thing", data: { a: 1 } }]);
});

test.each([
  [{ id: "" }, "id is missing"],
  [{ source: undefined }, "source is missing"],
  [{ source: "a b" }, "source is no URI reference"],
  [{ source: "%z" }, "source is no URI reference"],
  [{ specversion: "0.3" }, "specversion is not 1.0"],
  [{ type: "" }, "type is missing"],
  [{ run_id: "x" }, "run_id is no name of an attribute"],
  [{ runId: "x" }, "runId is no name of an attribute"],
  [{ extra: {} }, "extra is of no type that attributes have"],
  [{ extra: null }, "extra is of no type that attributes have"],
  [{ count: 2 ** 31 }, "count is no 32-bit integer"],
  [{ count: 0.5 }, "count is no 32-bit integer"],
  [{ extra: "\u0007" }, "extra has characters that are not allowed"],
  [{ time: "2026-01-01" }, "time is not of RFC 3339"],
  [{ subject: "" }, "subject is empty"],
  [{ sequence: "" }, "sequence is empty"],
  [{ datacontenttype: "json" }, "datacontenttype is no media type"],
  [{ data: 1, data_base64: "" }, "there are two kinds of data"],
])("the rules find %j", (change, problem) => {
  const event = { specversion: "1.0", id: "1", source: "/a", type: "b" };
  expect(findEventProblems(event)).toEqual([]);
  expect(findEventProblems({ ...event, ...change })).toContain(problem);
});

test("the id of a call outside its run is the same in every export", () => {
  expect(invocationId({ run_id: "r", tool_call_id: "c" })).toBe("r/c");
  expect(invocationId({ tool_call_id: "c" })).toBe("c");
  expect(invocationId({ run_id: "r" })).toBeUndefined();
  expect(invocationId({ run_id: 7, tool_call_id: "" } as never)).toBeUndefined();
});
