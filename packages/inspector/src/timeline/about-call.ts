// What a call is about, in a line: the file, the command or the words it is for.

import { describeArguments } from "@soong/core";
import { oneLine } from "./one-line.ts";

export const MOST_SUMMARY_CHARS = 160;

/** `given`: the arguments as they are on record, text that need not be JSON or a value. */
export function aboutCall(given: unknown): string | undefined {
  const line = oneLine(describeArguments(given) ?? "", MOST_SUMMARY_CHARS);
  return line === "" ? undefined : line;
}

/** Undefined where the text is no JSON. */
export function parsedInput(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
