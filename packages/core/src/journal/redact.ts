// What may never be written down or sent on (REDACT-1, REDACT-2): known secret values in whatever
// spelling, recognised key formats, and fields a schema calls sensitive. Pure; one redactor per run.

import type { JsonValue } from "../schema/index.ts";
import { sha256Hex, utf8Bytes } from "../tool/index.ts";

export interface RedactorOptions {
  /** Known values. Those shorter than six characters, and mere stand-ins, are not looked for. */
  secrets?: readonly KnownSecret[];
}

export interface KnownSecret {
  name: string;
  value: string;
}

/** `known_values` leaves look-alikes of keys alone, so that what was read can still be edited. */
export type RedactionScope = "full" | "known_values";

/** Where sensitive fields are; `*` stands for any key or index. */
export type SensitivePaths = readonly (readonly string[])[];

export interface Redactor {
  /** The same string when nothing was found. */
  text(text: string, scope?: RedactionScope): string;
  /** Deep, keys too. The same reference when nothing was found; what was given is never changed. */
  value<T extends JsonValue>(
    value: T,
    options?: { scope?: RedactionScope; sensitive?: SensitivePaths },
  ): T;
  /** Whether `text` would change anything. Counts nothing. */
  finds(text: string, scope?: RedactionScope): boolean;
  /** Replacements so far. */
  readonly count: number;
  /**
   * For one call: a copy with placeholders, and the way back for whoever hands the copy on changed.
   * What comes back unchanged in its place is always put back. Elsewhere a placeholder is put back
   * only if it was made from this very value, from one text alone, and did not stand there literally.
   */
  reversible(
    value: JsonValue,
    sensitive?: SensitivePaths,
  ): { redacted: JsonValue; restore: (value: JsonValue) => JsonValue };
}

/** Placeholders are stable as long as the redactor lives: same secret, same placeholder. */
export function createRedactor(options: RedactorOptions = {}): Redactor {
  const secrets = worthHiding(options.secrets ?? []);
  const find = createFinder(secrets);
  const placeholders = createPlaceholders(secrets);
  const mayBeNumber = secrets.some(({ value }) => Number.isFinite(Number(value)));
  let count = 0;

  return {
    text: (text, scope = "full") => redactText(text, scope),
    value: (value, { scope = "full", sensitive = [] } = {}) =>
      redactValue(value, scope, sensitive) as typeof value,
    finds: (text, scope = "full") => spansIn(text, scope).length > 0,
    get count() {
      return count;
    },
    reversible(value, sensitive = []) {
      const trail = createTrail();
      const redacted = redactValue(value, "full", sensitive, trail);
      return { redacted, restore: (changed) => trail.restore(changed, redacted, value) };
    },
  };

  function redactText(text: string, scope: RedactionScope, trail?: Trail): string {
    trail?.noteLiterals(text);
    let current = text;
    // Again, because a boundary may appear where a value has gone; each round leaves less to find.
    for (let spans = spansIn(current, scope); spans.length > 0; spans = spansIn(current, scope)) {
      let redacted = "";
      let at = 0;
      for (const span of spans) {
        const covered = current.slice(span.start, span.end);
        const placeholder = placeholders.of(span, covered);
        trail?.noteMade(placeholder, covered);
        redacted += current.slice(at, span.start) + placeholder;
        at = span.end;
      }
      current = redacted + current.slice(at);
      count += spans.length;
    }
    return current;
  }

  function spansIn(text: string, scope: RedactionScope): readonly Span[] {
    const spans = find(text, scope);
    return spans.length === 0 ? spans : joined(placeholders.withoutOwn(spans, text));
  }

  function redactValue(
    value: JsonValue,
    scope: RedactionScope,
    sensitive: SensitivePaths,
    trail?: Trail,
  ): JsonValue {
    return sensitive.some((path) => path.length === 0)
      ? hide(value, SENSITIVE)
      : walk(value, sensitive, 0);

    function walk(node: JsonValue, paths: SensitivePaths, depth: number): JsonValue {
      if (typeof node === "string") return redactText(node, scope, trail);
      if (typeof node === "number") return mayBeNumber ? redactNumber(node) : node;
      if (typeof node !== "object" || node === null) return node;
      if (depth === MAX_DEPTH) return hide(node, TOO_DEEP);
      return Array.isArray(node) ? walkArray(node, paths, depth) : walkObject(node, paths, depth);
    }

    function walkArray(node: JsonValue[], paths: SensitivePaths, depth: number): JsonValue {
      let copy: JsonValue[] | undefined;
      for (let i = 0; i < node.length; i += 1) {
        const item = node[i] as JsonValue;
        const clean = walkItem(item, i, paths, depth);
        if (clean !== item) (copy ??= [...node])[i] = clean;
      }
      return copy ?? node;
    }

    function walkObject(
      node: { readonly [key: string]: JsonValue },
      paths: SensitivePaths,
      depth: number,
    ): JsonValue {
      const keys = Object.keys(node);
      let entries: [string, JsonValue][] | undefined;
      let renamed: Map<string, string> | undefined;
      for (let index = 0; index < keys.length; index += 1) {
        const key = keys[index] as string;
        const item = node[key] as JsonValue;
        const clean = walkItem(item, key, paths, depth);
        let cleanKey = redactText(key, scope, trail);
        if (cleanKey !== key) {
          renamed ??= new Map();
          cleanKey = freeKey(cleanKey, node, renamed);
          renamed.set(cleanKey, key);
        }
        if (entries === undefined && (clean !== item || cleanKey !== key)) {
          entries = keys.slice(0, index).map((name) => [name, node[name] as JsonValue]);
        }
        entries?.push([cleanKey, clean]);
      }
      if (entries === undefined) return node;
      // Unlike assignment, this takes a key such as __proto__ for a key.
      const copy = Object.fromEntries(entries);
      if (renamed !== undefined) trail?.noteRenamed(copy, renamed);
      return copy;
    }

    function walkItem(
      item: JsonValue,
      key: string | number,
      paths: SensitivePaths,
      depth: number,
    ): JsonValue {
      if (paths.length === 0) return walk(item, paths, depth + 1);
      const name = String(key);
      const below = paths.filter((path) => path[depth] === name || path[depth] === "*");
      const isSensitive = below.some((path) => path.length === depth + 1);
      return isSensitive && item !== undefined
        ? hide(item, SENSITIVE)
        : walk(item, below, depth + 1);
    }

    function redactNumber(node: number): JsonValue {
      const text = String(node);
      const clean = redactText(text, scope);
      return clean === text ? node : noted(clean, node);
    }

    function hide(node: JsonValue, placeholder: string): JsonValue {
      if (node === placeholder) {
        trail?.noteLiterals(placeholder);
        return node;
      }
      count += 1;
      return noted(placeholder, node);
    }

    function noted(placeholder: string, node: JsonValue): string {
      trail?.noteMade(placeholder, node);
      return placeholder;
    }
  }
}

