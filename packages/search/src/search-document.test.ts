import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { createSearchDocument } from "./search-document.ts";

const tool = (input_schema: unknown) => ({ name: "x", description: "y", input_schema });

describe("searchDocumentOf", () => {
  test("takes the names and texts of parameters, nested ones too", () => {
    verifies("SEARCH-2");
    const document = createSearchDocument({
      name: "code.read_file",
      aliases: ["cat"],
      title: "Read a file",
      search_hint: "open show text",
      description: "Reads a file.",
      tags: ["filesystem"],
      input_schema: {
        type: "object",
        description: "left out",
        properties: {
          path: { type: "string", description: "Where it is" },
          range: { type: "object", properties: { from_line: { type: "integer", title: "First" } } },
          modes: { type: "array", items: { enum: ["binary", "text", 3] } },
          either: { anyOf: [{ properties: { inside: {} } }, { description: "or that" }] },
        },
      },
    });
    expect(document).toEqual({
      name: "code.read_file",
      aliases: ["cat"],
      title: "Read a file",
      search_hint: "open show text",
      description: "Reads a file.",
      tags: ["filesystem"],
      parameters: ["path", "range", "modes", "either", "from_line", "inside"],
      parameter_text: "Where it is\nFirst\nbinary\ntext\nor that\n",
    });
  });

  test("omits what a tool does not say", () => {
    expect(createSearchDocument(tool(undefined))).toEqual({ name: "x", description: "y" });
    expect(createSearchDocument(tool({ type: "object", properties: {} }))).toEqual({
      name: "x",
      description: "y",
    });
  });

  test("stays small for a schema that is ten thousand levels deep", () => {
    let schema: unknown = { description: "bottom" };
    for (let depth = 0; depth < 10_000; depth += 1)
      schema = { properties: { [`level_${depth}`]: schema } };
    const { parameters, parameter_text } = createSearchDocument(tool(schema));
    expect(parameters?.[0]).toBe("level_9999");
    expect(parameters?.length).toBeLessThan(20);
    expect(parameter_text).toBeUndefined();
  });

  test("stays small for a schema that is wide or wordy", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, at) => [`p${at}`, { description: "long ".repeat(500) }]),
    );
    const wide = createSearchDocument(
      tool({ properties, anyOf: Array.from({ length: 20_000 }, () => ({ properties })) }),
    );
    expect(wide.parameters?.length).toBeLessThanOrEqual(200);
    expect(wide.parameter_text?.length).toBeLessThan(9_000);
  });

  test("ends on a schema that contains itself", () => {
    const schema: Record<string, unknown> = { description: "again" };
    schema["properties"] = { self: schema };
    expect(createSearchDocument(tool(schema)).parameters).toEqual(["self"]);
  });

  test("takes any JSON for a schema", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (schema) => {
        expect(createSearchDocument(tool(schema)).name).toBe("x");
      }),
    );
    const hostile: unknown = JSON.parse(
      '{"properties":{"__proto__":{"description":"odd"},"constructor":null}}',
    );
    expect(createSearchDocument(tool(hostile)).parameters).toEqual(["__proto__", "constructor"]);
  });
});
