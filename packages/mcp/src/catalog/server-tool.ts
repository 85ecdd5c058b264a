// One definition of a server, read (MCP-1, REG-2): a tool, or the reason why it is none.

import type { JsonObject } from "@soong/core";
import { isJsonObject } from "@soong/schema";

/** What a server says of its tool, as it says it: this is what is pinned (MCP-7). */
export interface ServerTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly input_schema: JsonObject;
  readonly output_schema?: JsonObject;
  readonly annotations?: JsonObject;
}

export type ReadServerTool =
  | { readonly ok: true; readonly tool: ServerTool }
  | { readonly ok: false; readonly name: string | undefined; readonly problem: string };

const MAX_TOOL_CHARS = 1024 * 1024;

export function readServerTool(given: unknown): ReadServerTool {
  if (!isJsonObject(given)) return { ok: false, name: undefined, problem: "it is not an object" };
  const { name: called, description, title, inputSchema, outputSchema, annotations } = given;
  const name = typeof called === "string" && called !== "" ? called : undefined;
  const refuse = (problem: string): ReadServerTool => ({ ok: false, name, problem });
  if (name === undefined) return refuse("it has no name");
  if (jsonSize(given, MAX_TOOL_CHARS + 1) > MAX_TOOL_CHARS) {
    return refuse(`its definition is larger than ${MAX_TOOL_CHARS} characters`);
  }
  const input = isJsonObject(inputSchema) ? inputSchema : {};
  return {
    ok: true,
    tool: {
      name,
      ...(typeof title === "string" ? { title } : {}),
      ...(typeof description === "string" ? { description } : {}),
      // A reference server leaves the type out; arguments are an object all the same.
      input_schema: input["type"] === undefined ? { ...input, type: "object" } : input,
      ...(isJsonObject(outputSchema) ? { output_schema: outputSchema } : {}),
      ...(isJsonObject(annotations) ? { annotations } : {}),
    },
  };
}

/** About how long a JSON value is as text, of any depth, without making the text. Stops when the bound is passed. */
export function jsonSize(value: unknown, enough: number): number {
  let size = 0;
  const waiting: unknown[] = [value];
  while (waiting.length > 0 && size < enough) {
    const next = waiting.pop();
    size += 4;
    if (typeof next === "string") size += next.length;
    else if (Array.isArray(next)) {
      size += next.length;
      if (size < enough) for (const item of next) waiting.push(item);
    } else if (typeof next === "object" && next !== null) {
      for (const [key, held] of Object.entries(next)) {
        size += key.length + 4;
        waiting.push(held);
      }
    }
  }
  return size;
}
