// Wire names (NAME-3): the name of a tool for a provider. A pure function of the canonical name
// and the provider's profile, never taken apart again: a request carries its own table for the way back.

import { sha256Hex } from "../tool/index.ts";

/** Which names a provider takes. Characters are spelled as ranges: `A-Za-z0-9_-`. */
export interface NameProfile {
  first_chars: string;
  chars: string;
  max_length: number;
}

/** Taken by every provider we know. */
export const PORTABLE_NAMES: NameProfile = {
  first_chars: "A-Za-z_",
  chars: "A-Za-z0-9_-",
  max_length: 64,
};

export interface WireNames {
  /** A name outside the table (a past call of a tool since gone) still has its wire name. */
  toWire(canonical: string): string;
  /** By the table only: undefined for what was not offered in this request. */
  toCanonical(wire: string): string | undefined;
}

/** The table of one request. */
export function wireNames(
  canonicalNames: readonly string[],
  profile: NameProfile = PORTABLE_NAMES,
): WireNames {
  const shape = readShape(profile);
  const table = fillTable(canonicalNames, shape);
  return {
    toWire: (canonical) => table.wire.get(canonical) ?? wireNameIn(shape, canonical),
    toCanonical: (wire) => table.canonical.get(wire),
  };
}

/** Throws a RangeError for a profile that leaves no room for any distinct names. */
export function wireNameOf(canonical: string, profile: NameProfile = PORTABLE_NAMES): string {
  return wireNameIn(readShape(profile), canonical);
}

interface Table {
  wire: Map<string, string>;
  canonical: Map<string, string>;
}

function fillTable(names: readonly string[], shape: Shape, isSorted = false): Table {
  const table: Table = { wire: new Map(), canonical: new Map() };
  for (const name of names) {
    let wire = wireNameIn(shape, name);
    for (let again = 1; (table.canonical.get(wire) ?? name) !== name; again += 1) {
      // Two hashes met. In sorted order, so that the outcome does not depend on the order of the request.
      if (!isSorted) return fillTable([...new Set(names)].toSorted(), shape, true);
      if (again > MAX_REHASH) {
        throw new RangeError(
          `${names.length} tools are more than the name profile can distinguish`,
        );
      }
      wire = hashed(shape, name, again);
    }
    table.wire.set(name, wire);
    table.canonical.set(wire, name);
  }
  return table;
}

const MAX_REHASH = 10_000;

/** A profile made ready: what replaces a dot, and how much room a hash leaves. */
interface Shape {
  readonly first: ReadonlySet<string>;
  readonly chars: ReadonlySet<string>;
  readonly maxLength: number;
  /** Doubled it means a dot, tripled it announces a hash. Empty: every name is hashed. */
  readonly joint: "_" | "-" | "";
  /** Begins a hashed name whose own beginning may not. */
  readonly opener: string;
  readonly digits: string;
  readonly hashLength: number;
  /** Canonical names that are their own wire names, dots aside. */
  readonly plain: RegExp;
  readonly known: Map<string, string>;
}

function wireNameIn(shape: Shape, canonical: string): string {
  const known = shape.known.get(canonical);
  if (known !== undefined) return known;
  const wire = plain(shape, canonical) ?? hashed(shape, canonical, 0);
  if (shape.known.size >= MAX_KNOWN) shape.known.clear();
  shape.known.set(canonical, wire);
  return wire;
}

const MAX_KNOWN = 20_000;

/**
 * `.` becomes `__`, for names where that can be undone: no other two underscores meet, so every pair is
 * a dot and no three of them (the mark of a hash) can arise.
 */
function plain(shape: Shape, canonical: string): string | undefined {
  const { joint, maxLength } = shape;
  if (canonical.length > maxLength || !shape.plain.test(canonical)) return undefined;
  const wire = canonical.replaceAll(".", joint + joint);
  return wire.length <= maxLength && shape.first.has(wire.charAt(0)) ? wire : undefined;
}

/** `mcp_git___k3j9x0q2m7ab_list_refs`: the hash says which, the words around it are for the reader. */
function hashed(shape: Shape, canonical: string, again: number): string {
  const { joint, opener } = shape;
  const hash = hashName(canonical, again, shape);
  if (joint === "") {
    // Nothing can mark the hash, so it always is in the same place.
    const room = shape.maxLength - opener.length - hash.length;
    return opener + hash + cutEnd(readable(canonical, shape), room, shape);
  }
  const lastDot = canonical.lastIndexOf(".");
  const head = escapeOpening(readable(canonical.slice(0, Math.max(0, lastDot)), shape), shape);
  const room = shape.maxLength - hash.length - 3;
  // Short of room, the tail goes before the head, all but the head's first letter.
  const tailRoom = room - 1 - Math.min(1, head.length);
  const tail = cutEnd(readable(canonical.slice(lastDot + 1), shape), tailRoom, shape);
  const end = tail === "" ? hash : hash + joint + tail;
  const start = withoutEnd(head.slice(0, room - (end.length - hash.length)), joint);
  return start + joint.repeat(3) + end;
}

