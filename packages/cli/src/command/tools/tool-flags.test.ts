import type { JsonObject } from "@soong/schema";
import { expect, test } from "vitest";
import { coloursFor } from "../../output/index.ts";
import { mergeInputs, readFlags, renderFlagHelp } from "./tool-flags.ts";

const SCHEMA: JsonObject = {
  type: "object",
  properties: {
    path: { type: "string", description: "The file." },
    limit: { type: "integer", minimum: 1, maximum: 9, default: 3 },
    max_results: { type: "number" },
    hidden: { type: "boolean" },
    kind: { enum: ["a", "b"] },
    level: { enum: [1, 2] },
    argv: { type: "array", items: { type: "string" } },
    sizes: { type: "array", items: { type: "integer" } },
    where: { $ref: "#/$defs/where" },
    either: { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] },
    json: { type: "string" },
  },
  required: ["path"],
  $defs: {
    where: { type: "object", properties: { host: { type: "string" }, port: { type: "integer" } } },
  },
};
const TOOL = { name: "my.tool", schema: SCHEMA, options: ["json", "yes"] };
const read = (...words: string[]): JsonObject => readFlags(words, TOOL);

test("flags are values of the types that the schema names", () => {
  expect(read("--path", "a.txt", "--limit", "3", "--max-results=1.5", "--hidden")).toEqual({
    path: "a.txt",
    limit: 3,
    max_results: 1.5,
    hidden: true,
  });
  expect(read("--no-hidden", "--kind", "b", "--level", "2")).toEqual({
    hidden: false,
    kind: "b",
    level: 2,
  });
  expect(read("--hidden", "false", "--path", "3")).toEqual({ hidden: false, path: "3" });
  expect(read("--path=--odd", "--json", "x")).toEqual({ path: "--odd", json: "x" });
});

test("lists are repeated or JSON, and what is inside is reached by a dot or JSON", () => {
  expect(read("--argv", "git", "--argv", "status", "--sizes", "1", "--sizes", "[2,3]")).toEqual({
    argv: ["git", "status"],
    sizes: [1, 2, 3],
  });
  expect(read("--where.host", "h", "--where.port", "80")).toEqual({
    where: { host: "h", port: 80 },
  });
  expect(read("--where", '{"port": 1}')).toEqual({ where: { port: 1 } });
  expect(read("--either", "a b")).toEqual({ either: "a b" });
  expect(read("--either", '["a"]')).toEqual({ either: ["a"] });
  const flags = read("--where.port", "80", "--limit", "5");
  expect(mergeInputs({ path: "a", limit: 1, where: { host: "h" } }, flags)).toEqual({
    path: "a",
    limit: 5,
    where: { host: "h", port: 80 },
  });
  expect(() => mergeInputs([1], flags)).toThrow("a JSON object");
});

test("what is no value of its type is left to the check of the tool; what is no flag is refused", () => {
  expect(read("--limit", "many")).toEqual({ limit: "many" });
  expect(() => read("--pth", "x")).toThrow("has no parameter --pth. Did you mean --path?");
  expect(() => read("--yess")).toThrow("Did you mean --yes?");
  expect(() => read("--path")).toThrow("--path needs a value");
  expect(() => read("--path", "--limit")).toThrow("--path needs a value");
  expect(() => read("--where", "{")).toThrow("--where takes JSON");
  expect(() => read("--where.hots", "x")).toThrow("no parameter --where.hots");
  expect(() => read("loose")).toThrow("JSON goes before the flags");
  const open = { ...TOOL, schema: { type: "object" } };
  expect(readFlags(["--any", "1", "--__proto__", "x"], open)).toEqual(
    JSON.parse('{"any": 1, "__proto__": "x"}'),
  );
});

test("the help names type, bounds and default, and what the command takes itself", () => {
  const lines = renderFlagHelp({ colours: coloursFor({}, {}), width: 80 }, TOOL).join("\n");
  expect(lines).toContain("--path  string, required\n      The file.");
  expect(lines).toContain("--limit  integer, 1 to 9, default 3");
  expect(lines).toContain("soong call my.tool -- --json");
});
