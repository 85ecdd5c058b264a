// A known value as a text can hold it: plainly, in upper or lower case, in hex, and within base64. Escapes are
// in respelled-values.ts.

import { utf8Bytes } from "../../tool/index.ts";
import { base64Cores, isBase64Char } from "./base64.ts";
import type { KnownSecret } from "./known-secret.ts";
import type { Needle } from "./scan.ts";

/** The value itself and its other forms; of base64 the part that shows wherever in the encoded bytes it begins. */
export function needlesOf({ name, value }: KnownSecret): Needle[] {
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
