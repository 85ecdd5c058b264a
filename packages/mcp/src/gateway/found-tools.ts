// The answer of a search, completed for a client that never lists again (GATE-3): under which name each
// found tool is called here, and with which arguments.

import type { JsonObject, ModelTools, ToolResult } from "@soong/core";
import { isJsonObject } from "@soong/schema";
import { CALL_TOOL } from "./list-tools.ts";
import { INLINE_LIMIT_BYTES } from "./client-runs.ts";

/** What a tool takes of the answer whose schema is omitted. */
const NAME_BYTES = 110;

export function withFoundTools(result: ToolResult, { tools, names }: ModelTools): ToolResult {
  const { data } = result;
  if (!isJsonObject(data)) return result;
  const found = [...namesIn(data, "loaded"), ...namesIn(data, "already_loaded")];
  if (found.length === 0) return result;
  const taken = Buffer.byteLength(JSON.stringify(data)) + found.length * NAME_BYTES;
  let room = INLINE_LIMIT_BYTES - taken;
  const callable = found.flatMap((canonical): JsonObject[] => {
    const name = names.toWire(canonical);
    const tool = tools.find((listed) => listed.name === name);
    if (tool === undefined) return [];
    const whole = {
      name,
      description: tool.description,
      input_schema: tool.input_schema as JsonObject,
    };
    const size = Buffer.byteLength(JSON.stringify(whole));
    if (size > room) return [{ name, input_schema: "too long for this answer: see tools/list" }];
    room -= size;
    return [whole];
  });
  const whole: JsonObject = {
    ...data,
    callable,
    how_to_call: `By name where your list of tools has it, else through ${CALL_TOOL}.`,
  };
  return { ...result, data: whole, content: [{ type: "json", json: whole }] };
}

function namesIn(data: JsonObject, key: string): string[] {
  const held = data[key];
  return Array.isArray(held) ? held.filter((name) => typeof name === "string") : [];
}
