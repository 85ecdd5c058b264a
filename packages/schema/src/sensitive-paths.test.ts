import { describe, expect, test } from "vitest";
import * as z from "zod";
import { verifies } from "#laws";
import { isSensitive, lowerSchema, readSchema, sensitivePaths, type JsonSchema } from "./index.ts";

describe("the sensitive fields of a schema", () => {
  test("are those with one of the three marks, at any depth", () => {
    verifies("REDACT-2");
    expect(
      sensitivePaths({
        type: "object",
        properties: {
          plain: { type: "string" },
          token: { type: "string", "x-sensitive": true },
          login: { type: "object", properties: { pass: { type: "string", format: "password" } } },
          keys: { type: "array", items: { type: "string", writeOnly: true } },
          pair: { prefixItems: [{}, { "x-sensitive": true }] },
          env: { type: "object", additionalProperties: { "x-sensitive": true } },
          maybe: { anyOf: [{ type: "null" }, { properties: { a: { "x-sensitive": true } } }] },
          not: { "x-sensitive": false, writeOnly: false },
        },
        patternProperties: { "^secret": { writeOnly: true } },
      }),
    ).toEqual([
      ["token"],
      ["login", "pass"],
      ["keys", "*"],
      ["pair", "1"],
      ["env", "*"],
      ["maybe", "a"],
      ["*"],
    ]);
    expect(sensitivePaths({ type: "object", "x-sensitive": true })).toEqual([[]]);
    expect(sensitivePaths({ type: "object" })).toEqual([]);
  });

  test("are found through references", () => {
    verifies("REDACT-2");
    const schema = {
      properties: {
        a: { $ref: "#/definitions/Secret" },
        "b/c": { allOf: [{ $ref: "#/definitions/Box" }] },
      },
      definitions: {
        Secret: { type: "string", writeOnly: true },
        Box: { properties: { key: { $ref: "#/definitions/Secret" } } },
      },
    };
    expect(sensitivePaths(schema)).toEqual([["a"], ["b/c", "key"]]);
  });

  test("are covered at every depth of a schema that contains itself", () => {
    verifies("REDACT-2");
    const paths = sensitivePaths({
      type: "object",
      properties: {
        name: { type: "string" },
        secret: { type: "string", "x-sensitive": true },
        kids: { type: "array", items: { $ref: "#" } },
      },
    });
    const place = (depth: number, field: string): string[] => [
      ...Array.from({ length: depth }, () => ["kids", "0"]).flat(),
      field,
    ];
    for (const depth of [0, 1, 2, 7, 30]) {
      expect(isSensitive(paths, place(depth, "secret"))).toBe(true);
      expect(isSensitive(paths, place(depth, "name"))).toBe(false);
    }
  });

  test("cover what is below them", () => {
    verifies("REDACT-2");
    expect(isSensitive([["a", "*"]], ["a", "b", "c"])).toBe(true);
    expect(isSensitive([["a", "*"]], ["a"])).toBe(false);
    expect(isSensitive([[]], [])).toBe(true);
    expect(isSensitive([], ["a"])).toBe(false);
  });

  test("are everything when a schema is too tangled to look through", () => {
    verifies("REDACT-2");
    const $defs: Record<string, unknown> = { n60: { "x-sensitive": true } };
    for (let level = 0; level < 60; level += 1) {
      const next = { $ref: `#/$defs/n${level + 1}` };
      $defs[`n${level}`] = { properties: { a: next, b: next } };
    }
    expect(sensitivePaths({ properties: { x: { $ref: "#/$defs/n0" } }, $defs })).toEqual([[]]);
  });

  test("come from zod's metadata and never reach a model", () => {
    verifies("REDACT-2");
    const read = readSchema(
      z.object({ key: z.string().meta({ "x-sensitive": true }), n: z.number() }),
    );
    const original: JsonSchema = read.ok ? read.original : {};
    expect(sensitivePaths(original)).toEqual([["key"]]);
    expect(JSON.stringify(lowerSchema(original).schema)).not.toContain("sensitive");
  });
});
