// The schemas of Agent Tool and Agent Runtime, compiled, for all tests of exports. Each check returns what is wrong with
// a record, one line for each problem: an empty list means that it is valid.

import { readFileSync } from "node:fs";
import { type AnySchemaObject, Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { findUnknownValues } from "./agent-tool-values.ts";

export type RuntimeProfile = "public" | "lime";

/** By the `record_type` of the record: its schema, then the values that only the prose of the standard lists. */
export function validateAgentTool(record: object): string[] {
  const kind: unknown = Reflect.get(record, "record_type");
  const check = typeof kind === "string" ? AGENT_TOOL.get(kind) : undefined;
  if (check === undefined) return [`no schema for record_type ${JSON.stringify(kind)}`];
  return [...applySchema(check, record, String(kind)), ...findUnknownValues(record)];
}

/** `lime` also requires what the Lime profile requires. Default: the public core. */
export function validateAgentRuntimeEvent(
  event: unknown,
  { profile = "public" }: { readonly profile?: RuntimeProfile } = {},
): string[] {
  return applySchema(profile === "lime" ? LIME_EVENT : EVENT, event, "event");
}

export function validateAgentRuntimeSnapshot(
  snapshot: unknown,
  { profile = "public" }: { readonly profile?: RuntimeProfile } = {},
): string[] {
  return applySchema(profile === "lime" ? LIME_SNAPSHOT : SNAPSHOT, snapshot, "snapshot");
}

/** The record kinds of Agent Tool 0.2.0, with the name of the schema of each. */
export const AGENT_TOOL_SCHEMAS = {
  tool_declaration: "tool-declaration",
  tool_interface: "tool-interface",
  tool_surface: "tool-surface",
  deferred_tool_ref: "deferred-tool",
  tool_permission_profile: "permission-profile",
  tool_execution_profile: "execution-profile",
  tool_scheduler_policy: "scheduler-policy",
  tool_invocation: "invocation",
  tool_permission_decision: "permission-decision",
  tool_hook: "hook",
  tool_input_mutation: "input-mutation",
  tool_progress: "progress",
  tool_result: "result",
  tool_result_persistence: "result-persistence",
  tool_event: "event",
} as const;

/** One of the examples that come with the schemas of Agent Runtime. */
export function readFixture(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`schemas/fixtures/${name}`, import.meta.url), "utf8"));
}

const ajv = new Ajv2020({
  strict: true,
  allowUnionTypes: true,
  strictTypes: false,
  allErrors: true,
  formats: { "date-time": isDateTime },
});

const AGENT_TOOL: ReadonlyMap<string, ValidateFunction> = new Map(
  Object.entries(AGENT_TOOL_SCHEMAS).map(([kind, name]) => [
    kind,
    ajv.compile(readSchema(`agenttool-${name}`)),
  ]),
);

const EVENT = compileBase("agentruntime-event");
const SNAPSHOT = compileBase("agentruntime-snapshot");
const LIME_EVENT = ajv.compile(readSchema("agentruntime-lime-profile-event"));
const LIME_SNAPSHOT = ajv.compile(readSchema("agentruntime-lime-profile-snapshot"));

/** The profiles refer to the base schemas relative to their own address, which is not the `$id` of the base. */
function compileBase(name: string): ValidateFunction {
  const url = `https://limecloud.github.io/agentruntime/schemas/${name}.schema.json`;
  const { $id: _, ...schema } = readSchema(name);
  return ajv.compile({ $id: url, ...schema });
}

function readSchema(name: string): AnySchemaObject {
  const text = readFileSync(new URL(`schemas/${name}.schema.json`, import.meta.url), "utf8");
  return JSON.parse(text) as AnySchemaObject;
}

function applySchema(check: ValidateFunction, value: unknown, name: string): string[] {
  if (check(value)) return [];
  return (check.errors ?? []).map(
    ({ instancePath, message, params }) =>
      `${name}${instancePath} ${message ?? "is invalid"} ${JSON.stringify(params)}`,
  );
}

/** RFC 3339 with a zone: the only format that the schemas use. */
function isDateTime(text: string): boolean {
  return DATE_TIME.test(text) && !Number.isNaN(Date.parse(text));
}

const DATE_TIME =
  /^\d{4}-(0\d|1[0-2])-([0-2]\d|3[01])[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/u;
