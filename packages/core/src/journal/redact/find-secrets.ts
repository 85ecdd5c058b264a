// Where in a text secrets stand. A known value is found plainly, in upper or lower case, in hex, within base64, and with
// characters written as escapes of JSON or of URLs, any of them, to any depth.

import { utf8Bytes } from "../../tool/index.ts";
import { respell } from "./escapes.ts";
import { MIN_LENGTH, type KnownSecret } from "./known-secret.ts";
import { findKeys, findUrlPasswords, LEADS, SHORTEST_KEY } from "./recognised-secrets.ts";
import { createScan, type Needle, type Span } from "./spans.ts";

/** `known_values` leaves look-alikes of keys alone, so that what was read can still be edited. */
export type RedactionScope = "full" | "known_values";

/**
 * Known values and, in full scope, what is recognised; overlapping finds are not joined here.
 * Most texts hold nothing, so every step first asks the cheapest question that rules it out.
 */
export function createFinder(secrets: readonly KnownSecret[]): {
  readonly find: (text: string, scope: RedactionScope) => readonly Span[];
  /** A shorter text holds none, unless it has an @ in it. */
  readonly shortest: number;
} {
  const needles = secrets.flatMap((secret) => createNeedles(secret));
  const scanKnown = createScan(needles);
  const scanAll = needles.length === 0 ? SCAN_LEADS : createScan([...needles, ...LEADS]);
  const findRespelled = createRespelledFinder(secrets, needles);

  const hasKnown = needles.length > 0;
  const shortest = hasKnown ? MIN_LENGTH : SHORTEST_FOUND;

  function find(text: string, scope: RedactionScope): readonly Span[] {
    const isFull = scope === "full";
    if (!hasKnown && !isFull) return NO_SPANS;
    const spans: Span[] = [];
    if (hasKnown || text.length >= SHORTEST_LEAD) {
      for (const { needle, at } of isFull ? scanAll(text) : scanKnown(text)) {
        const span = needle.spanAt(text, at, needle.text.length);
        if (span !== undefined) spans.push(span);
      }
    }
    if (hasKnown) findRespelled(text, spans);
    if (isFull && text.length >= SHORTEST_KEY) findKeys(text, spans);
    if (isFull && text.includes("@")) findUrlPasswords(text, spans);
    return spans;
  }
  return { find, shortest };
}

const NO_SPANS: readonly Span[] = [];
const SCAN_LEADS = createScan(LEADS);
const SHORTEST_LEAD = Math.min(...LEADS.map(({ text }) => text.length));
const SHORTEST_FOUND = Math.min(SHORTEST_LEAD, SHORTEST_KEY);

/** The value itself and its other forms; of base64 the part that shows wherever in the encoded bytes it begins. */
function createNeedles({ name, value }: KnownSecret): Needle[] {
  const label = name.replace(/[^A-Za-z0-9_.-]/g, "_").slice(0, 64) || "secret";
  const bytes = utf8Bytes(value);
  const forms = new Set<string>();
  for (const core of base64Cores(bytes)) {
    forms.add(core).add(core.replaceAll("+", "-").replaceAll("/", "_"));
  }
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const plain = new Set([value, hex, hex.toUpperCase()]);
  // In another case an ordinary word is an ordinary word; what has a digit in it is not one.
  if (/\d/.test(value)) plain.add(value.toUpperCase()).add(value.toLowerCase());
  return [
    ...Array.from(plain, (text) => ({ text, spanAt: plainSpan(label) })),
    ...Array.from(forms, (text) => ({ text, spanAt: encodedSpan(label) })),
  ];
}

function plainSpan(label: string): Needle["spanAt"] {
  return (_, at, length) => ({ start: at, end: at + length, label, known: true });
}

/** With the characters at both ends that hold a few bits of it. */
function encodedSpan(label: string): Needle["spanAt"] {
  return (text, at, length) => {
    const start = isBase64Char(text.charAt(at - 1)) ? at - 1 : at;
    let end = at + length;
    if (isBase64Char(text.charAt(end))) end += 1;
    while (text.charAt(end) === "=") end += 1;
    return { start, end, label, known: true };
  };
}

/** Text and values are both brought to one spelling, in which the values are looked for. */
function createRespelledFinder(
  secrets: readonly KnownSecret[],
  needles: readonly Needle[],
): (text: string, spans: Span[]) => void {
  // Forms write a space as a plus; where no value has a space, a plus is only a plus.
  const hasSpace = secrets.some(({ value }) => value.includes(" "));
  const inJson = hasSpace ? ["\\", "+"] : ["\\"];
  const signs = [...inJson, "%"];
  const respelled = needles
    .map(({ text, spanAt }) => ({ text: text.replace(OPEN_END, ""), spanAt }))
    .filter(({ text }) => text.length >= MIN_LENGTH)
    .flatMap(({ text, spanAt }) => {
      // A value may itself look escaped, and come out of an escape as it was.
      const spellings = new Set([text, respell(text, inJson).text, respell(text, signs).text]);
      return Array.from(spellings, (spelling) => ({
        text: spelling,
        spanAt,
        shortest: text.length,
      }));
    })
    .filter(({ text }) => text.length > 1);
  const scan = createScan(respelled);
  const wanted = collectCharacters([BASE64_CHARS, ...respelled.map(({ text }) => text)]);

  return function findRespelled(text, spans) {
    const isRespelled =
      text.includes("\\") || text.includes("%") || (hasSpace && text.includes("+"));
    if (!isRespelled) return;
    const plain = respell(text, signs, wanted);
    if (!plain.isChanged) return;
    for (const { needle, at } of scan(plain.text)) {
      const span = needle.spanAt(plain.text, at, needle.text.length);
      if (span === undefined) continue;
      const start = plain.sourceStart(span.start);
      const end = plain.sourceEnd(span.end);
      // No escape is shorter than what it encodes: this is the spelling of something else.
      if (end - start >= needle.shortest) spans.push({ ...span, start, end });
    }
  };
}

/** The start of an escape, were other text to follow. */
const OPEN_END = /[\\%]+[0-9A-Fa-f]?$/;

/** By character and by half: `\ud83d\ude00` is two escapes, `%F0%9F%98%80` is one. */
function collectCharacters(texts: readonly string[]): ReadonlySet<string> {
  return new Set(texts.flatMap((text) => [...Array.from(text), ...text.split("")]));
}

/** For each of the three ways bytes can fall on groups: the characters that no neighbour has a part in. */
function base64Cores(bytes: Uint8Array): string[] {
  return [0, 1, 2].map((offset) => {
    let core = "";
    const end = 8 * (offset + bytes.length);
    for (let bit = 6 * Math.ceil((8 * offset) / 6); bit + 6 <= end; bit += 6) {
      const index = (bit >> 3) - offset;
      const two = ((bytes[index] as number) << 8) | (bytes[index + 1] ?? 0);
      core += BASE64.charAt((two >> (10 - (bit & 7))) & 63);
    }
    return core;
  });
}

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** With those of the variant for URLs. */
const BASE64_CHARS = `${BASE64}-_`;

function isBase64Char(char: string): boolean {
  return char !== "" && BASE64_CHARS.includes(char);
}
