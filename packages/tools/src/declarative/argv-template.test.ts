import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject, ToolFailure } from "@soong/core";
import { verifies } from "#laws";
import { anyCharacter } from "../../../../test/any-character.ts";
import { compileArgv, renderArgv } from "./command-template.ts";
import { findSchemaField } from "./schema-field.ts";

const schema = {
  type: "object",
  properties: {
    a: { type: ["string", "number", "boolean", "null"] },
    b: { type: "string" },
    list: { type: "array", items: { type: ["string", "number"] } },
    flag: { type: "string", enum: ["-l", "--all", ""] },
    at: { type: "object", properties: { x: { type: "integer" } } },
  },
};

function argv(args: string[], input: JsonObject): string[] | string {
  const problems: string[] = [];
  const template = compileArgv(
    args,
    (path) => findSchemaField({ schema, sensitive: [] }, path),
    (index, message) => problems.push(`[${index}] ${message}`),
  );
  if (template === undefined) return problems.join("\n");
  try {
    return renderArgv(template, input);
  } catch (error) {
    return (error as ToolFailure).message;
  }
}

describe("items of an argv", () => {
  test.each([
    [
      "a value stays one item, with any characters",
      ["x {{args.a}} y"],
      { a: "1 '2\" $(3)\n;" },
      ["x 1 '2\" $(3)\n; y"],
    ],
    ["several values share an item", ["{{args.a}}:{{args.b}}"], { a: "1", b: "2" }, ["1:2"]],
    [
      "numbers, true and false stand in their JSON form",
      ["{{args.a}}", "{{args.at.x}}"],
      { a: true, at: { x: 12 } },
      ["true", "12"],
    ],
    ["a large number is in its JSON form", ["{{args.a}}"], { a: 1e21 }, ["1e+21"]],
    [
      "an absent one drops its whole item",
      ["k", "--max={{args.a}}", "{{args.b}}"],
      { b: "x" },
      ["k", "x"],
    ],
    ["null is absent", ["--max={{args.a}}"], { a: null }, []],
    ["so is what is below an absent object", ["{{args.at.x}}"], {}, []],
    ["one absent of two drops the item of both", ["{{args.a}}:{{args.b}}"], { a: "1" }, []],
    ["an empty text is an item", ["{{args.a}}", ""], { a: "" }, ["", ""]],
    [
      "a list becomes several items",
      ["a", "{{args.list}}", "z"],
      { list: ["1 2", 3, ""] },
      ["a", "1 2", "3", "", "z"],
    ],
    ["an empty list becomes none", ["a", "{{args.list}}"], { list: [] }, ["a"]],
    [
      "a value is not looked at for templates",
      ["{{args.a}}"],
      { a: "{{args.b}}", b: "no" },
      ["{{args.b}}"],
    ],
  ])("%s", (_, args, input, expected) => {
    verifies("DECL-3");
    expect(argv(args, input as JsonObject)).toEqual(expected);
  });

  test.each([
    [
      "a list inside a longer item",
      ["x{{args.list}}"],
      "[0] {{args.list}} may be a list, which must be a separate item",
    ],
    ["an object", ["ok", "{{args.at}}"], "[1] {{args.at}} may be an object"],
    ["an undeclared field", ["{{args.zzz}}"], "[0] {{args.zzz}} names no field of input_schema"],
    ["any other template", ["{{zzz}}"], '[0] has "{{zzz}}"'],
  ])("%s is refused when the tool is loaded", (_, args, message) => {
    verifies("DECL-3");
    expect(argv(args, {})).toContain(message);
  });

  test.each([
    ["a NUL character", { a: "x\0y" }, "a contains a NUL character"],
    ["a NUL character in a list", { list: ["x", "\0"] }, "list[1] contains a NUL character"],
    ["half a character", { a: "x\ud800" }, "a contains half a character"],
    ["an object that came in spite of the schema", { a: { b: 1 } }, "a is not text"],
    ["more than the system takes", { a: "ä".repeat(65_536) }, "too long for a command line"],
  ])("%s is refused at the call", (_, input, message) => {
    verifies("DECL-3");
    expect(argv(["{{args.a}}", "{{args.list}}"], input as JsonObject)).toContain(message);
  });

  test("the longest item the system takes is taken", () => {
    verifies("DECL-3");
    expect(argv(["{{args.a}}"], { a: "x".repeat(131_071) })).toHaveLength(1);
    expect(argv(["{{args.a}}"], { a: "x".repeat(131_072) })).toContain("too long");
  });
});

describe("a value that would be taken for an option", () => {
  test.each([
    ["alone", ["{{args.a}}"], { a: "-rf" }],
    ["at the beginning of an item", ["{{args.a}}.txt"], { a: "--out=x" }],
    ["through an empty value before it", ["{{args.a}}{{args.b}}"], { a: "", b: "-x" }],
    ["as a negative number", ["{{args.a}}"], { a: -5 }],
    ["in a list", ["{{args.list}}"], { list: ["x", "-y"] }],
    ["before the options are closed", ["{{args.a}}", "--"], { a: "-x" }],
  ])("is refused %s", (_, args, input) => {
    verifies("DECL-3");
    expect(argv(args, input as JsonObject)).toMatch(
      /begins with "-" and would be taken for an option/,
    );
  });

  test.each([
    [
      "behind the author's own text",
      ["--name={{args.a}}", "-n{{args.a}}"],
      { a: "-rf" },
      ["--name=-rf", "-n-rf"],
    ],
    [
      "behind --",
      ["--", "{{args.a}}", "{{args.list}}"],
      { a: "-rf", list: ["-x"] },
      ["--", "-rf", "-x"],
    ],
    ["when the schema lists it", ["{{args.flag}}"], { flag: "--all" }, ["--all"]],
    ["when it only holds one", ["{{args.a}}"], { a: "a-b" }, ["a-b"]],
  ])("is let through %s", (_, args, input, expected) => {
    verifies("DECL-3");
    expect(argv(args, input as JsonObject)).toEqual(expected);
  });

  test("-- inside a longer item closes nothing", () => {
    verifies("DECL-3");
    expect(argv(["--x", "{{args.a}}"], { a: "-y" })).toContain("option");
    expect(argv(["x--", "{{args.a}}"], { a: "-y" })).toContain("option");
  });
});

test("no value ever changes how many items there are, or any item but its own", () => {
  verifies("DECL-3");
  const value = fc
    .string({ unit: anyCharacter })
    .filter((text) => !/[\0\p{Surrogate}]/u.test(text));
  fc.assert(
    fc.property(value, fc.array(value, { maxLength: 4 }), (a, list) => {
      const rendered = argv(["first", "--", "<{{args.a}}>", "{{args.list}}", "last"], { a, list });
      expect(rendered).toEqual(["first", "--", `<${a}>`, ...list, "last"]);
    }),
  );
});