/** Two keys may get one placeholder; neither entry may be lost for it. */
function freeKey(key: string, node: object, renamed: ReadonlyMap<string, string>): string {
  let free = key;
  for (let n = renamed.size; Object.hasOwn(node, free) || renamed.has(free); n += 1) {
    free = `${key}~${n}`;
  }
  return free;
}

/** Deeper than any argument or result may be (SCHEMA-8); what lies below is not looked at but dropped. */
const MAX_DEPTH = 500;
const MIN_LENGTH = 6;
const OPENING = "[redacted:";
const SENSITIVE = `${OPENING}sensitive]`;
const TOO_DEEP = `${OPENING}too_deep]`;
const PLACEHOLDER = /\[redacted:[A-Za-z0-9_.#-]{1,80}\]/g;

/** What people write where a secret will be. To replace these would mangle every source file. */
const STAND_INS: ReadonlySet<string> = new Set(
  "changeme default development disabled enabled example localhost password private production public secret string undefined username".split(
    " ",
  ),
);

function worthHiding(secrets: readonly KnownSecret[]): KnownSecret[] {
  const values = new Set<string>();
  return secrets.filter(({ value }) => {
    const worth =
      value.length >= MIN_LENGTH &&
      !STAND_INS.has(value.toLowerCase()) &&
      !OPENING.includes(value) &&
      !values.has(value);
    values.add(value);
    return worth;
  });
}

/** One stretch of a text that must go. */
interface Span {
  start: number;
  end: number;
  label: string;
  /** Named by config; otherwise it only looks like a key. */
  known: boolean;
}

/** Overlapping spans as one, so that no piece of either is left; the best known and longest names it. */
function joined(spans: readonly Span[]): Span[] {
  const result: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = result.at(-1);
    if (last === undefined || span.start >= last.end) {
      result.push({ ...span });
      continue;
    }
    const longer = span.end - span.start > last.end - last.start;
    if (span.known === last.known ? longer : span.known) {
      last.label = span.label;
      last.known = span.known;
    }
    last.end = Math.max(last.end, span.end);
  }
  return result;
}

interface Placeholders {
  of(span: Span, covered: string): string;
  /** Without the spans that are nothing but (part of) a placeholder given out before. */
  withoutOwn(spans: readonly Span[], text: string): readonly Span[];
}

/** More distinct keys than this in one run share a placeholder; it is a bound on memory. */
const MAX_NUMBERED = 10_000;

function createPlaceholders(secrets: readonly KnownSecret[]): Placeholders {
  const given = new Set([SENSITIVE, TOO_DEEP]);
  /** By hash: the run keeps no copy of what it found. */
  const numbered = new Map<string, string>();
  const counts = new Map<string, number>();
  return { of, withoutOwn };

  function of({ label, known }: Span, covered: string): string {
    const placeholder = known ? named(label) : numberedOf(label, covered);
    given.add(placeholder);
    return placeholder;
  }

  function numberedOf(label: string, covered: string): string {
    const digest = sha256Hex(covered);
    const before = numbered.get(digest);
    if (before !== undefined) return before;
    if (numbered.size >= MAX_NUMBERED) return named(label);
    const number = (counts.get(label) ?? 0) + 1;
    counts.set(label, number);
    const placeholder = named(`${label}#${number}`);
    numbered.set(digest, placeholder);
    return placeholder;
  }

  function named(label: string): string {
    const placeholder = `${OPENING}${label}]`;
    // One secret may be called what another one is.
    return secrets.some(({ value }) => placeholder.includes(value)) ? `${OPENING}x]` : placeholder;
  }

  function withoutOwn(spans: readonly Span[], text: string): readonly Span[] {
    if (!text.includes(OPENING)) return spans;
    const own: { start: number; end: number }[] = [];
    for (const { 0: placeholder, index } of text.matchAll(PLACEHOLDER)) {
      if (given.has(placeholder)) own.push({ start: index, end: index + placeholder.length });
    }
    return spans.filter((span) => {
      const last = own[countBefore(own, span.end) - 1];
      if (last === undefined) return true;
      // A key's format never reaches into a placeholder; a known value only hides inside one.
      return span.known ? span.start < last.start || span.end > last.end : span.start >= last.end;
    });
  }
}

/** How many of these, which are in order, begin before `position`. */
function countBefore(sorted: readonly { start: number }[], position: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as { start: number }).start < position) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What one reversible copy was made of, and the way back. */
interface Trail {
  noteLiterals(text: string): void;
  noteMade(placeholder: string, from: JsonValue): void;
  noteRenamed(copy: object, originalKeys: ReadonlyMap<string, string>): void;
  restore(value: JsonValue, redacted: JsonValue, original: JsonValue): JsonValue;
}

