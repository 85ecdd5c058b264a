// Head and tail of a text that may hold secrets: redacted first and cut afterwards, because half a secret
// is still a secret and no pattern knows it. Of a very long text only the ends are looked at, with a
// margin that is cut away again.

import type { Redactor } from "../journal/index.ts";
import { headTail } from "./head-tail.ts";

/** Longer than any secret we know of: a private key of 16 384 bits has about 13 000 characters. */
export const MARGIN = 16 * 1024;

export function redactedPreview(redactor: Redactor, text: string, maxChars: number): string {
  if (text.length <= maxChars + 4 * MARGIN) {
    return headTail(redactor.text(text), { maxChars }).text;
  }
  return joinedPreview(
    redactor,
    text.slice(0, maxChars + MARGIN),
    text.slice(-(maxChars + MARGIN)),
    maxChars,
    text.length,
  );
}

/** Of the two ends of a text of `chars` characters, each longer than shown by the margin. */
export function joinedPreview(
  redactor: Redactor,
  first: string,
  last: string,
  maxChars: number,
  chars: number,
): string {
  const line = `… about ${chars - maxChars} characters left out (of ${chars}) …`;
  const half = Math.max(0, Math.floor((maxChars - line.length - 2) / 2));
  const head = whole(redactor.text(first).slice(0, half));
  const redactedLast = redactor.text(last);
  const tail = whole(redactedLast.slice(Math.max(0, redactedLast.length - half)));
  return `${head}\n${line}\n${tail}`;
}

/** Half of a surrogate pair at either end goes. */
function whole(text: string): string {
  return text.replace(/^[\udc00-\udfff]/, "").replace(/[\ud800-\udbff]$/, "");
}
