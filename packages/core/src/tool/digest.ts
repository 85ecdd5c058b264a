// Canonical JSON and the one hash over it. Approval and execution are bound by these bytes, so the
// same value must give the same text on every machine: keys sorted, no white space.

import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";

/** `sha256:…` of the canonical JSON of a value. */
export function digestOf(value: unknown): string {
  return `sha256:${sha256Hex(canonicalJson(value))}`;
}

/** In hexadecimal digits. */
export function sha256Hex(data: string | Uint8Array): string {
  const platform = data.length < WORTH_THE_PLATFORM ? undefined : platformHash();
  if (platform !== undefined) return platform("sha256").update(data).digest("hex");
  return bytesToHex(sha256(typeof data === "string" ? utf8Bytes(data) : data));
}

/** Iterative would be longer; depth is bounded before anything reaches this (SCHEMA-8). */
export function canonicalJson(value: unknown): string {
  const walk = { isExact: true };
  const ordered = inKeyOrder(value, walk);
  // The engine writes plain data far faster than we can.
  return walk.isExact ? (JSON.stringify(ordered) ?? "null") : spelledOut(value);
}

/** A copy with the keys of every object in order, unless an object could not keep them in that order. */
function inKeyOrder(value: unknown, walk: { isExact: boolean }): unknown {
  if (typeof value !== "object" || value === null) return typeof value === "symbol" ? null : value;
  if (Array.isArray(value)) {
    return value.map((item) => (typeof item === "string" ? item : inKeyOrder(item, walk)));
  }
  const held = value as Readonly<Record<string, unknown>>;
  const ordered: Record<string, unknown> = {};
  for (const key of Object.keys(held).toSorted()) {
    const item = held[key];
    const kind = typeof item;
    if (kind === "undefined" || kind === "function") continue;
    // Indices come first in any object, whatever the order they were set in; and one key is no key.
    const first = key.charCodeAt(0);
    if ((first >= 0x30 && first <= 0x39) || key === "__proto__") walk.isExact = false;
    ordered[key] = kind === "object" || kind === "symbol" ? inKeyOrder(item, walk) : item;
  }
  return ordered;
}

function spelledOut(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => spelledOut(item)).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value)
      .filter(([, item]) => item !== undefined && typeof item !== "function")
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => `${JSON.stringify(key)}:${spelledOut(item)}`);
    return `{${entries.join(",")}}`;
  }
  return JSON.stringify(value) ?? "null";
}

/** Below this much the hash in JavaScript is as fast, and the platform's need not be loaded. */
const WORTH_THE_PLATFORM = 4_096;

type CreateHash = (name: "sha256") => {
  update(data: string | Uint8Array): { digest(form: "hex"): string };
};

interface Platform {
  readonly process?: {
    readonly getBuiltinModule?: (name: string) => { readonly createHash: CreateHash } | undefined;
  };
}

/** Node's own, where there is a Node: ten times as fast, and text need not be turned into bytes first. */
function platformHash(): CreateHash | undefined {
  return (globalThis as Platform).process?.getBuiltinModule?.("crypto")?.createHash;
}

/** With or without TextEncoder, which a bare context does not have. Lone surrogates become U+FFFD. */
export function utf8Bytes(text: string): Uint8Array<ArrayBuffer> {
  return ENCODER.encode(text);
}

const ENCODER = new TextEncoder();
