// Arguments of another tool, written in the config as JSON with fields in it: `{"query": "{{query}}"}`. A text that is
// one field alone becomes the field's value, a list too; within a text a field is put in as text.

import type { JsonObject, JsonValue } from "@soong/core";
import { quote } from "@soong/core/internal";
import { isRecord, nearestName } from "@soong/schema";
import type { TextForm } from "./definition.ts";

export const WRITE_FIELDS = ["id", "content", "scope", "project", "tags"] as const;
export const RECALL_FIELDS = ["query", "scope", "limit", "project"] as const;

const FIELD = /\{\{\s*(\w*)\s*\}\}/g;

export function argumentTemplate(fields: readonly string[]): TextForm {
  const names = fields.map((field) => `\`{{${field}}}\``).join(", ");
  return {
    words: `JSON object as text, with the fields ${names}`,
    problem(text) {
      let parsed: unknown;
      try {
        parsed = JSON.parse(text);
      } catch {
        return "is not valid JSON";
      }
      if (!isRecord(parsed)) {
        return "is not a JSON object";
      }
      for (const [, field = ""] of text.matchAll(FIELD)) {
        if (fields.includes(field)) continue;
        const nearest = nearestName(field, fields) ?? fields.join(", ");
        return `has the unknown field ${quote(field)}; did you mean ${nearest}?`;
      }
      return undefined;
    },
  };
}

/** Of a template that `argumentTemplate` finds nothing wrong with. */
export function fillArguments(
  template: string,
  fields: Readonly<Record<string, JsonValue | undefined>>,
): JsonObject {
  return fill(JSON.parse(template) as JsonValue) as JsonObject;

  function fill(value: JsonValue): JsonValue {
    if (typeof value === "string") return fillText(value);
    if (Array.isArray(value)) return value.map(fill);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, held]) => [key, fill(held)]));
  }

  function fillText(text: string): JsonValue {
    const alone = /^\{\{\s*(\w+)\s*\}\}$/.exec(text)?.[1];
    if (alone !== undefined) return fields[alone] ?? "";
    return text.replace(FIELD, (_, field: string) => {
      const value = fields[field] ?? "";
      return typeof value === "string" ? value : JSON.stringify(value);
    });
  }
}
