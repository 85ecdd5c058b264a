// What a call is about, in a few words: the file, the command or the words it is for.

import { visibleLine } from "../output/index.ts";

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

/** `given`: the arguments as the model sent them, which need not be JSON. */
export function aboutCall(given: string): string {
  const input = parsed(given);
  if (typeof input !== "object" || input === null || Array.isArray(input)) return shown(given);
  const fields = input as Readonly<Record<string, unknown>>;
  for (const field of TELLING) {
    const value = Object.hasOwn(fields, field) ? fields[field] : undefined;
    if (typeof value === "string" && value !== "") return shown(value);
    if (Array.isArray(value) && value.length > 0) return shown(value.map(String).join(" "));
  }
  return Object.keys(fields).length === 0 ? "" : shown(given);
}

const LONGEST = 200;

/** Cut first: what comes from a model may be megabytes. */
function shown(text: string): string {
  return visibleLine(
    Array.from(text.slice(0, 2 * LONGEST))
      .slice(0, LONGEST)
      .join(""),
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
