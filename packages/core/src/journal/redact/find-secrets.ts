// Where in a text secrets stand: asks for known values, key formats and what is known by the words
// around it, in one order. Overlapping finds are not joined here.

import { announcedNeedles } from "./announced-secrets.ts";
import { findKeys } from "./key-formats.ts";
import { MIN_LENGTH, type KnownSecret } from "./known-secret.ts";
import { needlesOf } from "./known-values.ts";
import { privateKeyNeedles } from "./private-keys.ts";
import { createRespelledFinder } from "./respelled-values.ts";
import { createScan } from "./scan.ts";
import type { Span } from "./span.ts";
import { findUrlPasswords } from "./url-passwords.ts";

/** `known_values` leaves look-alikes of keys alone, so that what was read can still be edited. */
export type RedactionScope = "full" | "known_values";

type Find = (text: string, scope: RedactionScope) => readonly Span[];

/** Most texts hold nothing, so every step first asks the cheapest question that rules it out. */
export function createFinder(secrets: readonly KnownSecret[]): Find {
  const needles = secrets.flatMap((secret) => needlesOf(secret));
  const scanKnown = createScan(needles);
  const scanAll = needles.length === 0 ? SCAN_LEADS : createScan([...needles, ...LEADS]);
  const findRespelled = createRespelledFinder(secrets, needles);

  return function find(text, scope) {
    if (text.length < MIN_LENGTH) return NO_SPANS;
    const spans: Span[] = [];
    const isFull = scope === "full";
    for (const { needle, at } of isFull ? scanAll(text) : scanKnown(text)) {
      const span = needle.spanAt(text, at, needle.text.length);
      if (span !== undefined) spans.push(span);
    }
    findRespelled(text, spans);
    if (isFull) {
      findKeys(text, spans);
      findUrlPasswords(text, spans);
    }
    return spans;
  };
}

const NO_SPANS: readonly Span[] = [];

const LEADS = [...privateKeyNeedles(), ...announcedNeedles()];
const SCAN_LEADS = createScan(LEADS);
