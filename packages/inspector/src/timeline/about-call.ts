// What a call is about, in a line: the file, the command or the words it is for.

import { asText, oneLine } from "./one-line.ts";
import { dataIn, type Data } from "./read-data.ts";

export const MOST_SUMMARY_CHARS = 160;

/** The first of these that an input has says what the call is about. */
const TELLING = [
  "path",
  "argv",
  "command",
  "query",
  "pattern",
  "url",
  "uri",
  "artifact_id",
  "name",
  "task",
  "step_id",
];

/** `given`: the arguments as they are on record, text that need not be JSON or a value. */
export function aboutCall(given: unknown): string | undefined {
  const input = typeof given === "string" ? parsedInput(given) : given;
  const about = telling(dataIn(input)) ?? (isEmpty(input) ? "" : asText(given));
  const line = oneLine(about, MOST_SUMMARY_CHARS);
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

function telling(fields: Data): string | undefined {
  for (const field of TELLING) {
    const value = Object.hasOwn(fields, field) ? fields[field] : undefined;
    if (typeof value === "string" && value !== "") return value;
    if (Array.isArray(value) && value.length > 0) return value.map(asText).join(" ");
  }
  return undefined;
}

function isEmpty(input: unknown): boolean {
  return typeof input === "object" && input !== null && Object.keys(input).length === 0;
}
