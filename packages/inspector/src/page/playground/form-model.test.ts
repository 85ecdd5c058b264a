import type { JsonObject, JsonValue } from "@soong/core";
import { sameJson as equal } from "@soong/schema";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findBranch, readField } from "./field.ts";
import { findTools } from "./playground-view.tsx";
import { resolveSchema } from "./schema.ts";
import { addedValue, numberOrText, parseJsonText, findProblems, startValue } from "./value.ts";

const kind = (schema: JsonValue, root: JsonObject = {}) => readField(root, schema).kind;

describe("references", () => {
  const tree: JsonObject = {
    $defs: {
      node: {
        type: "object",
        properties: { left: { $ref: "#/$defs/node" }, name: { type: "string" } },
        required: ["name"],
      },
      "a/b": { type: "integer" },
      named: { $anchor: "here", type: "boolean" },
      round: { $ref: "#/$defs/trip" },
      trip: { $ref: "#/$defs/round" },
    },
    $ref: "#/$defs/node",
  };

  test("that lead to themselves by many ways are given up at once", () => {
    const self = { $ref: "#" };
    expect(resolveSchema({}, { allOf: [self, self] })).toEqual({});
    const circle: JsonObject = { allOf: [self, self, self, self] };
    expect(resolveSchema(circle, circle)).toBeUndefined();
    const levels = Array.from({ length: 30 }, (_, level) => {
      const next = { $ref: `#/$defs/d${level + 1}` };
      return [`d${level}`, { allOf: Array.from({ length: 10 }, () => next) }] as const;
    });
    const broad: JsonObject = { $defs: { ...Object.fromEntries(levels), d30: { type: "string" } } };
    expect(resolveSchema(broad, { $ref: "#/$defs/d0" })).toBeUndefined();
    expect(resolveSchema(broad, { $ref: "#/$defs/d29" })).toEqual({ type: "string" });
  });

  test("are followed one step at a time, so that a schema may contain itself", () => {
    const field = readField(tree, tree);
    expect(field).toMatchObject({
      kind: "object",
      properties: [{ name: "left" }, { name: "name" }],
    });
    expect(startValue(tree, tree)).toEqual({});
    expect(findProblems(tree, tree, { name: "a", left: { left: {}, name: "b" } })).toEqual([
      { at: "/left/left/name", text: "is required", is_missing: true },
    ]);
  });

  test("that are required within themselves are filled in some levels deep", () => {
    const endless: JsonObject = {
      type: "object",
      required: ["in"],
      properties: { in: { $ref: "#" } },
    };
    const text = JSON.stringify(startValue(endless, endless));
    expect(text.match(/"in"/g)?.length).toBe(4);
  });

  test("may be escaped or by anchor, and keep what is beside them", () => {
    expect(kind({ $ref: "#/$defs/a~1b" }, tree)).toBe("number");
    expect(kind({ $ref: "#here" }, tree)).toBe("yes_no");
    expect(readField(tree, { $ref: "#/$defs/a~1b", description: "how many" })).toMatchObject({
      kind: "number",
      description: "how many",
    });
  });

  test("that lead nowhere, in a circle or out of the document are left to the JSON editor", () => {
    for (const $ref of ["#/$defs/none", "#/$defs/round", "https://example.org/s.json", "#nobody"]) {
      expect(kind({ $ref }, tree)).toBe("raw");
    }
    for (const name of ["none", "__proto__"]) {
      expect(readField(tree, { $ref: `#/$defs/${name}` })).toMatchObject({
        why: "The form cannot show this schema.",
      });
    }
  });
});

