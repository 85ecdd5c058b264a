// One line as it is shown: whole, or cut to a number of bytes on a character border, and never in the
// middle of a secret, because half of one would not be recognised when the result is redacted.

import { isHighSurrogate } from "@soong/schema";
import { cutToBytes } from "../text/index.ts";

export interface ShownLine {
  text: string;
  cut: boolean;
}

/** `text`: the line, or of a very long one so much that a secret across the border ends in it. */
export function fitLine(
  text: string,
  maxBytes: number,
  redact: (text: string) => string,
): ShownLine {
  const head = cutToBytes(text, maxBytes);
  if (head.length === text.length) return { text, cut: false };
  const alone = redact(head);
  const within = redact(text);
  const isWhole = alone + redact(text.slice(head.length)) === within;
  return { text: isWhole ? head : commonStart(alone, within), cut: true };
}

/** Where both differ, the secret begins that lies across the border. */
function commonStart(one: string, other: string): string {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return one.slice(0, isHighSurrogate(one.charCodeAt(length - 1)) ? length - 1 : length);
}
