// Facts as another version, a damaged disk or a hostile program may have left them.

import type { Fact } from "@soong/core";
import fc from "fast-check";

const ANYTHING: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, undefined, "", "\u0000\ud800", -1, 0.5, 1e308, true, [], {}, [
    null,
  ]),
  fc.string({ maxLength: 8 }),
  fc.integer(),
  fc.jsonValue({ maxDepth: 2 }),
);

/** The facts of one run, cut off anywhere, with some of their values replaced or removed. */
export function damagedFacts(runs: readonly (readonly Fact[])[]): fc.Arbitrary<Fact[]> {
  const damage = fc.record({
    at: fc.nat(),
    steps: fc.array(fc.nat(), { maxLength: 5 }),
    value: ANYTHING,
    isRemoved: fc.boolean(),
  });
  return fc
    .record({
      run: fc.nat({ max: runs.length - 1 }),
      from: fc.nat({ max: 20 }),
      length: fc.nat({ max: 200 }),
      damages: fc.array(damage, { maxLength: 40 }),
    })
    .map(({ run, from, length, damages }) => {
      const facts: unknown[] = structuredClone((runs[run] ?? []).slice(from, from + length));
      for (const { at, steps, value, isRemoved } of damages) {
        if (facts.length > 0)
          facts[at % facts.length] = damageValue(facts[at % facts.length], steps, value, isRemoved);
      }
      return facts as Fact[];
    });
}

/** Follows the steps into the value and replaces what is there. */
function damageValue(
  value: unknown,
  steps: readonly number[],
  by: unknown,
  isRemoved: boolean,
): unknown {
  const [step, ...rest] = steps;
  if (step === undefined || typeof value !== "object" || value === null) return by;
  const keys = Object.keys(value);
  const key = keys[step % keys.length];
  if (key === undefined) return by;
  const holder = value as Record<string, unknown>;
  if (rest.length === 0 && isRemoved) delete holder[key];
  else holder[key] = damageValue(holder[key], rest, by, isRemoved);
  return value;
}
