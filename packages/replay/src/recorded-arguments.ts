// The arguments of a recorded call, as they can be given once more. They were recorded without secrets: where a
// placeholder does not fit the schema, a fitting value replaces it, because the record says that the input was valid.

import type { JsonObject, JsonValue, RegisteredTool } from "@soong/core";
import { ARGUMENTS_NAME } from "@soong/core/internal";
import { isJsonObject, parseArguments } from "@soong/schema";
import type { RecordedCall } from "./recorded-call.ts";
import { readArtifact, type ReplaySource } from "./source.ts";

export type RecordedArguments =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly why: string };

export async function readArguments(
  source: ReplaySource,
  call: RecordedCall,
  tool: RegisteredTool | undefined,
): Promise<RecordedArguments> {
  const { model_input, model_input_chars } = call.requested.data;
  if (model_input_chars !== undefined) return readLongArguments(source, call, model_input_chars);
  const parsed = parseArguments(model_input, NO_LIMITS);
  if (tool === undefined || !parsed.ok || !hasPlaceholder(parsed.value)) {
    return { ok: true, value: model_input };
  }
  if (call.validated === undefined) {
    return {
      ok: false,
      why: "its arguments were refused, and the placeholder of a secret in them may not be",
    };
  }
  if (tool.input.check(parsed.value).ok) return { ok: true, value: model_input };
  const fitting = fillPlaceholders(parsed.value, tool);
  return fitting === undefined
    ? { ok: false, why: "the placeholder of a secret in its arguments does not fit its schema" }
    : { ok: true, value: fitting };
}

const NO_LIMITS = { maxBytes: Number.MAX_SAFE_INTEGER, maxDepth: 512 };

/** Kept whole where they were valid; else only that they were too long is known. */
async function readLongArguments(
  source: ReplaySource,
  call: RecordedCall,
  chars: number,
): Promise<RecordedArguments> {
  const { kept_as } = call;
  if (kept_as === undefined) return { ok: true, value: " ".repeat(chars) };
  const bytes = await readArtifact(source, kept_as);
  return bytes === undefined
    ? {
        ok: false,
        why: `its ${ARGUMENTS_NAME} (${kept_as}) is missing; \`soong verify --artifacts\` says more`,
      }
    : { ok: true, value: new TextDecoder().decode(bytes) };
}

const PLACEHOLDER = /\[redacted/;

export function hasPlaceholder(value: JsonValue): boolean {
  return PLACEHOLDER.test(JSON.stringify(value));
}

/** One value after the other is replaced where the schema complains, as long as it complains of placeholders. */
function fillPlaceholders(given: JsonObject, { input }: RegisteredTool): JsonObject | undefined {
  const value = structuredClone(given);
  for (let rounds = 0; rounds < 100; rounds += 1) {
    const checked = input.check(value);
    if (checked.ok) return value;
    const isReplaced = checked.issues.some(({ path }) => replaceAt(value, input.original, path));
    if (!isReplaced) return undefined;
  }
  return undefined;
}

function replaceAt(value: JsonObject, schema: unknown, path: string): boolean {
  const steps = path.split(/[./]|\[(\d+)\]/).filter((step) => step !== undefined && step !== "");
  let holder: JsonValue = value;
  let at: unknown = schema;
  for (const [i, step] of steps.entries()) {
    const { properties, items } = (at ?? {}) as { properties?: JsonObject; items?: unknown };
    at = properties !== undefined && Object.hasOwn(properties, step) ? properties[step] : items;
    const inside: JsonValue | undefined = (holder as JsonObject)[step];
    if (i < steps.length - 1) {
      if (typeof inside !== "object" || inside === null) return false;
      holder = inside;
    } else if (typeof inside === "string" && PLACEHOLDER.test(inside)) {
      const fitting = fittingValue(at);
      if (fitting === undefined) return false;
      (holder as JsonObject)[step] = fitting;
      return true;
    }
  }
  return false;
}

const FITTING: ReadonlyMap<unknown, JsonValue> = new Map<unknown, JsonValue>([
  ["boolean", false],
  ["array", []],
  ["object", {}],
]);

function fittingValue(schema: unknown): JsonValue | undefined {
  if (!isJsonObject(schema)) return undefined;
  const { type, minimum, enum: choices } = schema;
  if (schema["const"] !== undefined) return schema["const"];
  if (Array.isArray(choices)) return choices[0];
  if (type !== "number" && type !== "integer") return structuredClone(FITTING.get(type));
  return typeof minimum === "number" ? Math.ceil(minimum) : 0;
}
