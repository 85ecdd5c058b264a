// Tools and results go past the SDK unjudged: it would refuse a whole list for one odd tool, and a result
// for one unknown kind of content (MCP-1, MCP-4). The SDK sees an empty answer of the same kind and keeps
// the envelope, the eras and the bookkeeping; the real one rides along.

import {
  INTERNAL_ERROR,
  type JSONRPCMessage,
  type StandardSchemaV1,
  type Transport,
} from "@modelcontextprotocol/client";
import type { JsonObject } from "@soong/core";
import { isJsonObject } from "@soong/schema";

const RAW = Symbol("raw result");

const EMPTY = new Map<string, JsonObject>([
  ["tools/list", { tools: [] }],
  ["tools/call", { content: [] }],
  ["prompts/list", { prompts: [] }],
  ["prompts/get", { messages: [] }],
  ["resources/list", { resources: [] }],
  ["resources/templates/list", { resourceTemplates: [] }],
  ["resources/read", { contents: [] }],
  ["resources/subscribe", {}],
  ["resources/unsubscribe", {}],
  ["completion/complete", { completion: { values: [] } }],
  ["logging/setLevel", {}],
]);

const COMPLETE = { resultType: "complete", ttlMs: 0, cacheScope: "private" };

/** From now on answers of `transport` carry what the server really sent. */
export function keepRawResults(transport: Transport): void {
  const asked = new Map<string | number, string>();
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if ("method" in message && "id" in message && EMPTY.has(message.method)) {
      asked.set(message.id, message.method);
    }
    return send(message, options);
  };

  let handler: Transport["onmessage"];
  Object.defineProperty(transport, "onmessage", {
    configurable: true,
    set(given: Transport["onmessage"]) {
      handler = given;
    },
    get(): Transport["onmessage"] {
      const current = handler;
      if (current === undefined) return undefined;
      return (message, extra) => {
        current(replaceResult(message) as typeof message, extra);
      };
    },
  });

  /** A second time it leaves the message alone, because no one asks for it any more. */
  function replaceResult(message: JSONRPCMessage): JSONRPCMessage {
    if (!("id" in message) || message.id === undefined || "method" in message) return message;
    // Some servers send a number back as a text.
    const id = asked.has(message.id) ? message.id : Number(message.id);
    const empty = EMPTY.get(asked.get(id) ?? "");
    asked.delete(id);
    if (empty === undefined) return message;
    if ("error" in message) return { ...message, error: readError(message.error) };
    const result = isJsonObject(message.result) ? message.result : undefined;
    // A question instead of an answer is the SDK's to read.
    const { resultType = "complete" } = result ?? {};
    if (resultType !== "complete") return message;
    return { ...message, result: { ...empty, ...COMPLETE, [RAW]: result } };
  }
}

/** What the SDK would not take for an error at all, and wait on for ever. */
function readError(error: unknown): { code: number; message: string; data?: unknown } {
  const given = isJsonObject(error) ? error : {};
  const { code, message } = given;
  return {
    ...given,
    code: typeof code === "number" && Number.isInteger(code) ? code : INTERNAL_ERROR,
    message: typeof message === "string" ? message : "the server sent an error without a message",
  };
}

/** What to give as the schema of such a result: takes anything, and yields what the server sent. */
export const rawResult: StandardSchemaV1<unknown, JsonObject> = {
  "~standard": {
    version: 1,
    vendor: "soong",
    validate(value) {
      const raw = (value as { [RAW]?: JsonObject } | undefined)?.[RAW];
      return raw === undefined
        ? { issues: [{ message: "the answer is not an object" }] }
        : { value: raw };
    },
  },
};
