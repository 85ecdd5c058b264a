// Text cut to a bound, never through the middle of a surrogate pair.

import { firstChars } from "@soong/core/internal";

/** One line of at most `chars` characters; what is cut off leaves an ellipsis. */
export function oneLine(text: string, chars: number): string {
  // Looks at no more than can matter: a message may be megabytes of text.
  const line = firstChars(text, chars * 8)
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim();
  const isWhole = line.length <= chars && text.length <= chars * 8;
  return isWhole ? line : `${firstChars(line, chars - 1).trimEnd()}…`;
}
