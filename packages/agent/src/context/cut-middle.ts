// A text cut to size, with its beginning and its end, and what is missing between them said.

import { isLowSurrogate } from "@soong/core/internal";

export function cutMiddle(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const head = wholeEnd(text, Math.ceil(maxChars / 2));
  const tail = wholeStart(text, text.length - Math.floor(maxChars / 2));
  return `${text.slice(0, head)}\n[… ${tail - head} characters left out …]\n${text.slice(tail)}`;
}

/** Never between the two halves of one character. */
function wholeEnd(text: string, at: number): number {
  return isLowSurrogate(text.charCodeAt(at)) ? at - 1 : at;
}

function wholeStart(text: string, at: number): number {
  return isLowSurrogate(text.charCodeAt(at)) ? at + 1 : at;
}
