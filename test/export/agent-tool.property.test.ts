import type { Fact } from "@soong/core";
import { createAgentToolProjection, findAgentToolProblems } from "@soong/export";
import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import {
  exportRecords,
  expectSound,
  expectValid,
  readRecords,
  recordsOf,
} from "./agent-tool-stage.ts";
import { FACT_TYPES, recordRuns } from "./recorded-runs.ts";

const runs = await recordRuns();
const numRuns = process.env["SOONG_TEST_FULL"] === "1" ? 3000 : 100;
const anyRun = fc.constantFrom(...runs.map(({ facts }) => facts));

test("the records of any part of a session that begins at its start are sound", () => {
  verifies("EXPORT-1");
  const anyPrefix = anyRun.chain((facts) =>
    fc.nat({ max: facts.length }).map((length) => facts.slice(0, length)),
  );
  fc.assert(
    fc.property(anyPrefix, (facts) => expectSound(exportRecords(facts))),
    { numRuns },
  );
});

/** Facts without which a journal no longer says who allowed what was started, or which tools there are. */
const STRUCTURAL = new Set(["tool.requested", "permission.evaluated", "permission.resolved"]);

test("without any of the other facts the records are sound", () => {
  const anyDrop = anyRun.chain((facts) =>
    fc
      .array(fc.integer({ min: 0, max: 2 }), { minLength: facts.length, maxLength: facts.length })
      .map((keep) => facts.filter(({ type }, i) => keep[i] !== 0 || STRUCTURAL.has(type))),
  );
  fc.assert(
    fc.property(anyDrop, (facts) => expectSound(exportRecords(facts))),
    { numRuns },
  );
});

test("without any facts at all, and in any order, no schema refuses a record, and each call has one result", () => {
  const anyMess = anyRun.chain((facts) => fc.shuffledSubarray([...facts]));
  fc.assert(
    fc.property(anyMess, (facts) => {
      const records = exportRecords(facts);
      expectValid(records);
      const results = recordsOf(records, "tool_result").map(({ invocation_id }) => invocation_id);
      const calls = recordsOf(records, "tool_invocation").map(({ invocation_id }) => invocation_id);
      expect(results.toSorted()).toEqual([...new Set(calls)].toSorted());
    }),
    { numRuns },
  );
});

const anyJson = fc.jsonValue({ maxDepth: 4 });

/** A value of a fact, replaced by another, or removed. */
function damage(value: unknown, path: readonly number[], by: unknown): unknown {
  const [step, ...rest] = path;
  if (typeof value !== "object" || value === null || step === undefined) return by;
  const keys = Object.keys(value);
  const key = keys[step % Math.max(keys.length, 1)];
  if (key === undefined) return by;
  const old: unknown = Reflect.get(value, key);
  const made = damage(old, rest, by);
  if (Array.isArray(value))
    return value.map((item: unknown, i) => (String(i) === key ? made : item));
  return { ...value, [key]: made };
}

test("a damaged field of any fact breaks neither the export nor a schema", () => {
  const anyDamage = fc.record({
    facts: anyRun,
    which: fc.array(
      fc.record({
        at: fc.nat(),
        path: fc.array(fc.nat({ max: 20 }), { minLength: 1, maxLength: 5 }),
        by: fc.option(anyJson, { nil: undefined }),
      }),
      { minLength: 1, maxLength: 10 },
    ),
  });
  fc.assert(
    fc.property(anyDamage, ({ facts, which }) => {
      const damaged: unknown[] = [...facts];
      for (const { at, path, by } of which) {
        const i = at % Math.max(damaged.length, 1);
        damaged[i] = damage(damaged[i], path, by);
      }
      expectValid(exportRecords(damaged as Fact[]));
    }),
    { numRuns },
  );
});

test("facts of known types with any data, and anything that is no fact, are survived", () => {
  const anyFact = fc.record(
    {
      id: fc.oneof(fc.string(), anyJson),
      seq: fc.oneof(fc.integer(), anyJson),
      type: fc.constantFrom(...FACT_TYPES, "constructor", "__proto__", "tool.unheard_of"),
      time: fc.oneof(fc.constant("2026-01-01T00:00:00.000Z"), anyJson),
      session_id: fc.oneof(fc.constant("s"), anyJson),
      run_id: fc.oneof(fc.constant("r"), anyJson),
      tool_call_id: fc.oneof(fc.constantFrom("c", "d"), anyJson),
      tool_name: fc.oneof(fc.constant("text.echo"), anyJson),
      data: fc.oneof(
        fc.dictionary(fc.constantFrom("result", "tools", "request", "groups"), anyJson),
        anyJson,
      ),
    },
    { requiredKeys: ["type"] },
  );
  fc.assert(
    fc.property(fc.array(fc.oneof({ weight: 9, arbitrary: anyFact }, anyJson)), (facts) => {
      expectValid(exportRecords(facts as Fact[]));
    }),
    { numRuns },
  );
});

test("the same facts give the same records, one by one or together, from memory or from disk", () => {
  fc.assert(
    fc.property(anyRun, (facts) => {
      const once = exportRecords(facts);
      const again = exportRecords(JSON.parse(JSON.stringify(facts)) as Fact[]);
      expect(readRecords(again)).toEqual(readRecords(once));
    }),
    { numRuns: 20 },
  );
});

test("an export changes no fact", () => {
  for (const { facts } of runs) {
    const before = JSON.stringify(facts);
    exportRecords(facts);
    expect(JSON.stringify(facts)).toBe(before);
  }
});

test("the checker takes anything", () => {
  fc.assert(
    fc.property(fc.array(anyJson), (values) => {
      expect(Array.isArray(findAgentToolProblems(values))).toBe(true);
    }),
    { numRuns },
  );
});

test("after its end a projection has nothing open", () => {
  const projection = createAgentToolProjection();
  for (const { facts } of runs) for (const fact of facts) projection.push(fact);
  projection.end();
  expect(projection.end()).toEqual([]);
});