function createTrail(): Trail {
  const made = new Map<string, JsonValue>();
  /** Stood in the original, or stands for more than one thing: no telling what it would become. */
  const unsure = new Set<string>();
  const renamed = new Map<object, ReadonlyMap<string, string>>();

  return {
    noteLiterals(text) {
      if (!text.includes(OPENING)) return;
      for (const [placeholder] of text.matchAll(PLACEHOLDER)) unsure.add(placeholder);
    },
    noteMade(placeholder, from) {
      if (made.has(placeholder) && made.get(placeholder) !== from) unsure.add(placeholder);
      made.set(placeholder, from);
    },
    noteRenamed(copy, originalKeys) {
      renamed.set(copy, originalKeys);
    },
    restore: (value, redacted, original) =>
      made.size === 0 ? value : restore(value, redacted, original, 0),
  };

  function restore(
    value: JsonValue,
    redacted: JsonValue | undefined,
    original: JsonValue | undefined,
    depth: number,
  ): JsonValue {
    if (value === redacted) return original as JsonValue;
    if (typeof value === "string") return restoreText(value);
    if (typeof value !== "object" || value === null || depth === MAX_DEPTH) return value;
    if (Array.isArray(value)) {
      const [were, are] = [arrayOf(redacted), arrayOf(original)];
      return value.map((item, i) => restore(item, were[i], are[i], depth + 1));
    }
    const [were, are] = [objectOf(redacted), objectOf(original)];
    const keys = renamed.get(were);
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => {
        const originalKey = keys?.get(key) ?? key;
        const name = originalKey === key ? restorePieces(key) : originalKey;
        return [name, restore(item, own(were, key), own(are, originalKey), depth + 1)];
      }),
    );
  }

  function restoreText(text: string): JsonValue {
    return text.startsWith(OPENING) ? (sure(text) ?? restorePieces(text)) : restorePieces(text);
  }

  function restorePieces(text: string): string {
    if (!text.includes(OPENING)) return text;
    return text.replace(PLACEHOLDER, (placeholder) => {
      const from = sure(placeholder);
      return typeof from === "string" ? from : placeholder;
    });
  }

  function sure(placeholder: string): JsonValue | undefined {
    return unsure.has(placeholder) ? undefined : made.get(placeholder);
  }
}