describe("the kind of a field", () => {
  test("follows from the schema", () => {
    expect(kind({ type: "string" })).toBe("text");
    expect(kind({ type: "integer" })).toBe("number");
    expect(kind({ type: "boolean" })).toBe("yes_no");
    expect(kind({ type: "null" })).toBe("fixed");
    expect(kind({ const: 3 })).toBe("fixed");
    expect(kind({ enum: ["a", 1, null] })).toBe("one_of");
    expect(kind({ type: "array", items: { type: "string" } })).toBe("list");
    expect(kind({ type: "array", uniqueItems: true, items: { enum: ["a", "b"] } })).toBe("choices");
    expect(kind({ type: "array", items: { enum: ["a", "b"] } })).toBe("list");
    expect(kind({ properties: {} })).toBe("object");
    expect(kind({ type: ["string", "null"] })).toBe("branches");
    expect(kind({ anyOf: [{ type: "string" }, { type: "number" }] })).toBe("branches");
  });

  test("is JSON for what a form cannot say", () => {
    expect(kind(true)).toBe("raw");
    expect(kind(false)).toBe("raw");
    expect(kind({})).toBe("raw");
    expect(kind({ type: "array", prefixItems: [{}] })).toBe("raw");
    expect(kind({ oneOf: [] })).toBe("raw");
    expect(kind({ oneOf: [{ type: "string" }], anyOf: [{ minLength: 1 }] })).toBe("raw");
    expect(kind({ allOf: [{ type: "string" }, { type: "number" }] })).toBe("raw");
    expect(kind("nonsense")).toBe("raw");
  });

  test("puts allOf together", () => {
    const field = readField(
      {},
      {
        allOf: [
          { properties: { a: { type: "string" } }, required: ["a"] },
          { properties: { a: { minLength: 2 }, b: { type: "number" } }, required: ["b"] },
        ],
      },
    );
    expect(field).toMatchObject({
      kind: "object",
      properties: [
        { name: "a", is_required: true },
        { name: "b", is_required: true },
      ],
    });
    const a = field.kind === "object" ? field.properties[0]?.schema : undefined;
    expect(readField({}, a)).toMatchObject({ kind: "text", limits: ["at least 2 characters"] });
  });

  test("names what can be chosen", () => {
    expect(readField({}, { oneOf: [{ const: "r", title: "Red" }, { const: 1 }] })).toMatchObject({
      options: [
        { value: "r", label: "Red" },
        { value: 1, label: "1" },
      ],
    });
    expect(readField({}, { type: "string", enum: ["a", "b"], enumNames: ["A"] })).toMatchObject({
      options: [{ label: "A" }, { label: "b" }],
    });
  });

  test("shows a required property that no one described", () => {
    expect(readField({}, { type: "object", required: ["x"] })).toMatchObject({
      properties: [{ name: "x", schema: true, is_required: true }],
    });
  });

  test("distinguishes text by its format and length", () => {
    const input = (schema: JsonObject) => {
      const field = readField({}, { type: "string", ...schema });
      return field.kind === "text" ? field.input : undefined;
    };
    expect(input({})).toBe("lines");
    expect(input({ maxLength: 20 })).toBe("line");
    expect(input({ format: "email" })).toBe("email");
    expect(input({ format: "date" })).toBe("date");
    expect(input({ pattern: "^a" })).toBe("line");
  });

  test("is found for anything that calls itself a schema", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (schema, value) => {
        const given = schema as JsonValue;
        readField({}, given);
        findProblems({}, given, value as JsonValue);
        addedValue({}, given);
        expect(typeof kind(given)).toBe("string");
      }),
    );
  });
});

describe("branches", () => {
  const schema: JsonObject = {
    oneOf: [
      {
        properties: { kind: { const: "file" }, path: { type: "string" } },
        required: ["kind", "path"],
      },
      { properties: { kind: { const: "host" }, host: { type: "string" } }, required: ["kind"] },
      { type: "string", title: "A name" },
    ],
  };
  const field = readField({}, schema);
  const branches = field.kind === "branches" ? field.branches : [];

  test("have names", () => {
    expect(branches.map(({ label }) => label)).toEqual(["kind: file", "kind: host", "A name"]);
  });

  test("are recognised by the value", () => {
    expect(findBranch({}, branches, { kind: "host", host: "x" })).toBe(1);
    expect(findBranch({}, branches, { path: "x" })).toBe(0);
    expect(findBranch({}, branches, "x")).toBe(2);
    const tagged = [1, 2].map((tag) => ({
      label: "",
      schema: { properties: { tag: { const: tag } }, required: ["tag"] },
    }));
    expect(findBranch({}, tagged, { tag: 2 })).toBe(1);
    expect(findBranch({}, branches, 7)).toBe(0);
  });

  test("keep what is beside them", () => {
    const field = readField(
      {},
      {
        type: "object",
        properties: { id: { type: "string" } },
        required: ["id"],
        anyOf: [{ required: ["a"] }, { required: ["b"] }],
      },
    );
    const first = field.kind === "branches" ? field.branches[0] : undefined;
    expect(first?.label).toBe("with a");
    expect(resolveSchema({}, first?.schema)).toMatchObject({ required: ["id", "a"] });
  });
});

