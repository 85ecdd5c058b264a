// Random scenarios for the property tests: small numbers, so that things coincide, and weights, so that
// most turns get somewhere before a write fails or the turn is halted.

import fc from "fast-check";
import type { CallClass, ScheduleEvent } from "../../../packages/core/src/schedule/schedule.ts";
import { renderScenario, type Scenario, type ScriptedCall, type ScriptStep } from "./scenario.ts";

/** The long run is ten times the normal one. */
export function runs(normal: number): { numRuns: number } {
  return { numRuns: process.env.SOONG_TEST_FULL === "1" ? normal * 10 : normal };
}

const anyTicks = fc.nat({ max: 6 });
const mostlyNone = weighted<number>([4, 0], [1, 1], [1, 3]);

const anyStep: fc.Arbitrary<ScriptStep> = fc.oneof(
  { weight: 6, arbitrary: anyTicks.map((ticks) => ({ type: "work" as const, ticks })) },
  { weight: 2, arbitrary: anyTicks.map((ticks) => ({ type: "ask" as const, ticks })) },
  {
    weight: 1,
    arbitrary: weighted<CallClass>([2, "parallel"], [1, "exclusive"], [3, "write"]).map((to) => ({
      type: "become" as const,
      class: to,
    })),
  },
);

const anyCall: fc.Arbitrary<ScriptedCall> = fc
  .record({
    arrives: weighted<number>([4, 0], [3, 1], [1, 2], [1, 5]),
    judgedAfter: mostlyNone,
    verdict: weighted<ScriptedCall["verdict"]>(
      [10, "parallel"],
      [2, "exclusive"],
      [3, "write"],
      [4, "spawns_agent"],
      [2, "refused"],
      [1, "refused as write"],
    ),
    repeatable: weighted<boolean>([4, true], [1, false]),
    script: fc.array(anyStep, { maxLength: 4 }),
    outcome: weighted<ScriptedCall["outcome"]>(
      [6, "ok"],
      [1, "fails"],
      [2, "fails and cancels siblings"],
    ),
    onInterrupt: fc.constantFrom<ScriptedCall["onInterrupt"][]>("cancel", "block"),
    diesAfter: weighted<number>([1, 0], [1, 2], [1, 5]),
  })
  // A changed input never makes something else of an agent starter.
  .map((call) =>
    call.verdict === "spawns_agent"
      ? { ...call, script: call.script.filter(({ type }) => type !== "become") }
      : call,
  );

export const anyScenario: fc.Arbitrary<Scenario> = fc
  .record({
    maxParallel: fc.integer({ min: 1, max: 4 }),
    early: weighted<Scenario["early"]>([4, "readonly"], [1, "none"], [1, "all"]),
    calls: fc.array(anyCall, { maxLength: 12 }),
    textAfterLastCall: fc.nat({ max: 12 }),
    fate: weighted<"ends" | "aborted" | "interrupted" | "abandoned">(
      [6, "ends"],
      [1, "interrupted"],
      [1, "aborted"],
      [1, "abandoned"],
    ),
    haltedAfter: fc.nat({ max: 30 }),
  })
  .map(({ maxParallel, early, calls: gapped, textAfterLastCall, fate, haltedAfter }) => {
    let arrives = 0;
    const calls = gapped.map((call) => ({ ...call, arrives: (arrives += call.arrives) }));
    const scenario: Scenario = {
      maxParallel,
      early,
      calls,
      streamEnds: fate === "abandoned" ? "never" : arrives + textAfterLastCall,
      halt:
        fate === "ends"
          ? undefined
          : { kind: fate === "interrupted" ? "interrupt" : "abort", at: haltedAfter },
    };
    return Object.assign(scenario, {
      [fc.toStringMethod]: () => `\n${renderScenario(scenario)}\n`,
    });
  });

const anyId = fc.constantFrom("a", "b", "c", "d");
const anyClass = weighted<CallClass>(
  [3, "parallel"],
  [1, "exclusive"],
  [1, "write"],
  [1, "spawns_agent"],
);

/** Events no well-behaved caller would send in this order, among some that it would. */
export const anyEvents: fc.Arbitrary<readonly ScheduleEvent[]> = fc.array(
  fc.oneof<fc.MaybeWeightedArbitrary<ScheduleEvent>[]>(
    { weight: 6, arbitrary: fc.record({ type: fc.constant("arrived"), id: anyId }) },
    {
      weight: 6,
      arbitrary: fc.record({ type: fc.constant("classified"), id: anyId, class: anyClass }),
    },
    fc.record({ type: fc.constant("refused"), id: anyId, stops: fc.boolean() }),
    fc.record({ type: fc.constant("asking"), id: anyId }),
    fc.record({ type: fc.constant("answered"), id: anyId }),
    fc.record({ type: fc.constant("reclassified"), id: anyId, class: anyClass }),
    fc.record({
      type: fc.constant("ended"),
      id: anyId,
      failed: fc.boolean(),
      cancelsSiblings: fc.boolean(),
    }),
    fc.constant({ type: "stream_ended" }),
    fc.constant({ type: "halted" }),
  ),
  { maxLength: 40 },
);

function weighted<T>(...choices: (readonly [weight: number, value: T])[]): fc.Arbitrary<T> {
  return fc.oneof(
    { withCrossShrink: true },
    ...choices.map(([weight, value]) => ({ weight, arbitrary: fc.constant(value) })),
  );
}
