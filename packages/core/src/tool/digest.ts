// The one hash over canonical JSON. Approval and execution are bound by it.

import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { canonicalJson } from "@soong/schema";

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

/** A text, and what a store would otherwise find out each time it is kept. */
export interface MeasuredText {
  readonly text: string;
  readonly sha256: string;
  /** In bytes. */
  readonly size: number;
}

export function measureText(text: string): MeasuredText {
  const bytes = utf8Bytes(text);
  return { text, sha256: sha256Hex(bytes), size: bytes.length };
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
