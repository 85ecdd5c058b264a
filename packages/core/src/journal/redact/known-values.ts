// A known value as it can stand in a text: plainly, and within base64. Escapes are another file's.

import { utf8Bytes } from "../../tool/index.ts";
import { base64Cores, isBase64Char } from "./base64.ts";
import type { KnownSecret } from "./known-secret.ts";
import type { Needle } from "./scan.ts";

/** The value itself, and what of it shows in base64 wherever in the encoded bytes it begins. */
export function needlesOf({ name, value }: KnownSecret): Needle[] {
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
    const start = isBase64Char(text.charAt(at - 1)) ? at - 1 : at;
    let end = at + length;
    if (isBase64Char(text.charAt(end))) end += 1;
    while (text.charAt(end) === "=") end += 1;
    return { start, end, label, known: true };
  };
}
