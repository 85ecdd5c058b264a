// The one text a model gets for arguments that do not fit: every field, what was expected, what came.

import { describeSchema } from "./describe-schema.ts";
import { isRecord, type JsonSchema } from "./json.ts";
import type { ValidationIssue } from "./validation-issues.ts";

const MAX_SHOWN = 20;
const MAX_FIELDS_TEXT = 600;

/** With the (lowered) schema the fields are named too, so that one turn is enough to correct the call. */
export function formatIssues(
  toolName: string,
  issues: readonly ValidationIssue[],
  schema?: JsonSchema,
): string {
  const lines = [`The arguments for ${toolName} do not fit its schema:`];
  for (const { path, message } of issues.slice(0, MAX_SHOWN)) {
    lines.push(`- ${path === "" ? "the arguments" : path}: ${message}`);
  }
  if (issues.length > MAX_SHOWN) lines.push(`- and ${issues.length - MAX_SHOWN} more`);
  const fields = schema === undefined ? "" : fieldsText(schema);
  if (fields !== "") lines.push(`Fields: ${fields}`);
  return lines.join("\n");
}

function fieldsText(schema: JsonSchema): string {
  if (!isRecord(schema.properties)) return "";
  const required: unknown[] = Array.isArray(schema.required) ? schema.required : [];
  let text = "";
  for (const [name, field] of Object.entries(schema.properties)) {
    const mark = required.includes(name) ? ", required" : "";
    const next = `${text}${text === "" ? "" : "; "}${name} (${describeSchema(field)}${mark})`;
    if (next.length > MAX_FIELDS_TEXT) return `${text}; …`;
    text = next;
  }
  return text;
}
