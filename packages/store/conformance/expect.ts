// How checks compare: what was read against what was written, and an error against the one that was due.

import assert from "node:assert/strict";
import { setImmediate as nextTurn } from "node:timers/promises";
import { inspect } from "node:util";
import type { Fact, Journal } from "@soong/core";
import { StoreError, type StoreErrorCode } from "@soong/store";

/** Holds when the work throws, now or later, one of these errors, with words for the user. */
export async function expectRefusal(
  codes: StoreErrorCode | readonly StoreErrorCode[],
  work: () => unknown,
): Promise<StoreError> {
  const error = await Promise.resolve()
    .then(work)
    .then(
      () => new Error("nothing was refused"),
      (thrown: unknown) => thrown,
    );
  const wanted = typeof codes === "string" ? [codes] : codes;
  assert.ok(
    error instanceof StoreError,
    `expected the StoreError ${wanted.join(" or ")}, got ${inspect(error)}`,
  );
  assert.ok(
    wanted.includes(error.code),
    `expected ${wanted.join(" or ")}, got ${error.code}: ${error.message}`,
  );
  assert.ok(error.message.length > 10, `${error.code} has to say what happened and what to do`);
  return error;
}

/** What JSON keeps of a value. */
export function asJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

/** The facts as the caller wrote them: without what a durable journal adds. */
export function asWritten(facts: readonly Fact[]): Fact[] {
  return facts.map(({ prev_hash: _prev, nodes: _nodes, ...fact }) => asJson(fact));
}

export function expectFacts(got: readonly Fact[], written: readonly Fact[]): void {
  assert.deepEqual(asWritten(got), asWritten(written));
}

export function seqsOf(facts: readonly Fact[]): number[] {
  return facts.map(({ seq }) => seq);
}

export function range(first: number, last: number): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}

/** Everything in a journal. */
export async function allFacts(journal: Journal): Promise<readonly Fact[]> {
  return journal.read(0, 1_000_000);
}

/** Everything that can happen without time passing has happened. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 20; i += 1) await nextTurn();
}
