// Whether a schema keeps a provider's strict rules, so that the provider may promise arguments that fit it.

import type { JsonSchema } from "@soong/core";
import { isRecord, keywordsOf } from "@soong/schema";
import type { StrictRules } from "./profile.ts";

/** Undefined where nothing is to be said of strictness at all. */
export function strictFlag(schema: JsonSchema, rules: StrictRules): boolean | undefined {
  if (rules.mode === "unsent") return undefined;
  const used = keywordsOf(schema);
  if (rules.refused_keywords.some((keyword) => used.has(keyword))) return false;
  return !rules.closed_objects || isClosed(schema);
}

function isClosed(node: unknown): boolean {
  if (Array.isArray(node)) return node.every(isClosed);
  if (!isRecord(node)) return true;
  if (mayBeObject(node) && !listsAllAsRequired(node)) return false;
  return Object.entries(node).every(([keyword, value]) =>
    HOLDS_SCHEMAS.has(keyword)
      ? isRecord(value) && Object.values(value).every(isClosed)
      : !HOLDS_SCHEMA.has(keyword) || isClosed(value),
  );
}

const HOLDS_SCHEMAS: ReadonlySet<string> = new Set(["properties", "$defs", "definitions"]);
const HOLDS_SCHEMA: ReadonlySet<string> = new Set(["items", "anyOf"]);

function mayBeObject({ type, properties }: Readonly<Record<string, unknown>>): boolean {
  return (
    type === "object" ||
    (Array.isArray(type) && type.includes("object")) ||
    properties !== undefined
  );
}

function listsAllAsRequired(node: Readonly<Record<string, unknown>>): boolean {
  const required = Array.isArray(node["required"]) ? node["required"] : [];
  const names = isRecord(node["properties"]) ? Object.keys(node["properties"]) : [];
  return node["additionalProperties"] === false && names.every((name) => required.includes(name));
}
