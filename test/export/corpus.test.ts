// Every recorded run in every format (EXPORT-1): no record that a schema refuses, no log that breaks a rule, no fact that is neither
// mapped nor left out with a reason.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Fact } from "@soong/core";
import { createAgentRuntimeProjection, createAgentToolProjection } from "@soong/export";
import { verifies } from "#laws";
import { describe, expect, test } from "vitest";
import { factsOfCalls } from "../cli/export-stage.ts";
import { factsOfTypes, writtenFact } from "../facts.ts";
import { exportFacts, FORMATS } from "./formats.ts";
import { FACT_TYPES, recordRuns } from "./recorded-runs.ts";

const runs = await recordRuns();

test("the recorded runs hold every type of fact", () => {
  verifies("EXPORT-1");
  expect(runs.length).toBeGreaterThanOrEqual(40);
  const seen = new Set(runs.flatMap(({ facts }) => facts.map(({ type }) => type)));
  expect(FACT_TYPES.filter((type) => !seen.has(type))).toEqual([]);
});

describe.each(FORMATS)("$name", ({ name, create, findProblems, unmapped, repeated = [] }) => {
  test.each(runs)("of $name has no problem, live and stored", ({ facts, live }) => {
    verifies("EXPORT-1");
    const projection = create();
    // What was given out does not change afterwards: it may have been sent.
    const given: string[] = [];
    const records = live.flatMap((fact) => {
      const ofFact = projection.push(fact);
      given.push(...ofFact.map(writeRecord));
      return ofFact;
    });
    const last = projection.end();
    const lines = [...records, ...last].map(writeRecord);
    expect(lines).toEqual([...given, ...last.map(writeRecord)]);
    expect(exportFacts(create(), facts).map(writeRecord)).toEqual(lines);
    expect(findProblems(lines.map((line) => JSON.parse(line) as object))).toEqual([]);
  });

  const listed = Object.keys(unmapped);

  test("has something of every fact that is not left out, and nothing of one that is", () => {
    verifies("EXPORT-1");
    const leftOut = FACT_TYPES.filter((type) => !isSaid(type));
    // A snapshot is of what is, not of all that happened: it may leave out more.
    if (name.includes("snapshot")) expect(leftOut).toEqual(expect.arrayContaining(listed));
    else expect(leftOut.toSorted()).toEqual([...listed, ...repeated].toSorted());
    for (const reason of Object.values(unmapped)) expect(reason?.length).toBeGreaterThan(10);
  });

  /** Whether any export would be another without the facts of this type. */
  function isSaid(type: string): boolean {
    return runs.some(({ facts }) => {
      const others = facts.filter((fact) => fact.type !== type);
      return others.length < facts.length && write(facts) !== write(others);
    });
  }

  function write(facts: readonly Fact[]): string {
    return exportFacts(create(), facts).map(writeRecord).join("\n");
  }
});

describe("memory", () => {
  /** After a full collection: what is left is held by someone. */
  function measureHeap(): number {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    collect();
    return process.memoryUsage().heapUsed;
  }

  test.each(FORMATS)("$name keeps what is open, however many facts there are", ({ create }) => {
    verifies("EXPORT-1");
    const projection = create();
    let pushed = 0;
    let records = 0;
    let early = 0;
    for (const fact of factsOfCalls("session_big", CALLS)) {
      records += projection.push(fact).length;
      pushed += 1;
      if (pushed === 10_000) early = measureHeap();
    }
    const grown = measureHeap() - early;
    records += projection.end().length;
    expect(pushed).toBeGreaterThan(50_000);
    expect(records).toBeGreaterThan(0);
    // The 40 000 facts between the two looks are 20 MB of JSON.
    expect(grown).toBeLessThan(1_000_000);
  });
});

const CALLS = 7150;

test.each(runs)(
  "in $name, Agent Runtime starts a tool when the model asks, Agent Tool when it executes",
  ({ facts }) => {
    verifies("EXPORT-2");
    const events = exportFacts(createAgentRuntimeProjection(), facts);
    const records = exportFacts(createAgentToolProjection(), facts);
    const asked = events.filter(({ type }) => type === "tool.started");
    expect(asked).toHaveLength(factsOfTypes(facts, "tool.requested").length);
    const executed = records.filter(
      (record) =>
        record.record_type === "tool_event" && record.event_type === "tool.invocation.started",
    );
    expect(executed).toHaveLength(factsOfTypes(facts, "tool.started").length);
  },
);

describe.each([
  {
    standard: "Agent Runtime",
    list: (facts: readonly Fact[]) =>
      exportFacts(createAgentRuntimeProjection(), facts).map(
        ({ eventId, sequence }) => [eventId, sequence] as const,
      ),
  },
  {
    standard: "Agent Tool",
    list: (facts: readonly Fact[]) =>
      exportFacts(createAgentToolProjection(), facts).flatMap((record) =>
        record.record_type === "tool_event" ? [[record.event_id, record.sequence] as const] : [],
      ),
  },
])("$standard", ({ list }) => {
  test.each(runs)(
    "counts an event of $name the same in its run and in its session",
    ({ facts }) => {
      verifies("EXPORT-1");
      const whole = new Map(list(facts));
      for (const id of new Set(facts.map(({ run_id }) => run_id))) {
        const sequences = list(facts.filter(({ run_id }) => run_id === id));
        const common = sequences.filter(([eventId]) => whole.has(eventId));
        expect(common.map(([eventId]) => [eventId, whole.get(eventId)])).toEqual(common);
      }
    },
  );
});

const BYTES = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk";

test.each(FORMATS)("$name has no bytes of images, sound and files", ({ create, findProblems }) => {
  verifies("EXPORT-1");
  const content = [
    { type: "text", text: "a picture" },
    { type: "image", media_type: "image/png", data: BYTES },
    { type: "audio", media_type: "audio/wav", data: BYTES },
    { type: "resource", uri: "file:///a.bin", media_type: "application/x-a", blob: BYTES },
  ];
  const facts = [...factsOfCalls("session_image", 1)].map((fact) =>
    fact.type === "tool.completed"
      ? writtenFact({ ...fact, data: { result: { status: "succeeded", content } } })
      : fact,
  );
  const records = exportFacts(create(), facts);
  const text = records.map(writeRecord).join("\n");
  expect(text).not.toContain(BYTES);
  if (text.includes("a picture")) {
    for (const said of ["image/png", "audio/wav", "file:///a.bin"]) expect(text).toContain(said);
  }
  expect(findProblems(JSON.parse(JSON.stringify(records)) as object[])).toEqual([]);
});

function writeRecord(record: object): string {
  return JSON.stringify(record);
}
