// Private keys in PEM or PGP armour, known by the line above them, whole or cut off. Public keys and
// certificates are none.

import type { Needle } from "./scan.ts";
import type { Span } from "./span.ts";

export function privateKeyNeedles(): Needle[] {
  return ["PRIVATE KEY-----", "PRIVATE KEY BLOCK-----"].map((text) => ({
    text,
    spanAt: privateKeySpan,
  }));
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
