import { expect, test } from "vitest";
import { verifies } from "#laws";
import { findSchemaField } from "./schema-field.ts";

const schema = {
  type: "object",
  properties: {
    text: { type: "string" },
    maybe: { type: "string" },
    nullable: { type: ["string", "null"] },
    list: { type: "array", items: { type: "string" } },
    numbers: { type: "array", items: { type: ["integer", "boolean"] } },
    objects: { type: "array", items: { type: "object" } },
    anyItems: { type: "array" },
    nullItems: { type: "array", items: { type: ["string", "null"] } },
    object: { type: "object", properties: { inner: { type: "integer" } }, required: ["inner"] },
    loose: {
      type: ["object", "null"],
      properties: { inner: { type: "integer" } },
      required: ["inner"],
    },
    open: {},
    yes: true,
    flag: { enum: ["-a", "-b"] },
    flags: { type: "array", items: { type: "string", enum: ["-a"] } },
    mixed: { type: ["string", "array"], items: { type: "string", enum: ["-a"] } },
    secret: { type: "string" },
    secrets: { type: "array", items: { type: "string" } },
  },
  required: ["text", "nullable", "list", "numbers", "object", "loose", "flag", "flags", "mixed"],
};
const sensitive = [["secret"], ["secrets", "*"]];

function found(...path: string[]): unknown {
  const result = findSchemaField({ schema, sensitive }, path);
  if (!result.ok) return result.message;
  const { optional, list, enumerated } = result.field;
  return { optional, list, enumerated };
}

test.each([
  [["text"], { optional: false, list: false, enumerated: false }],
  [["maybe"], { optional: true, list: false, enumerated: false }],
  [["nullable"], { optional: true, list: false, enumerated: false }],
  [["list"], { optional: false, list: true, enumerated: false }],
  [["numbers"], { optional: false, list: true, enumerated: false }],
  [["object", "inner"], { optional: false, list: false, enumerated: false }],
  [["loose", "inner"], { optional: true, list: false, enumerated: false }],
  [["flag"], { optional: false, list: false, enumerated: true }],
  [["flags"], { optional: false, list: true, enumerated: true }],
  [["mixed"], { optional: false, list: true, enumerated: false }],
])("%j can be in a command line", (path, expected) => {
  verifies("DECL-3");
  expect(found(...path)).toEqual(expected);
});

test.each([
  [["txet"], "names no field of input_schema; did you mean {{args.text}}?"],
  [["nothing-like-it"], "names no field of input_schema"],
  [["object", "iner"], "did you mean {{args.object.inner}}?"],
  [["text", "length"], "names no field"],
  [["constructor"], "names no field"],
  [["object"], "may be an object"],
  [["open"], "has no type"],
  [["yes"], "has no type"],
  [["objects"], "is a list whose items are not all"],
  [["anyItems"], "is a list whose items are not all"],
  [["nullItems"], "is a list whose items are not all"],
  [["secret"], "is marked sensitive"],
  [["secrets"], "is marked sensitive"],
])("%j is refused when the tool is loaded", (path, message) => {
  verifies("DECL-3");
  expect(found(...path)).toContain(message);
});