function hashName(canonical: string, again: number, { digits, hashLength }: Shape): string {
  // As JSON, where two broken characters stay two.
  const hex = sha256Hex(JSON.stringify(again === 0 ? canonical : [canonical, again]));
  const base = BigInt(digits.length);
  let rest = BigInt(`0x${hex}`);
  let hash = "";
  while (hash.length < hashLength) {
    hash += digits.charAt(Number(rest % base));
    rest /= base;
  }
  return hash;
}

/** What of the name the provider's characters can spell, the rest as single joints. */
function readable(name: string, { chars, joint }: Shape): string {
  let text = "";
  for (const char of name) {
    const spelled = [char, char.toLowerCase(), char.toUpperCase()].find((one) => chars.has(one));
    if (spelled !== undefined && spelled !== joint) text += spelled;
    else if (text !== "" && !text.endsWith(joint)) text += joint;
  }
  return withoutEnd(text, joint);
}

function escapeOpening(head: string, { first, joint, opener }: Shape): string {
  if (first.has(head === "" ? joint : head.charAt(0))) return head;
  return opener + head;
}

/** The last characters, from the beginning of a word where that costs little. */
function cutEnd(text: string, room: number, { joint }: Shape): string {
  if (room <= 0) return "";
  if (text.length <= room) return text;
  const end = text.slice(text.length - room);
  const word = joint === "" ? -1 : end.indexOf(joint);
  return word < room / 2 ? end.slice(word + 1) : end;
}

/** At most one joint ends a readable text. */
function withoutEnd(text: string, joint: string): string {
  return joint !== "" && text.endsWith(joint) ? text.slice(0, -1) : text;
}

function readShape(profile: NameProfile): Shape {
  let shape = shapes.get(profile);
  if (shape === undefined) {
    shape = makeShape(profile);
    shapes.set(profile, shape);
  }
  return shape;
}

const shapes = new WeakMap<NameProfile, Shape>();

const LOWER = "abcdefghijklmnopqrstuvwxyz";
const HASH_DIGITS = `${LOWER}0123456789${LOWER.toUpperCase()}`.split("");
const HASH_BITS = 60;
const MIN_HASH_LENGTH = 12;

function makeShape(profile: NameProfile): Shape {
  const first = expandRanges(profile.first_chars);
  const chars = expandRanges(profile.chars);
  const joint = chars.has("_") ? "_" : chars.has("-") ? "-" : "";
  const opener = ["t", ...HASH_DIGITS, ...first].find((char) => first.has(char));
  let digits = "";
  for (const char of [...HASH_DIGITS, ...chars]) {
    const isNew = chars.has(char) && char !== joint && !digits.includes(char);
    if (isNew && digits.length < 32) digits += char;
  }
  const wanted = Math.max(MIN_HASH_LENGTH, Math.ceil(HASH_BITS / Math.log2(digits.length)));
  const hashLength = Math.min(wanted, profile.max_length - 1 - 3 * joint.length);
  if (opener === undefined || digits.length < 2 || !(hashLength >= 1)) {
    throw new RangeError(
      `no tool can be named under the name profile ${JSON.stringify(profile)}: it needs a first character, two more characters and some length`,
    );
  }
  const { max_length: maxLength } = profile;
  const plain = plainNames(chars, joint);
  return { first, chars, maxLength, joint, opener, digits, hashLength, plain, known: new Map() };
}

function plainNames(chars: ReadonlySet<string>, joint: string): RegExp {
  if (joint === "") return NO_NAME;
  const spelled = [...chars]
    .join("")
    .replace(joint, "")
    .replace(/[\\\]^-]/g, "\\$&");
  return new RegExp(`^(?:[.${joint}]?[${spelled}])*[.${joint}]?$`);
}

const NO_NAME = /(?!)/;

/** Spelled-out ranges. Only visible ASCII, and never the dot that tells canonical names apart. */
function expandRanges(ranges: string): Set<string> {
  const chars = new Set<string>();
  for (let i = 0; i < ranges.length; i += 1) {
    const from = ranges.charCodeAt(i);
    const isRange = ranges[i + 1] === "-" && i + 2 < ranges.length;
    if (isRange) i += 2;
    const to = Math.min(ranges.charCodeAt(i), 0x7e);
    for (let code = Math.max(from, 0x21); code <= to; code += 1) {
      chars.add(String.fromCharCode(code));
    }
  }
  chars.delete(".");
  return chars;
}