describe("values", () => {
  const schema: JsonObject = {
    type: "object",
    properties: {
      path: { type: "string" },
      mode: { const: "fast" },
      depth: { type: "integer", default: 2, minimum: 1, maximum: 9 },
      inner: {
        type: "object",
        properties: { on: { type: "boolean", default: true } },
        required: ["on"],
      },
      optional: { type: "string", default: "x" },
    },
    required: ["path", "mode", "depth", "inner"],
    additionalProperties: false,
  };

  test("begin with what is required and known", () => {
    expect(startValue({}, schema)).toEqual({ mode: "fast", depth: 2, inner: { on: true } });
  });

  test("are checked as far as the form can, and lists of problems are bounded", () => {
    expect(
      findProblems({}, schema, { mode: "slow", depth: 12, inner: 3, extra: 1, path: 4 }),
    ).toEqual([
      { at: "/path", text: "is not text" },
      { at: "/mode", text: 'is not "fast"' },
      { at: "/depth", text: "is more than 9" },
      { at: "/inner", text: "is not an object" },
      { at: "/extra", text: "is not in the schema" },
    ]);
    expect(
      findProblems(
        {},
        { items: { type: "string" } },
        Array.from({ length: 999 }, () => 1),
      ),
    ).toHaveLength(50);
  });

  test("of texts and lists are measured", () => {
    expect(findProblems({}, { type: "string", maxLength: 1 }, "👍")).toEqual([]);
    expect(findProblems({}, { type: "string", minLength: 2 }, "a")).toHaveLength(1);
    expect(findProblems({}, { type: "array", minItems: 1 }, [])).toHaveLength(1);
    expect(findProblems({}, { type: "number", exclusiveMinimum: 0 }, 0)).toHaveLength(1);
    expect(findProblems({}, { type: "string", format: "email" }, "a@b")).toEqual([]);
    expect(findProblems({}, { type: "string", format: "email" }, "ab")).toHaveLength(1);
    expect(findProblems({}, { type: "string", format: "date" }, "2026-13-01")).toHaveLength(1);
    expect(
      findProblems({}, { type: "string", format: "date-time" }, "2026-01-01T10:00:00Z"),
    ).toEqual([]);
    expect(findProblems({}, { type: "string", format: "uri" }, "no")).toHaveLength(1);
    const many = { type: "array", uniqueItems: true, items: { enum: ["a", "b"] } };
    expect(findProblems({}, many, ["a", "c"])).toHaveLength(1);
  });

  test("never run a pattern from outside", () => {
    const evil = { type: "string", pattern: "^(a+)+$" };
    expect(findProblems({}, evil, `${"a".repeat(60)}!`)).toEqual([]);
  });

  test("that are added fit their place", () => {
    const some: JsonObject[] = [
      { type: "string" },
      { type: "number" },
      { type: "boolean" },
      { enum: ["b", "c"] },
      { type: "array", items: {} },
      { anyOf: [{ type: "object", properties: {} }, { type: "null" }] },
      { type: "string", default: "d" },
    ];
    expect(some.map((schema) => addedValue({}, schema))).toEqual(["", 0, false, "b", [], {}, "d"]);
    const circle: JsonObject = { $defs: { x: { anyOf: [{ $ref: "#/$defs/x" }] } } };
    expect(addedValue(circle, { $ref: "#/$defs/x" })).toBeNull();
    expect(findProblems(circle, { $ref: "#/$defs/x" }, { a: 1 })).toEqual([]);
  });

  test("of a number field stay the text they are when they are none", () => {
    expect(["1.5", "", "1e400", "abc", " 7 "].map(numberOrText)).toEqual([
      1.5,
      undefined,
      "1e400",
      "abc",
      7,
    ]);
  });

  test("as JSON text come back, or say what is wrong", () => {
    expect(parseJsonText(" ")).toEqual({ ok: true, value: undefined });
    expect(parseJsonText('{"a":1}')).toEqual({ ok: true, value: { a: 1 } });
    const refused = parseJsonText("{");
    expect(refused.ok ? "" : refused.problem).toMatch(/not JSON/);
  });

  test("are equal in any order of their keys", () => {
    expect(equal({ a: 1, b: [2] }, { b: [2], a: 1 })).toBe(true);
    expect(equal({ a: undefined }, { b: undefined })).toBe(false);
    expect(equal([1], { 0: 1 })).toBe(false);
  });
});

describe("finding a tool", () => {
  const tool = (tool_name: string, description: string) => ({
    tool_name,
    description,
    permission: "readonly" as const,
    input_schema: {},
    tags: ["code"],
  });
  const tools = [
    tool("web.fetch", "Reads a page"),
    tool("code.read_file", "Gives a file"),
    tool("code.edit", "Changes a file"),
  ];
  const names = (typed: string) => findTools(tools, typed).map(({ tool_name }) => tool_name);

  test("puts those first that have it in their name", () => {
    expect(names("read")).toEqual(["code.read_file", "web.fetch"]);
    expect(names("FILE code")).toEqual(["code.read_file", "code.edit"]);
    expect(names("nothing such")).toEqual([]);
    expect(names(" ")).toEqual(["code.edit", "code.read_file", "web.fetch"]);
  });
});
