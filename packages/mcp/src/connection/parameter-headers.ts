// Arguments a tool wants in headers as well (`x-mcp-header`), so that intermediaries can
// read them: which they are, what they look like there, and that they are sent with the call. Only the newer
// era knows them, and only over HTTP.

import type { Transport } from "@modelcontextprotocol/client";
import { isRecord } from "@soong/schema";

export interface ParameterHeader {
  /** From the arguments inwards. */
  readonly path: readonly string[];
  readonly header: string;
}

export type ParameterHeaders =
  | { readonly ok: true; readonly headers: readonly ParameterHeader[] }
  | { readonly ok: false; readonly problem: string };

const KEY = "x-mcp-header";
const PREFIX = "Mcp-Param-";
const HEADER_TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const TYPES: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"]);
/** Deeper is no schema the user wrote; the walk must end. */
const MAX_DEPTH = 100;

type Fields = Readonly<Record<string, unknown>>;

/** What a tool's schema says of them; a tool that says something wrong is not to be offered. */
export function parameterHeaders(schema: unknown): ParameterHeaders {
  const headers: ParameterHeader[] = [];
  const taken = new Set<string>();
  const problem = walk(schema, [], true);
  return problem === undefined ? { ok: true, headers } : { ok: false, problem };

  /** `isDirect`: reached through `properties` alone, so that there is one place the value comes from. */
  function walk(node: unknown, path: readonly string[], isDirect: boolean): string | undefined {
    if (path.length > MAX_DEPTH || typeof node !== "object" || node === null) return undefined;
    const schema = node as Fields;
    const own = Object.hasOwn(schema, KEY) ? declare(schema, path, isDirect) : undefined;
    if (own !== undefined) return own;
    for (const [name, inner] of Object.entries(schema)) {
      if (DATA_KEYS.has(name)) continue;
      const isMap = SCHEMA_MAPS.has(name) && isRecord(inner);
      const isStraight = isDirect && name === "properties";
      for (const [key, child] of isMap ? Object.entries(inner) : [[name, inner] as const]) {
        const found = walk(child, [...path, key], isStraight);
        if (found !== undefined) return found;
      }
    }
    return undefined;
  }

  function declare(schema: Fields, path: readonly string[], isDirect: boolean): string | undefined {
    const name = schema[KEY];
    if (!isDirect || path.length === 0) return `${KEY} is where no argument is`;
    if (typeof name !== "string" || !HEADER_TOKEN.test(name)) {
      return `${KEY} of ${path.join(".")} cannot be part of a header's name`;
    }
    if (!TYPES.has(schema["type"])) {
      return `${KEY} of ${path.join(".")} is not for a text, an integer or a boolean`;
    }
    const lower = name.toLowerCase();
    if (taken.has(lower)) return `${KEY} "${name}" is there twice`;
    taken.add(lower);
    headers.push({ path, header: `${PREFIX}${name}` });
    return undefined;
  }
}

/** Keywords whose members are schemas by name. */
export const SCHEMA_MAPS: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "dependentSchemas",
  "$defs",
  "definitions",
]);
/** Keywords that hold values, not schemas. */
const DATA_KEYS: ReadonlySet<string> = new Set(["default", "const", "enum", "examples", KEY]);

/** From now on calls of `transport` carry the headers of the tools that were noted. */
export function mirrorParameters(transport: Transport): { note(tools: readonly unknown[]): void } {
  const schemas = new Map<unknown, unknown>();
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    const isCall = "method" in message && message.method === "tools/call";
    const { name, arguments: input } = (isCall ? (message.params ?? {}) : {}) as Fields;
    const found = parameterHeaders(schemas.get(name));
    if (!found.ok || found.headers.length === 0) return send(message, options);
    return send(message, { ...options, headers: headersFor(found.headers, input) });
  };
  return {
    note(tools) {
      for (const tool of tools) {
        const { name, inputSchema } = (tool ?? {}) as Fields;
        if (typeof name === "string") schemas.set(name, inputSchema);
      }
    },
  };
}

function headersFor(declared: readonly ParameterHeader[], input: unknown): Record<string, string> {
  const headers: [string, string][] = [];
  for (const { path, header } of declared) {
    let value = input;
    for (const key of path) {
      value = isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
    }
    const text = renderHeader(value);
    if (text !== undefined) headers.push([header, headerValue(text)]);
  }
  return Object.fromEntries(headers);
}

/** Numbers that a reader may take for another are omitted. */
function renderHeader(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  if (typeof value !== "number" || !Number.isFinite(value)) return undefined;
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? undefined : String(value);
}

/** Plain where every reader gets the same text back, else in Base64 between marks. */
function headerValue(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text);
  const isMarked = text.startsWith("=?base64?") && text.endsWith("?=");
  return isPlain && !isMarked ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;
}
