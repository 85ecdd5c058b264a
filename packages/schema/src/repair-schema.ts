// A schema with parts that are none (MCP-10): what cannot be read is omitted, place by place, so that a server's
// tool is not lost for it. Only for schemas that are not ours to refuse.

import { pointerTokens, isRecord, isSchemaNode, type JsonObject } from "./json.ts";
import { readSchema } from "./read-schema.ts";
import { VOCABULARY } from "./vocabulary.ts";

export interface RepairedSchema {
  readonly schema: JsonObject;
  /** Of what was omitted; empty for a schema that is taken as it is. */
  readonly pointers: readonly string[];
}

const MAX_ROUNDS = 10;
const MAX_SHOWN_CHARS = 200;

export function repairSchema(given: JsonObject): RepairedSchema {
  let schema = asArguments(given);
  const pointers = schema === given ? [] : ["/type"];
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const read = readSchema(schema);
    if (read.ok) return { schema, pointers };
    const places = read.problems.map(({ pointer }) => pointer).filter((pointer) => pointer !== "");
    // It is too large, or no JSON: nothing of it can be named.
    if (places.length === 0) break;
    if (schema === given || round === 0) schema = JSON.parse(JSON.stringify(schema)) as JsonObject;
    for (const pointer of places) leaveOut(schema, pointerTokens(pointer));
    pointers.push(...places);
  }
  return { schema: { type: "object" }, pointers: [""] };
}

/** Arguments are an object, even if the root says otherwise. */
function asArguments(given: JsonObject): JsonObject {
  const { type } = given;
  const isFine = type === "object" || (Array.isArray(type) && type.includes("object"));
  return type === undefined || isFine ? given : { ...given, type: "object" };
}

function leaveOut(schema: JsonObject, path: readonly string[]): void {
  let holder: unknown = schema;
  for (const step of path.slice(0, -1)) {
    holder = isRecord(holder) || Array.isArray(holder) ? Reflect.get(holder, step) : undefined;
  }
  const key = path.at(-1) ?? "";
  if (Array.isArray(holder)) {
    holder[Number(key)] = {};
    return;
  }
  if (!isRecord(holder)) return;
  const held = holder[key];
  const fields = holder as JsonObject;
  // Of several fields only those go that are no schemas: the names of the others are worth knowing.
  if (VOCABULARY.get(key)?.holds === "schema map" && isRecord(held)) {
    fields[key] = Object.fromEntries(
      Object.entries(held).map(([name, node]) => [
        name,
        isSchemaNode(node) ? node : describeNode(node),
      ]),
    ) as JsonObject;
  } else delete fields[key];
}

/** What stood there, for the model to make sense of. */
function describeNode(node: unknown): JsonObject {
  return { description: JSON.stringify(node).slice(0, MAX_SHOWN_CHARS) };
}
