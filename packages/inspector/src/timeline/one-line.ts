// Text of any kind and length as one line of bounded length, in whole characters.

import { describeArguments } from "@soong/core";

export const MOST_SUMMARY_CHARS = 160;

/** What a call is about: the file, the command or the words of its arguments as recorded, JSON text or a value. */
export function summarizeArguments(given: unknown): string | undefined {
  const line = oneLine(describeArguments(given) ?? "", MOST_SUMMARY_CHARS);
  return line === "" ? undefined : line;
}

/** Its line breaks and other controls become spaces. */
export function oneLine(text: string, most: number): string {
  // Cut before anything else: what comes from a model or a tool may be megabytes.
  const head = text
    .slice(0, 4 * most)
    .replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, " ")
    .trim();
  const isWhole = text.length <= 4 * most;
  if (isWhole && head.length <= most) return head;
  // A copy, so that the line does not keep a long text in memory.
  const characters = Array.from(head);
  if (isWhole && characters.length <= most) return characters.join("");
  return `${characters.slice(0, most - 1).join("")}…`;
}

/** Words as they are; any other value as JSON. */
export function asText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined ? "" : (JSON.stringify(value) ?? "");
}

/** Undefined where the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
