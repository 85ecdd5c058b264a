// A page of documentation made from a tool's definition. What is written by hand is below the mark
// and is kept.

import type { AnyTool } from "@soong/core";

export const HAND_WRITTEN =
  "<!-- Made from the definition above this line; written by hand below. -->";

interface Field {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Field;
  readonly properties?: Readonly<Record<string, Field>>;
  readonly required?: readonly string[];
}

/** `existing`: the page as it is, whose hand-written part is taken over. */
export function toolPage(tool: AnyTool, existing = ""): string {
  const schema = tool.input_schema as Field;
  const written = existing.split(HAND_WRITTEN)[1] ?? "\n";
  return [
    `# ${tool.name}`,
    "",
    tool.description,
    "",
    "## Input",
    "",
    "| field | type | needed | meaning |",
    "| --- | --- | --- | --- |",
    ...rows(schema, ""),
    "",
    "## What it says of itself",
    "",
    "| fact | value |",
    "| --- | --- |",
    ...facts(tool).map(([fact, value]) => `| ${fact} | ${value} |`),
    "",
    HAND_WRITTEN,
  ]
    .join("\n")
    .concat(written);
}

function rows({ properties = {}, required = [] }: Field, prefix: string): string[] {
  return Object.entries(properties).flatMap(([name, field]) => [
    `| \`${prefix}${name}\` | ${typeOf(field)} | ${required.includes(name) ? "yes" : "no"} | ${meaning(field)} |`,
    ...rows(field.items ?? field, `${prefix}${name}${field.items === undefined ? "" : "[]"}.`),
  ]);
}

function typeOf({ type = "any", items }: Field): string {
  const name = typeof type === "string" ? type : type.join(" or ");
  return items === undefined ? name : `${name} of ${typeOf(items)}`;
}

function meaning({ description = "", default: fallback, minimum, maximum }: Field): string {
  const bounds = [
    ...(fallback === undefined ? [] : [`default \`${JSON.stringify(fallback)}\``]),
    ...(minimum === undefined ? [] : [`at least ${minimum}`]),
    ...(maximum === undefined ? [] : [`at most ${maximum}`]),
  ];
  const text = description.replaceAll(/[|*_]/g, "\\$&");
  return bounds.length === 0 ? text : `${text} (${bounds.join(", ")})`;
}

function facts(tool: AnyTool): [string, string][] {
  const given: [string, unknown][] = [
    ["permission", tool.permission ?? "write"],
    ["tags", (tool.tags ?? []).join(", ")],
    ["runs beside others", tool.concurrency_safe === true ? "yes" : "no"],
    ["bounds its own result", tool.bounds_itself === true ? "yes" : undefined],
    ["redaction", tool.redaction],
    ["timeout", tool.timeout_ms === undefined ? undefined : `${tool.timeout_ms} ms`],
    ["when new input comes in", tool.interrupt_behavior],
    ["when it fails", tool.on_sibling_failure],
  ];
  return given
    .filter(([, value]) => value !== undefined && value !== "")
    .map(([fact, value]) => [fact, String(value)]);
}
