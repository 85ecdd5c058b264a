import type { Transport } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { mirrorParameters, parameterHeaders } from "./parameter-headers.ts";

const of = (type: unknown, name: unknown) => ({ type, "x-mcp-header": name });
const object = (properties: object) => ({ type: "object", properties });

describe("the arguments a schema wants in headers", () => {
  test("are found at any depth of properties, and nothing is taken for them that is not one", () => {
    verifies("MCP-9");
    const schema = object({
      region: of("string", "Region"),
      deep: object({ count: of("integer", "Count") }),
      // A property of that name is not the keyword, and values are not schemas.
      "x-mcp-header": { type: "string" },
      plain: { default: { "x-mcp-header": "No" }, enum: [{ "x-mcp-header": "No" }] },
    });
    expect(parameterHeaders(schema)).toEqual({
      ok: true,
      headers: [
        { path: ["region"], header: "Mcp-Param-Region" },
        { path: ["deep", "count"], header: "Mcp-Param-Count" },
      ],
    });
    for (const none of [undefined, null, 1, "x", [], {}, object({})]) {
      expect(parameterHeaders(none)).toEqual({ ok: true, headers: [] });
    }
  });

  test.each([
    ["an empty name", object({ a: of("string", "") })],
    ["no text", object({ a: of("string", 1) })],
    ["a space", object({ a: of("string", "a b") })],
    ["a line break", object({ a: of("string", "a\r\nX-Evil: 1") })],
    ["a colon", object({ a: of("string", "a:b") })],
    ["a letter beyond ASCII", object({ a: of("string", "é") })],
    ["an object", object({ a: of("object", "A") })],
    ["a number with a fraction", object({ a: of("number", "A") })],
    ["no type", object({ a: of(undefined, "A") })],
    ["the same twice", object({ a: of("string", "A"), b: of("string", "a") })],
    ["the whole", { ...object({}), "x-mcp-header": "A" }],
    ["items", object({ a: { type: "array", items: of("string", "A") } })],
    ["a choice", object({ a: { anyOf: [of("string", "A")] } })],
    ["definitions", { ...object({}), $defs: { a: of("string", "A") } }],
    ["properties within a choice", { ...object({}), allOf: [object({ a: of("string", "A") })] }],
  ])("with %s make the definition wrong", (_name, schema) => {
    verifies("MCP-9");
    expect(parameterHeaders(schema)).toMatchObject({ ok: false });
  });
});

test("a call carries them, written so that every reader gets the same back", async () => {
  verifies("MCP-9");
  const sent: unknown[] = [];
  const transport = {
    send(_message: unknown, options?: { headers?: unknown }) {
      sent.push(options?.headers);
      return Promise.resolve();
    },
  } as unknown as Transport;
  const mirror = mirrorParameters(transport);
  const properties = {
    text: of("string", "Text"),
    count: of("integer", "N"),
    is: of("boolean", "Is"),
  };
  const inputSchema = object({ ...properties, deep: object({ a: of("string", "Deep") }) });
  mirror.note([{ name: "look", inputSchema }, null, { name: 1 }, { name: "plain" }]);
  const call = async (name: string, input: unknown) => {
    const params = { name, arguments: input } as never;
    await transport.send({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    return sent.pop();
  };
  const base64 = (text: string) => `=?base64?${Buffer.from(text).toString("base64")}?=`;
  expect(await call("look", { text: "us west", count: 42, is: false, deep: { a: "b" } })).toEqual({
    "Mcp-Param-Text": "us west",
    "Mcp-Param-N": "42",
    "Mcp-Param-Is": "false",
    "Mcp-Param-Deep": "b",
  });
  for (const text of ["", " a", "a ", "\t", "a\nb", "a\r\nX-Evil: 1", "世界", "=?base64?YQ==?="]) {
    expect(await call("look", { text })).toEqual({ "Mcp-Param-Text": base64(text) });
  }
  for (const input of [undefined, null, {}, { text: null, count: 2 ** 60, deep: 1, is: {} }]) {
    expect(await call("look", input)).toEqual({});
  }
  expect(await call("plain", { text: "a" })).toBeUndefined();
  expect(await call("other", { text: "a" })).toBeUndefined();
  await transport.send({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  expect(sent.pop()).toBeUndefined();
});
