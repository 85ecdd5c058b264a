// Which of its arguments says in a few words what a call is about: the file, the command or the words it is for.

import { isRecord } from "@soong/schema";

/** The first of these that an input has. */
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

/** As text, of any length. Undefined where none of them says anything, or the input has no fields. */
export function primaryArgument(input: unknown): string | undefined {
  if (!isRecord(input)) return undefined;
  const fields = input as Readonly<Record<string, unknown>>;
  for (const field of TELLING) {
    const value = Object.hasOwn(fields, field) ? fields[field] : undefined;
    if (typeof value === "string" && value !== "") return value;
    if (Array.isArray(value) && value.length > 0) return value.map(word).join(" ");
  }
  return undefined;
}

function word(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}
