// The fields of a declarative tool (DECL-2) and what each may hold. What only the kernel can judge (the name,
// the schema) is left to the kernel.

import type { JsonObject, Permission } from "@soong/core";
import {
  listOf,
  nonEmptyText,
  oneOf,
  wholeNumber,
  type FieldCheck,
  type FieldRules,
} from "../json/index.ts";

export interface Declaration {
  name: string;
  description: string;
  input_schema: JsonObject;
  permission?: Permission;
  concurrency_safe?: boolean;
  tags?: string[];
  command_type: "exec" | "shell";
  command: string;
  args?: string[];
  working_dir?: string;
  env_allowlist?: string[];
  /** How stdout is read: a ToolResult as JSON unless given, or any text. */
  output?: "result" | "text";
  timeout_ms?: number;
  stdout_limit_bytes?: number;
  stderr_limit_bytes?: number;
}

export const DEFAULT_OUTPUT_LIMIT_BYTES = 1024 * 1024;
const MAX_OUTPUT_LIMIT_BYTES = 16 * 1024 * 1024;
const MAX_COMMAND_CHARS = 64 * 1024;
const MAX_ITEMS = 256;

export function declarationRules({ maxTimeoutMs }: { maxTimeoutMs: number }): FieldRules {
  const outputLimit = wholeNumber(1, MAX_OUTPUT_LIMIT_BYTES);
  const required = (check: FieldCheck) => ({ required: true, check });
  const optional = (check: FieldCheck) => ({ required: false, check });
  return new Map([
    ["name", required(nonEmptyText(256))],
    ["description", required(nonEmptyText(16 * 1024))],
    ["input_schema", required(anObject)],
    ["permission", optional(oneOf(["readonly", "write"]))],
    ["concurrency_safe", optional(flag)],
    ["tags", optional(listOf(tag, 32))],
    ["command_type", required(oneOf(["exec", "shell"]))],
    ["command", required(nonEmptyText(MAX_COMMAND_CHARS))],
    ["args", optional(listOf(argument, MAX_ITEMS))],
    ["working_dir", optional(directoryName)],
    ["env_allowlist", optional(listOf(variableName, MAX_ITEMS))],
    ["output", optional(oneOf(["result", "text"]))],
    ["timeout_ms", optional(wholeNumber(1, maxTimeoutMs))],
    ["stdout_limit_bytes", optional(outputLimit)],
    ["stderr_limit_bytes", optional(outputLimit)],
  ]);
}

/** The name of one environment variable, as it is: no pattern lets a secret through by accident. */
export const variableName: FieldCheck = (value, report) => {
  if (typeof value !== "string" || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(value)) {
    report([], "is not the name of an environment variable; each has to be named in full");
  }
};

/** Tags that say where a tool comes from: only the kernel gives them. */
const SOURCE_TAGS: ReadonlySet<string> = new Set([
  "internal",
  "agent",
  "mcp",
  "code",
  "declarative",
]);

const tag: FieldCheck = (value, report) => {
  if (typeof value !== "string" || !/^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$/.test(value)) {
    report([], 'is not a tag: letters, digits, "_", "-", "." and ":", at most 64 of them');
  } else if (SOURCE_TAGS.has(value)) {
    report([], `"${value}" says where a tool comes from, which is not for a file to say`);
  }
};

const argument: FieldCheck = (value, report) => {
  if (typeof value !== "string") report([], "is not text; numbers stand in double quotes, too");
  else if (value.includes("\0")) report([], "contains a NUL character");
  else if (value.length > MAX_COMMAND_CHARS) {
    report([], `has ${value.length} characters; at most ${MAX_COMMAND_CHARS} are allowed`);
  }
};

const directoryName: FieldCheck = (value, report) => {
  nonEmptyText(4096)(value, report);
  if (typeof value !== "string") return;
  if (value.startsWith("~")) report([], '"~" is not expanded; write the whole path');
  if (value.includes("{{"))
    report([], "takes no template: the model never chooses where a command runs");
};

const flag: FieldCheck = (value, report) => {
  if (typeof value !== "boolean") report([], "is neither true nor false");
};

const anObject: FieldCheck = (value, report) => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    report([], "is not an object; a JSON Schema is expected");
  }
};
