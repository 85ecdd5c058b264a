import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { compileSchema, formatIssues, type JsonSchema, type ValidationIssue } from "./index.ts";

function issues(schema: JsonSchema, value: unknown): ValidationIssue[] {
  const checked = compileSchema(schema)(value);
  return checked.ok ? [] : checked.issues;
}

/** What is said about one field. */
function issue(schema: unknown, value: unknown): string {
  const found = issues({ type: "object", properties: { x: schema } }, { x: value });
  return found.map(({ path, message }) => `${path}: ${message}`).join(" | ");
}

describe("an issue", () => {
  test("names the field, what was expected and what came", () => {
    verifies("SCHEMA-4");
    const schema = {
      type: "object",
      properties: {
        edits: {
          type: "array",
          items: { type: "object", properties: { old: { type: "string" } }, required: ["old"] },
        },
      },
    };
    expect(issues(schema, { edits: [{ old: 5 }, {}] })).toEqual([
      {
        path: "edits[0].old",
        expected: "string",
        received: "number 5",
        message: "expected string, got number 5",
      },
      {
        path: "edits[1].old",
        expected: "string",
        received: "missing",
        message: "required, but missing; expected string",
      },
    ]);
  });

  test("says each constraint in words", () => {
    verifies("SCHEMA-4");
    expect(issue({ type: ["string", "null"] }, [1, 2, 3])).toBe(
      "x: expected string or null, got array of 3 items",
    );
    expect(issue({ enum: ["a", "b"] }, "c")).toBe('x: expected one of "a", "b", got string "c"');
    expect(issue({ const: 3 }, { a: 1 })).toBe("x: expected 3, got object with 1 field");
    expect(issue({ type: "string", minLength: 3 }, "a")).toBe(
      'x: expected at least 3 characters, got string "a"',
    );
    expect(issue({ type: "array", maxItems: 1 }, [1, 2])).toBe(
      "x: expected at most 1 item, got array of 2 items",
    );
    expect(issue({ exclusiveMaximum: 3 }, 3)).toBe("x: expected a number below 3, got number 3");
    expect(issue({ multipleOf: 5 }, 3)).toBe("x: expected a multiple of 5, got number 3");
    expect(issue({ pattern: "^a" }, "b")).toBe('x: expected text matching /^a/, got string "b"');
    expect(issue({ format: "date-time" }, "soon")).toBe(
      'x: expected date-time such as "2025-01-31T12:00:00Z", got string "soon"',
    );
    expect(issue(false, 1)).toBe("x: expected nothing here, got number 1");
    expect(issue({ minProperties: 1 }, {})).toBe(
      "x: expected at least 1 field, got object with 0 fields",
    );
    expect(issue({ contains: { const: 1 } }, [2])).toContain("at least 1 item");
    expect(issue({ not: { type: "string" } }, "a")).toContain("other than");
    expect(issue({ propertyNames: { maxLength: 1 } }, { ab: 1 })).toContain(
      'the name "ab" does not fit',
    );
    expect(issue({ dependentRequired: { a: ["b"] } }, { a: 1 })).toBe(
      'x.b: required when "a" is given, but missing; expected a value',
    );
  });

  test("suggests the name that was probably meant", () => {
    verifies("SCHEMA-4");
    const schema = {
      type: "object",
      properties: { file_path: { type: "string" }, limit: { type: "number" } },
      additionalProperties: false,
    };
    expect(issues(schema, { filePath: "a" })[0]?.message).toBe(
      'unknown field; did you mean "file_path"?',
    );
    expect(issues(schema, { lmit: 1 })[0]?.message).toBe('unknown field; did you mean "limit"?');
    expect(issues(schema, { zzz: 1 })[0]?.message).toBe(
      'unknown field; known fields: "file_path", "limit"',
    );
  });

  test("stays short no matter what came", () => {
    verifies("SCHEMA-4");
    const long = issues(
      { type: "object", properties: { x: { type: "number" } } },
      { x: "y".repeat(5_000) },
    );
    expect(long[0]?.received).toBe(`string "${"y".repeat(37)}…" of 5000 characters`);
    const key = issues({ type: "object", additionalProperties: false }, { ["k".repeat(5_000)]: 1 });
    expect(JSON.stringify(key).length).toBeLessThan(700);
    const values = Array.from({ length: 500 }, (_, i) => `value-${i}`);
    expect(issue({ enum: values }, 1).length).toBeLessThan(600);
    expect(issue({ enum: values }, 1)).toContain("more");
  });

  test("never quotes a sensitive value", () => {
    verifies("REDACT-2");
    const schema = {
      type: "object",
      properties: {
        key: { type: "string", maxLength: 3, "x-sensitive": true },
        all: { type: "array", items: { $ref: "#/$defs/Secret" } },
      },
      $defs: { Secret: { type: "string", format: "password", pattern: "^\\d+$" } },
    };
    const found = issues(schema, { key: "hunter2", all: ["hunter3"] });
    expect(found.map(({ path, received }) => `${path}: ${received}`)).toEqual([
      "key: string (hidden)",
      "all[0]: string (hidden)",
    ]);
    expect(JSON.stringify(found)).not.toContain("hunter");
  });
});

