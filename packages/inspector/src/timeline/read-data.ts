// Reading a record that may be of an older or a newer version, or nonsense: what is not as expected is not there. And
// text of any kind and length as one line of bounded length, in whole characters.

import { describeArguments } from "@soong/core";
import { asRecord } from "@soong/schema";

export type Data = Readonly<Record<string, unknown>>;

/** For a record that is handed on whole, or has each part that is read checked beside it. */
export function recordIn(value: unknown): object {
  return asRecord(value);
}

export function textIn(data: Data, field: string): string | undefined {
  const value = data[field];
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function countIn(data: Data, field: string): number | undefined {
  const value = data[field];
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

export function listIn(data: Data, field: string): readonly unknown[] {
  const value = data[field];
  return Array.isArray(value) ? value : [];
}

export function textsIn(data: Data, field: string): string[] {
  return listIn(data, field).filter((item) => typeof item === "string");
}

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