const NOTHING = {};

function arrayOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function objectOf(value: JsonValue | undefined): { readonly [key: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : NOTHING;
}

function own(object: { readonly [key: string]: JsonValue }, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

// --- Finding -------------------------------------------------------------------------------------

type Find = (text: string, scope: RedactionScope) => readonly Span[];

const NO_SPANS: readonly Span[] = [];

/** Most texts hold nothing, so every step first asks the cheapest question that rules it out. */
function createFinder(secrets: readonly KnownSecret[]): Find {
  const needles = secrets.flatMap((secret) => needlesOf(secret));
  const scanKnown = createScan(needles);
  const scanAll = needles.length === 0 ? SCAN_LEADS : createScan([...needles, ...LEADS]);
  const findRespelled = createRespelledFinder(secrets, needles);

  return function find(text, scope) {
    if (text.length < MIN_LENGTH) return NO_SPANS;
    const isFull = scope === "full";
    let spans: Span[] | undefined;
    const hits = isFull ? scanAll(text) : scanKnown(text);
    if (hits !== undefined) {
      spans = [];
      for (const { needle, at } of hits) {
        const span = needle.spanAt(text, at, needle.text.length);
        if (span !== undefined) spans.push(span);
      }
    }
    spans = findRespelled(text, spans);
    if (isFull) spans = findUserInfo(text, findKeys(text, spans));
    return spans ?? NO_SPANS;
  };
}

/** A text to look for, and what it means to have found it. */
interface Needle {
  readonly text: string;
  readonly spanAt: (text: string, at: number, length: number) => Span | undefined;
}

interface Hit<T> {
  readonly needle: T;
  readonly at: number;
}

/**
 * Looks for all needles at once and, where a pair of characters is in none of them, skips as far as the
 * shortest allows (Wu and Manber).
 */
function createScan<T extends Needle>(
  needles: readonly T[],
): (text: string) => Hit<T>[] | undefined {
  if (needles.length === 0) return () => undefined;
  const width = Math.min(64, ...needles.map(({ text }) => text.length));
  const skips = new Uint8Array(PAIRS).fill(width - 1);
  const endings = new Map<number, T[]>();
  for (const needle of needles) {
    for (let i = 1; i < width; i += 1) {
      const pair = pairAt(needle.text, i);
      skips[pair] = Math.min(skips[pair] as number, width - 1 - i);
    }
    const ending = pairAt(needle.text, width - 1);
    endings.set(ending, [...(endings.get(ending) ?? []), needle]);
  }
  return function scan(text) {
    let hits: Hit<T>[] | undefined;
    let at = width - 1;
    while (at < text.length) {
      const pair = pairAt(text, at);
      const skip = skips[pair] as number;
      if (skip > 0) {
        at += skip;
        continue;
      }
      const start = at - width + 1;
      const candidates = endings.get(pair) as T[];
      for (let i = 0; i < candidates.length; i += 1) {
        const needle = candidates[i] as T;
        if (text.startsWith(needle.text, start)) (hits ??= []).push({ needle, at: start });
      }
      at += 1;
    }
    return hits;
  };
}

const PAIRS = 4096;

function pairAt(text: string, at: number): number {
  return ((text.charCodeAt(at - 1) << 5) ^ text.charCodeAt(at)) & (PAIRS - 1);
}

// --- Known values --------------------------------------------------------------------------------

/** The value itself, and what of it shows in base64 wherever in the encoded bytes it begins. */
function needlesOf({ name, value }: KnownSecret): Needle[] {
  const label = name.replace(/[^A-Za-z0-9_.-]/g, "_").slice(0, 64) || "secret";
  const forms = new Set<string>();
  for (const core of base64Cores(utf8Bytes(value))) {
    forms.add(core).add(core.replaceAll("+", "-").replaceAll("/", "_"));
  }
  return [
    {
      text: value,
      spanAt: (_, at, length) => ({ start: at, end: at + length, label, known: true }),
    },
    ...Array.from(forms, (text) => ({ text, spanAt: encodedSpan(label) })),
  ];
}

/** With the characters at both ends that hold a few bits of it. */
function encodedSpan(label: string): Needle["spanAt"] {
  return (text, at, length) => {
    const start = BASE64_CHAR.test(text.charAt(at - 1)) ? at - 1 : at;
    let end = at + length;
    if (BASE64_CHAR.test(text.charAt(end))) end += 1;
    while (text.charAt(end) === "=") end += 1;
    return { start, end, label, known: true };
  };
}

const BASE64_CHAR = /[A-Za-z0-9+/_-]/;
const BASE64_CHARS = /[A-Za-z0-9+/_-]+/g;
const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

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

/**
 * Known values with characters written as escapes of JSON or of URLs, any of them, to any depth. Text and
 * values are both brought to one spelling, in which the values are looked for.
 */
function createRespelledFinder(
  secrets: readonly KnownSecret[],
  needles: readonly Needle[],
): (text: string, spans: Span[] | undefined) => Span[] | undefined {
  if (secrets.length === 0) return (_, spans) => spans;
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
  const others = respelled.map(({ text }) => text.replace(BASE64_CHARS, "")).join("");
  // By character and by half: `\ud83d\ude00` is two escapes, `%F0%9F%98%80` is one.
  const wanted = new Set(`${BASE64}-_${others}`);
  for (const half of others.split("")) wanted.add(half);

  return function findRespelled(text, spans) {
    const isRespelled =
      text.includes("\\") || text.includes("%") || (hasSpace && text.includes("+"));
    if (!isRespelled) return spans;
    const plain = respell(text, signs, wanted);
    const hits = plain.isChanged ? scan(plain.text) : undefined;
    if (hits === undefined) return spans;
    const found = spans ?? [];
    for (const { needle, at } of hits) {
      const span = needle.spanAt(plain.text, at, needle.text.length);
      if (span === undefined) continue;
      const start = plain.sourceStart(span.start);
      const end = plain.sourceEnd(span.end);
      // No escape is shorter than what it stands for: this is the spelling of something else.
      if (end - start >= needle.shortest) found.push({ ...span, start, end });
    }
    return found.length === 0 ? undefined : found;
  };
}

/** The start of an escape, were other text to follow. */
const OPEN_END = /[\\%]+[0-9A-Fa-f]?$/;

interface Respelled {
  readonly text: string;
  readonly isChanged: boolean;
  /** Where in the source the character at this place begins. */
  sourceStart(at: number): number;
  /** Where in the source the character before this place ends. */
  sourceEnd(at: number): number;
}

/** Escapes of characters that are not wanted are left as they stand: most are line ends and quotes. */
function respell(
  source: string,
  signs: readonly string[],
  wanted?: ReadonlySet<string>,
): Respelled {
  const escapes: { start: number; end: number; from: number; to: number }[] = [];
  const parts: string[] = [];
  let length = 0;
  let copied = 0;
  const next = nextOf(source, signs);
  const plusIsSpace = signs.includes("+");
  const percentIsSign = signs.includes("%");
  for (let at = next(0); at !== -1;) {
    const escape = readEscape(source, at, percentIsSign);
    const char = plusIsSpace && escape?.char === "+" ? " " : escape?.char;
    if (escape !== undefined && char !== undefined && (wanted?.has(char) ?? true)) {
      parts.push(source.slice(copied, at), char);
      const start = length + at - copied;
      length = start + char.length;
      escapes.push({ start, end: length, from: at, to: escape.end });
      copied = escape.end;
    }
    at = next(escape?.end ?? at + 1);
  }
  parts.push(source.slice(copied));
  return {
    text: parts.join(""),
    isChanged: escapes.length > 0,
    sourceStart: (at) => sourceOf(at, "from"),
    sourceEnd: (at) => sourceOf(at - 1, "to"),
  };

  function sourceOf(at: number, side: "from" | "to"): number {
    const escape = escapes[countBefore(escapes, at + 1) - 1];
    const after = side === "to" ? 1 : 0;
    if (escape === undefined) return at + after;
    return at < escape.end ? escape[side] : escape.to + (at - escape.end) + after;
  }
}

/** Where the next of these characters stands, at or after a place that only moves forward; -1 for none. */
function nextOf(text: string, chars: readonly string[]): (from: number) => number {
  const places = chars.map(() => -2);
  return (from) => {
    let nearest = -1;
    for (let i = 0; i < places.length; i += 1) {
      let place = places[i] as number;
      if (place !== -1 && place < from) {
        place = places[i] = text.indexOf(chars[i] as string, from);
      }
      if (place !== -1 && (nearest === -1 || place < nearest)) nearest = place;
    }
    return nearest;
  };
}

interface Escape {
  char: string;
  end: number;
}

const CONTROLS: ReadonlyMap<string, string> = new Map([
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);

/**
 * However many backslashes stand in a row: JSON within JSON doubles them. Before anything but a letter
 * or digit they only quote it, so there they are dropped, from values too.
 */
function readEscape(text: string, at: number, percentIsSign: boolean): Escape | undefined {
  if (text.charAt(at) === "+") return { char: "+", end: at + 1 };
  let end = at;
  let spelledOut = -1;
  for (;;) {
    const encoded = percentIsSign && text.charAt(end) === "%" ? readPercent(text, end) : undefined;
    const char = encoded?.char ?? text.charAt(end);
    const after = encoded?.end ?? end + 1;
    if (char === "\\") {
      end = after;
    } else if (end === at) {
      return encoded;
    } else if (char === "u") {
      const code = matchAt(FOUR_HEX, text, after)?.[0];
      if (code === undefined) return { char: "\\", end };
      const unit = String.fromCharCode(Number.parseInt(code, 16));
      end = after + 4;
      if (unit === "\\") {
        spelledOut = end;
        continue;
      }
      // `\u005c` is a backslash by itself: the escape after it is another character.
      if (spelledOut === -1 || !ALPHANUMERIC_CHAR.test(unit)) return { char: unit, end };
      const control = CONTROLS.get(unit);
      return control === undefined ? { char: "\\", end: spelledOut } : { char: control, end };
    } else {
      const control = CONTROLS.get(char);
      if (control !== undefined) return { char: control, end: after };
      // At the end of the text there is nothing they could quote.
      return ALPHANUMERIC_CHAR.test(char)
        ? { char: "\\", end }
        : { char, end: Math.min(after, text.length) };
    }
  }
}

const ALPHANUMERIC_CHAR = /^[A-Za-z0-9]/;
const FOUR_HEX = /[0-9A-Fa-f]{4}/y;
const PERCENT_BYTE = /%(?:25)*([0-9A-Fa-f]{2})/y;

/** A percent-encoded character, its percent signs perhaps encoded again. */
function readPercent(text: string, at: number): Escape | undefined {
  const first = readByte(text, at);
  if (first === undefined) return undefined;
  // Two digits that are no UTF-8 stand for themselves.
  const sign = { char: "%", end: first.end - 2 };
  const more = continuationsOf(first.byte);
  if (more === -1) return sign;
  let code = more === 0 ? first.byte : first.byte & (0x3f >> more);
  let { end } = first;
  for (let i = 0; i < more; i += 1) {
    const next = readByte(text, end);
    if (next === undefined || next.byte >> 6 !== 2) return sign;
    code = (code << 6) | (next.byte & 0x3f);
    end = next.end;
  }
  return code > 0x10ffff ? sign : { char: String.fromCodePoint(code), end };
}

/** How many bytes of UTF-8 follow this one; -1 if it cannot be a first one. */
function continuationsOf(byte: number): number {
  if (byte < 0x80) return 0;
  if (byte < 0xc2 || byte > 0xf4) return -1;
  return byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
}

function readByte(text: string, at: number): { byte: number; end: number } | undefined {
  const match = matchAt(PERCENT_BYTE, text, at);
  if (match === null) return undefined;
  return { byte: Number.parseInt(match[1] as string, 16), end: at + match[0].length };
}

function matchAt(sticky: RegExp, text: string, at: number): RegExpExecArray | null {
  sticky.lastIndex = at;
  return sticky.exec(text);
}

// --- Key formats ---------------------------------------------------------------------------------

/**
 * What nobody writes by chance, and behind it what only a machine would. Bodies are open at their end, so
 * that none can be made to go back over what it has read. More than one prefix is separated by blanks.
 */
const KEY_FORMATS: readonly (readonly [label: string, prefixes: string, body: RegExp])[] = [
  ["aws_access_key", "AKIA ASIA", /[A-Z0-9]{16}(?![A-Za-z0-9])/y],
  ["github_token", "ghp_ gho_ ghu_ ghs_ ghr_", /[A-Za-z0-9]{30,}/y],
  ["github_token", "github_pat_", /[A-Za-z0-9_]{30,}/y],
  ["anthropic_key", "sk-ant-", /[A-Za-z0-9_-]{20,}/y],
  ["api_key", "sk-proj- sk-svcacct- sk-or-v1- sk-lf-", /[A-Za-z0-9_-]{20,}/y],
  ["api_key", "sk-admin-", /(?=[A-Za-z_-]{0,80}[0-9])[A-Za-z0-9_-]{20,}/y],
  ["api_key", "sk-", /[A-Za-z0-9]{20,}/y],
  ["api_key", "gsk_ xai- pplx-", /[A-Za-z0-9]{40,}/y],
  ["google_key", "AIza", /[A-Za-z0-9_-]{35}(?![A-Za-z0-9])/y],
  ["google_key", "GOCSPX-", /[A-Za-z0-9_-]{28,}/y],
  ["google_token", "ya29.", /[A-Za-z0-9_-]{30,}/y],
  ["slack_token", "xox", /[a-z]-[A-Za-z0-9-]{15,}/y],
  ["slack_token", "xapp-", /[0-9]-[A-Za-z0-9-]{20,}/y],
  ["stripe_key", "sk_live_ rk_live_ sk_test_ rk_test_ whsec_", /[A-Za-z0-9]{16,}/y],
  ["npm_token", "npm_", /[A-Za-z0-9]{30,}/y],
  ["gitlab_token", "glpat- glptt- gldt- glrt- glft- glsoat- glagent-", /[A-Za-z0-9_-]{20,}/y],
  ["huggingface_token", "hf_", /[A-Za-z0-9]{30,}/y],
  ["sendgrid_key", "SG.", /[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{30,}/y],
  ["pypi_token", "pypi-AgE", /[A-Za-z0-9_-]{50,}/y],
  ["digitalocean_token", "dop_v1_ doo_v1_ dor_v1_", /[a-f0-9]{64,}/y],
  ["vault_token", "hvs. hvb.", /[A-Za-z0-9_-]{24,}/y],
  ["age_key", "AGE-SECRET-KEY-1", /[A-Z0-9]{50,}/y],
  // Not within a word, where what could be its first part might begin again and again.
  ["jwt", "eyJ", /(?<![_-]eyJ)[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/y],
];

interface KeyPrefix {
  readonly prefix: string;
  readonly label: string;
  readonly body: RegExp;
}

/** By their first two characters. */
const PREFIXES: (KeyPrefix[] | undefined)[] = Array.from({ length: PAIRS });
for (const [label, prefixes, body] of KEY_FORMATS) {
  for (const prefix of prefixes.split(" ")) {
    (PREFIXES[pairAt(prefix, 1)] ??= []).push({ prefix, label, body });
  }
}

/** No key is shorter; hardly a word of prose is as long. */
const SHORTEST_KEY = 20;

/** What keys are made of: letters and digits, and what may stand between them. */
const IN_KEY = new Uint8Array(128);
const ALPHANUMERIC = 1;
const JOINT = 2;
for (const char of BASE64.slice(0, 62)) IN_KEY[char.charCodeAt(0)] = ALPHANUMERIC;
for (const char of "_.-") IN_KEY[char.charCodeAt(0)] = JOINT;

function kindInKey(unit: number): number {
  return unit < 128 ? (IN_KEY[unit] as number) : 0;
}

/** Looks back from where the shortest key would end, so that most characters are never looked at. */
function findKeys(text: string, spans: Span[] | undefined): Span[] | undefined {
  let found = spans;
  let start = 0;
  while (start + SHORTEST_KEY <= text.length) {
    let at = start + SHORTEST_KEY - 1;
    while (at >= start && kindInKey(text.charCodeAt(at)) !== 0) at -= 1;
    if (at >= start) {
      start = at + 1;
      continue;
    }
    // A long word. Keys may begin where it does, and behind each of its joints.
    at = start + escapeEnd(text, start);
    for (;;) {
      const key = keyAt(text, at);
      if (key !== undefined) (found ??= []).push(key);
      if (key !== undefined) at = key.end;
      while (at < text.length && kindInKey(text.charCodeAt(at)) === ALPHANUMERIC) at += 1;
      if (at >= text.length || kindInKey(text.charCodeAt(at)) !== JOINT) break;
      at += 1;
    }
    start = at + 1;
  }
  return found;
}

function keyAt(text: string, at: number): Span | undefined {
  const candidates = at + 1 < text.length ? PREFIXES[pairAt(text, at + 1)] : undefined;
  if (candidates === undefined) return undefined;
  for (const { prefix, label, body } of candidates) {
    const match = text.startsWith(prefix, at) ? matchAt(body, text, at + prefix.length) : null;
    if (match === null) continue;
    return { start: at, end: at + prefix.length + match[0].length, label, known: false };
  }
  return undefined;
}

/** A letter before a key means it is none, unless the letter ends an escape: `\n`, `%3D`, a colour. */
function escapeEnd(text: string, at: number): number {
  const ending = ESCAPE_ENDINGS.get(text.charAt(at - 1));
  return ending === undefined ? 0 : (matchAt(ending, text, at)?.[0].length ?? 0);
}

const ESCAPE_ENDINGS: ReadonlyMap<string, RegExp> = new Map([
  ["\\", /u[0-9A-Fa-f]{4}|[bfnrt]/y],
  ["%", /[0-9A-Fa-f]{2}/y],
  ["[", /[0-9]{0,3}m/y],
  [";", /[0-9]{1,3}m/y],
]);

/** `scheme://user:password@host`. The password only; `${…}` and the like are no passwords. */
function findUserInfo(text: string, spans: Span[] | undefined): Span[] | undefined {
  if (!text.includes("@")) return spans;
  let found = spans;
  for (let at = text.indexOf("://"); at !== -1; at = text.indexOf("://", at + 3)) {
    const match = matchAt(USER_INFO, text, at);
    if (match === null) continue;
    const end = at + match[0].length - 1;
    const start = end - (match[1] as string).length;
    (found ??= []).push({ start, end, label: "url_password", known: false });
  }
  return found;
}

const USER_INFO =
  /:\/\/[^\s/?#@:"'`<>\\]{0,256}:(?![${<]|\[redacted:|\*+@|%[a-z]@)([^\s/?#@"'`<>\\]{1,1024})@/y;

interface Announcement {
  readonly label: string;
  /** Long ones: the shortest of them sets how fast a text can be skipped through. */
  readonly words: readonly string[];
  /** From the word on; the group, at the very end, is the secret. */
  readonly pattern: RegExp;
}

/** Secrets without a form of their own, known by the word before them. */
const ANNOUNCED: readonly Announcement[] = [
  {
    label: "authorization",
    words: ["Authorization", "authorization", "AUTHORIZATION"],
    pattern:
      /.{13}[\\"'\s:=,]{1,8}(?:[Bb]earer|BEARER|[Tt]oken)\s{1,3}((?=[A-Za-z._~+/-]{0,80}[0-9])[A-Za-z0-9._~+/=-]{8,})/y,
  },
  {
    label: "authorization",
    words: ["Authorization", "authorization", "AUTHORIZATION"],
    pattern: /.{13}[\\"'\s:=,]{1,8}[Bb]asic\s{1,3}((?=.[a-z]{0,80}[A-Z0-9=])[A-Za-z0-9+/=]{8,})/y,
  },
  {
    label: "aws_secret_key",
    words: ["SecretAccessKey", "secretAccessKey", "SECRET_ACCESS_KEY", "secret_access_key"],
    pattern:
      /[A-Za-z_]{15,17}[\\"'\s]{0,8}[:=>][\\"'\s]{0,8}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])/y,
  },
  {
    label: "azure_key",
    words: ["DefaultEndpointsProtocol="],
    pattern:
      /DefaultEndpointsProtocol=https?;AccountName=[a-z0-9]{3,24};AccountKey=([A-Za-z0-9+/]{60,}={0,2})/y,
  },
];

const LEADS: readonly Needle[] = [
  ...["PRIVATE KEY-----", "PRIVATE KEY BLOCK-----"].map((text) => ({
    text,
    spanAt: privateKeySpan,
  })),
  ...ANNOUNCED.flatMap(({ label, words, pattern }) =>
    words.map((text): Needle => ({ text, spanAt: announcedSpan(label, pattern) })),
  ),
];

const SCAN_LEADS = createScan(LEADS);

function announcedSpan(label: string, pattern: RegExp): Needle["spanAt"] {
  return (text, at) => {
    const match = matchAt(pattern, text, at);
    if (match === null) return undefined;
    const end = at + match[0].length;
    return { start: end - (match[1] as string).length, end, label, known: false };
  };
}

/**
 * A PEM block, or what there is of one that was cut off. Code that only names the header has no body.
 * The header stays: it says what was there.
 */
function privateKeySpan(text: string, at: number, length: number): Span | undefined {
  if (!KEY_HEADER.test(text.slice(Math.max(0, at - 60), at))) return undefined;
  const start = at + length;
  const dashes = text.indexOf("-----", start);
  const body = text.slice(start, dashes === -1 ? text.length : dashes);
  const foreign = body.search(NOT_IN_KEY_BODY);
  const end = start + (foreign === -1 ? body.length : foreign);
  if (!KEY_BODY.test(text.slice(start, end))) return undefined;
  return { start, end, label: "private_key", known: false };
}

const KEY_HEADER = /-----BEGIN [A-Z0-9 ]{0,40}$/;
const KEY_BODY = /[A-Za-z0-9+/=]{16}/;
const NOT_IN_KEY_BODY = /[^A-Za-z0-9+/=\s\\:,."'>|()-]/;
