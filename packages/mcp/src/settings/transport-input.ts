// What the readers of one entry have in hand: its keys, and where to report what is wrong with them.

import { shape, type Place, type Shape } from "@soong/platform";
import type { EntryKey } from "./entry-keys.ts";
import type { Filler } from "./fill-variables.ts";

export interface GivenValue {
  readonly value: unknown;
  readonly place: Place;
}

export interface TransportInput {
  /** Of the entry as a whole. */
  readonly place: Place;
  readonly given: ReadonlyMap<EntryKey, GivenValue>;
  readonly filler: Filler;
}

/** The value if there is one and it is sound; what is wrong with it is reported. */
export function readValue<T>(given: GivenValue | undefined, as: Shape<T>): T | undefined {
  if (given === undefined) return undefined;
  const { value, place } = given;
  return shape.isSound(value, place, as) ? value : undefined;
}

/** Text that reaches a process or a header. */
export const anyLine = shape.text({ mayBeEmpty: true });
export const lines = shape.list(anyLine, { of: "texts" });
