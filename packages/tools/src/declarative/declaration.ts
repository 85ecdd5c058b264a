// The fields of a declarative tool (DECL-2) and what each may hold. What only the kernel can judge (the name,
// the schema) is left to the kernel.

import type { JsonObject } from "@soong/core";
import { isRecord } from "@soong/schema";
import { shape, type Shape, type ShapeValue } from "@soong/platform";

export type Declaration = ShapeValue<ReturnType<typeof declarationShape>>;

export const DEFAULT_OUTPUT_LIMIT_BYTES = 1024 * 1024;
const MAX_OUTPUT_LIMIT_BYTES = 16 * 1024 * 1024;
const MAX_COMMAND_CHARS = 64 * 1024;
const MAX_ITEMS = 256;

const { choice, flag, list, object, optional, refine, text, wholeNumber } = shape;

export function declarationShape({ maxTimeoutMs }: { maxTimeoutMs: number }) {
  const outputLimit = optional(wholeNumber(1, MAX_OUTPUT_LIMIT_BYTES));
  return object({
    name: text({ max: 256 }),
    description: text({ max: 16 * 1024 }),
    input_schema: jsonSchema,
    permission: optional(choice(["readonly", "write"])),
    concurrency_safe: optional(flag),
    tags: optional(list(tag, { max: 32 })),
    command_type: choice(["exec", "shell"]),
    command: text({ max: MAX_COMMAND_CHARS }),
    args: optional(list(text({ max: MAX_COMMAND_CHARS, mayBeEmpty: true }), { max: MAX_ITEMS })),
    working_dir: optional(directoryName),
    env_allowlist: optional(list(variableName, { max: MAX_ITEMS })),
    /** How stdout is read: a ToolResult as JSON by default, or any text. */
    output: optional(choice(["result", "text"])),
    timeout_ms: optional(wholeNumber(1, maxTimeoutMs)),
    stdout_limit_bytes: outputLimit,
    stderr_limit_bytes: outputLimit,
  });
}

/** The name of one environment variable, as it is: no pattern lets a secret through by accident. */
export const variableName = text({
  mayBeEmpty: true,
  problem: (name) =>
    /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)
      ? undefined
      : "is not the name of an environment variable; each has to be named in full",
});

/** Tags that say where a tool comes from: only the kernel gives them. */
const SOURCE_TAGS: ReadonlySet<string> = new Set([
  "internal",
  "agent",
  "mcp",
  "code",
  "declarative",
]);

const tag = text({
  problem(name) {
    if (!/^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$/.test(name)) {
      return 'is not a tag: letters, digits, "_", "-", "." and ":", at most 64 of them';
    }
    return SOURCE_TAGS.has(name)
      ? `"${name}" says where a tool comes from, which is not for a file to say`
      : undefined;
  },
});

const directoryName = refine(text({ max: 4096 }), (directory, place) => {
  if (directory.startsWith("~")) place.report('"~" is not expanded; write the whole path');
  if (directory.includes("{{")) {
    place.report("takes no template: the model never chooses where a command runs");
  }
});

/** What is in it only the kernel can judge. */
const jsonSchema: Shape<JsonObject> = (value, place) => {
  if (isRecord(value)) return;
  place.report(`is ${place.kindOf(value)}; an object, a JSON Schema, is expected`);
};