describe("a value that fits no alternative", () => {
  const shapes = {
    oneOf: [
      { $ref: "#/$defs/Circle" },
      {
        type: "object",
        properties: { kind: { const: "square" }, side: { type: "number" } },
        required: ["kind", "side"],
      },
      { type: "null" },
    ],
  };
  const schema = {
    type: "object",
    properties: { shape: shapes },
    $defs: {
      Circle: {
        type: "object",
        properties: { kind: { const: "circle" }, radius: { type: "number" } },
        required: ["kind", "radius"],
      },
    },
  };
  const said = (shape: unknown): string[] =>
    issues(schema, { shape }).map(({ path, message }) => `${path}: ${message}`);

  test("learns about the alternative whose tag it carries", () => {
    verifies("SCHEMA-4");
    expect(said({ kind: "circle", radius: "1" })).toEqual([
      'shape.radius: expected number, got string "1"',
    ]);
    expect(said({ kind: "square" })).toEqual([
      "shape.side: required, but missing; expected number",
    ]);
  });

  test("learns which tags there are", () => {
    verifies("SCHEMA-4");
    expect(said({ kind: "triangle", radius: 1, side: 1 })).toEqual([
      'shape.kind: expected one of "circle", "square", got string "triangle"',
    ]);
  });

  test("learns which types there are", () => {
    verifies("SCHEMA-4");
    expect(said("circle")).toEqual(['shape: expected object or null, got string "circle"']);
    expect(
      issue({ anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] }, 5),
    ).toBe("x: expected string or array of string, got number 5");
    expect(
      issue({ anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] }, [
        "a",
        5,
      ]),
    ).toBe("x[1]: expected string, got number 5");
  });

  test("learns in short why each was refused when none fits best", () => {
    verifies("SCHEMA-4");
    expect(issue({ type: "object", anyOf: [{ required: ["a"] }, { required: ["b"] }] }, {})).toBe(
      'x: expected one of 2 alternatives, got object with 0 fields: (1) "a" is missing; (2) "b" is missing',
    );
    expect(issue({ oneOf: [{ type: "number" }, { minimum: 1 }] }, 3)).toContain("exactly one");
  });

  test("keeps the problems of its other fields", () => {
    verifies("SCHEMA-4");
    const both = issues(
      {
        type: "object",
        properties: { a: { type: "string" }, u: { anyOf: [{ type: "string" }, { type: "null" }] } },
        required: ["b"],
      },
      { a: 1, u: 2 },
    );
    expect(both.map(({ path }) => path).toSorted()).toEqual(["a", "b", "u"]);
  });
});

describe("the text for the model", () => {
  test("lists every problem and the fields there are", () => {
    verifies("SCHEMA-4");
    const schema = {
      type: "object",
      properties: {
        path: { type: "string" },
        mode: { enum: ["r", "w"] },
        tags: { type: "array", items: { type: "string" } },
      },
      required: ["path"],
      additionalProperties: false,
    };
    const text = formatIssues("code.read_file", issues(schema, { pth: "a", mode: 3 }), schema);
    expect(text).toBe(
      [
        "The arguments for code.read_file do not fit its schema:",
        "- path: required, but missing; expected string",
        '- pth: unknown field; did you mean "path"?',
        '- mode: expected one of "r", "w", got number 3',
        'Fields: path (string, required); mode (one of "r", "w"); tags (array of string)',
      ].join("\n"),
    );
  });

  test("names the whole and cuts a long list", () => {
    verifies("SCHEMA-4");
    const one = {
      path: "",
      expected: "object",
      received: "null",
      message: "expected object, got null",
    };
    expect(formatIssues("t", [one])).toContain("- the arguments: expected object, got null");
    const many = Array.from({ length: 30 }, (_, i) => ({ ...one, path: `p${i}` }));
    expect(formatIssues("t", many)).toMatch(/- p19: .*\n- and 10 more$/);
  });
});
