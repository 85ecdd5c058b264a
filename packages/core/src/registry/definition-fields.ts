// The fields of a definition besides its schemas: what each must hold. The check at registration, the record of
// definitions and the comparison of two definitions read this one table.

import { aliasProblem, type AnyTool, type SourceKind } from "../tool/index.ts";

/** A type, `count` (a whole number above 0), `names` (a list of strings), `data`, or the words that are allowed. */
type FieldKind = "function" | "boolean" | "string" | "count" | "names" | "data" | readonly string[];

const FIELDS = {
  handler: "function",
  classify: "function",
  isEnabled: "function",
  normalise: "function",
  prepare: "function",
  prompt: "function",
  render: "function",
  targets: "function",
  timeoutFor: "function",
  validate: "function",
  defer: "boolean",
  always_load: "boolean",
  concurrency_safe: "boolean",
  destructive: "boolean",
  open_world: "boolean",
  repeatable: "boolean",
  starts_agent: "boolean",
  bounds_itself: "boolean",
  permission: ["readonly", "write"],
  interrupt_behavior: ["cancel", "block"],
  on_sibling_failure: ["cancel_siblings", "continue"],
  redaction: ["full", "known_values"],
  timeout_ms: "count",
  max_result_chars: "count",
  title: "string",
  search_hint: "string",
  tags: "names",
  aliases: "names",
  name: "data",
  description: "data",
  metadata: "data",
} as const satisfies Readonly<
  Record<Exclude<keyof AnyTool, "input_schema" | "output_schema">, FieldKind>
>;

type Field = keyof typeof FIELDS;
type FunctionField = {
  [Name in Field]: (typeof FIELDS)[Name] extends "function" ? Name : never;
}[Field];
export type DataField = Exclude<Field, FunctionField>;

const ALL = Object.entries(FIELDS) as [Field, FieldKind][];
export const DATA_FIELDS = ALL.flatMap(([field, kind]) =>
  kind === "function" ? [] : [field as DataField],
);
/** But for the handler, which every tool has. */
export const FUNCTION_FIELDS = ALL.flatMap(([field, kind]) =>
  kind === "function" && field !== "handler" ? [field] : [],
);

const MISTAKES: Readonly<Record<string, string>> = {
  function: "is not a function",
  boolean: "is neither true nor false",
  string: "is not text",
};

export type ReportField = (field: string, message: string) => void;

export function checkFields(
  definition: AnyTool,
  source: { readonly kind: SourceKind },
  report: ReportField,
): void {
  const { description, permission, tags } = definition;
  if (typeof description !== "string" || description.trim() === "") {
    report("description", "is missing; the model chooses a tool by it");
  }
  if (definition.handler === undefined) report("handler", "is not a function");
  for (const [field, kind] of ALL) {
    const value: unknown = definition[field];
    if (value === undefined || kind === "data") continue;
    if (kind === "count") {
      if (Number.isInteger(value) && (value as number) > 0) continue;
      report(field, `is ${JSON.stringify(value)}; expected a whole number above 0`);
    } else if (kind === "names") {
      if (!Array.isArray(value) || value.some((item) => typeof item !== "string")) {
        report(field, "is not a list of strings");
      } else if (field === "aliases") {
        for (const alias of value as string[]) {
          const problem = aliasProblem(alias, source);
          if (problem !== undefined) report(field, `"${alias}" ${problem}`);
        }
      }
    } else if (typeof kind === "string") {
      if (typeof value !== kind) report(field, MISTAKES[kind] ?? "");
    } else if (!kind.includes(value as string)) {
      report(field, `is ${JSON.stringify(value)}; expected ${kind.join(" or ")}`);
    }
  }
  if (permission === "readonly" && tags?.includes("write") === true) {
    report("tags", 'says "write" where permission says "readonly"');
  }
}
