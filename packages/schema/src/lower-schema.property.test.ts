import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import {
  compileSchema,
  isTaken,
  lowerSchema,
  relaxSchema,
  type JsonSchema,
  type JsonValue,
  type SchemaTerms,
} from "./index.ts";

const numRuns = process.env["SOONG_TEST_FULL"] === "1" ? 5_000 : 120;

// Random schemas out of the constructs lowering knows, and random values that have a fair chance to fit
// or to just miss them.

const words = ["a", "b", "ab", "", "aé😀"];
const numbers = [-1, 0, 1, 1.5, 2, 3];
const names = ["p", "q", "r"];

const anyScalar: fc.Arbitrary<JsonValue> = fc.constantFrom<JsonValue>(
  ...words,
  ...numbers,
  true,
  false,
  null,
);

const anyValue: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: "small", withCrossShrink: true },
    anyScalar,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...names, "s"), tie("value"), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
  ),
})).value;

const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
/** Without the keys that came out undefined: a schema says nothing by leaving a keyword out. */
const record = (model: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<JsonSchema> =>
  fc
    .record(model)
    .map((node) =>
      Object.fromEntries(Object.entries(node).filter(([, held]) => held !== undefined)),
    );

const notes = {
  description: some(fc.constantFrom("first", "second", "")),
  title: some(fc.constantFrom("T")),
  default: some(anyScalar),
};

const strings = record({
  ...notes,
  type: fc.constantFrom("string", ["string"], ["string", "null"]),
  minLength: some(fc.nat(3)),
  maxLength: some(fc.nat(3)),
  pattern: some(fc.constantFrom("a", "^a", "b$", "^ab?$")),
  nullable: fc.constant(undefined),
});

const numeric = record({
  ...notes,
  type: fc.constantFrom("number", "integer", ["integer", "null"], ["number", "integer"]),
  minimum: some(fc.constantFrom(...numbers)),
  maximum: some(fc.constantFrom(...numbers)),
  exclusiveMinimum: some(fc.constantFrom(...numbers)),
});

const plain = fc.constantFrom<JsonSchema>(
  {},
  { type: "boolean" },
  { type: "null" },
  { type: ["boolean", "null"] },
  { description: "anything" },
);

const constants = record({
  ...notes,
  const: anyScalar,
});

const enums = record({
  ...notes,
  type: some(fc.constantFrom("string", ["string", "null"], "number")),
  enum: fc.array(anyScalar, { minLength: 1, maxLength: 4 }),
});

type Tied = { schema: JsonSchema | boolean };

/** `definitions` are the names a `$ref` may lead to. */
function anySchema(definitions: readonly string[]): fc.Arbitrary<JsonSchema | boolean> {
  return fc.letrec<Tied>((tie) => {
    const schema = tie("schema");
    const objects = record({
      ...notes,
      type: some(fc.constantFrom("object", ["object", "null"])),
      properties: some(fc.dictionary(fc.constantFrom(...names), schema, { maxKeys: 3 })),
      required: some(fc.uniqueArray(fc.constantFrom(...names), { maxLength: 2 })),
      additionalProperties: some(fc.oneof(fc.boolean(), schema)),
      propertyNames: some(
        fc.constantFrom<JsonSchema>(
          { type: "string" },
          { enum: ["p", "q"] },
          { type: "string", enum: ["p"] },
        ),
      ),
      unevaluatedProperties: some(fc.constantFrom<JsonSchema | boolean>(false, { not: {} })),
    });
    const arrays = record({
      ...notes,
      type: some(fc.constant("array")),
      items: some(schema),
      prefixItems: some(
        fc.oneof(
          schema.map((item) => [item, item]),
          fc.array(schema, { minLength: 1, maxLength: 2 }),
        ),
      ),
      minItems: some(fc.nat(2)),
      maxItems: some(fc.nat(3)),
      uniqueItems: some(fc.boolean()),
    });
    const branches = fc.array(schema, { minLength: 1, maxLength: 3 });
    const unions = record({
      ...notes,
      type: some(fc.constantFrom("string", "object", ["string", "null"])),
      anyOf: some(branches),
      oneOf: some(branches),
    });
    const all = record({
      ...notes,
      allOf: branches,
      properties: some(fc.dictionary(fc.constantFrom(...names), schema, { maxKeys: 2 })),
      additionalProperties: some(fc.oneof(fc.boolean(), schema)),
      unevaluatedProperties: some(fc.constant(false)),
    });
    const others = record({ not: schema, type: some(fc.constantFrom("string", "object")) });
    const references = record({
      ...notes,
      $ref: fc.constantFrom(...definitions.map((name) => `#/$defs/${name}`), "#"),
      minLength: some(fc.nat(2)),
      properties: some(fc.dictionary(fc.constantFrom(...names), schema, { maxKeys: 1 })),
    });
    const leaves = fc.oneof(strings, numeric, plain, constants, enums, fc.boolean());
    return {
      schema: fc.oneof(
        { maxDepth: 4, depthSize: "small" },
        { weight: 6, arbitrary: leaves },
        { weight: 3, arbitrary: objects },
        { weight: 2, arbitrary: arrays },
        { weight: 4, arbitrary: unions },
        { weight: 3, arbitrary: all },
        { weight: 1, arbitrary: others },
        ...(definitions.length > 0 ? [{ weight: 2, arbitrary: references }] : []),
      ),
    };
  }).schema;
}

/**
 * A whole input schema. Acyclic: references lead forward only. Recursive: they may lead back, but never
 * without a step into the value, which JSON Schema leaves without a meaning.
 */
function anyInputSchema(kind: "acyclic" | "recursive"): fc.Arbitrary<JsonSchema> {
  const build = (x: unknown, y: unknown, first: unknown, second: unknown): JsonSchema => ({
    type: "object",
    properties: { x, y },
    additionalProperties: false,
    $defs: { first, second },
  });
  return kind === "acyclic"
    ? fc
        .tuple(
          withoutRoot(anySchema(["first", "second"])),
          withoutRoot(anySchema(["first"])),
          withoutRoot(anySchema(["second"])),
          anySchema([]),
        )
        .map(([x, y, first, second]) => build(x, y, first, second))
    : fc
        .tuple(
          anySchema(["first", "second"]),
          anySchema(["first"]),
          anySchema(["first", "second"]),
          anySchema(["first"]),
        )
        .map(([x, y, first, second]) => build(x, y, first, second))
        .filter(isWellFounded);
}

function withoutRoot<T>(schema: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return schema.filter((node) => !JSON.stringify(node).includes('"$ref":"#"'));
}

function isWellFounded(root: JsonSchema): boolean {
  const definitions = root["$defs"] as Record<string, unknown>;
  const returns = (node: unknown, open: readonly unknown[]): boolean => {
    if (typeof node !== "object" || node === null) return false;
    if (open.includes(node)) return true;
    const { $ref, allOf = [], anyOf = [], oneOf = [], not } = node as Record<string, unknown>;
    const target = $ref === "#" ? root : definitions[String($ref).slice("#/$defs/".length)];
    const inPlace = [target, not, ...[allOf, anyOf, oneOf].flat()];
    return inPlace.some((next) => returns(next, [...open, node]));
  };
  const below = (node: unknown): boolean =>
    typeof node !== "object" ||
    node === null ||
    (!returns(node, []) && Object.values(node).every(below));
  return below(root);
}

/** The validator as it comes, without anything of ours: the judge over both sides. */
function judge(schema: JsonSchema): (value: unknown) => boolean | "overflow" {
  const ajv = new Ajv2020({
    strict: false,
    validateSchema: false,
    meta: false,
    logger: false,
    code: { optimize: false },
  });
  let validate: (value: unknown) => boolean;
  return (value) => {
    try {
      validate ??= ajv.compile(schema);
      return validate(value);
    } catch {
      return "overflow";
    }
  };
}

const someArguments = fc.array(fc.record({ x: anyValue, y: anyValue }, { requiredKeys: [] }), {
  minLength: 8,
  maxLength: 8,
});

describe("lowering, over random schemas and values", () => {
  test("accepts exactly what the original accepts", () => {
    verifies("SCHEMA-3");
    let core = 0;
    fc.assert(
      fc.property(anyInputSchema("acyclic"), someArguments, (schema, values) => {
        const lowered = lowerSchema(schema);
        if (lowered.kind === "core") core += 1;
        const original = judge(schema);
        const after = judge(lowered.schema);
        for (const value of values) {
          expect({ value, valid: after(value) }).toEqual({ value, valid: original(value) });
        }
      }),
      { numRuns },
    );
    expect(core).toBeGreaterThan(numRuns / 20);
  });

  test("accepts exactly what the original accepts when schemas refer to themselves", () => {
    verifies("SCHEMA-3");
    fc.assert(
      fc.property(anyInputSchema("recursive"), someArguments, (schema, values) => {
        const original = judge(schema);
        const after = judge(lowerSchema(schema).schema);
        for (const value of values) {
          const valid = original(value);
          if (valid === "overflow") continue;
          expect({ value, valid: after(value) === true }).toEqual({ value, valid });
        }
      }),
      { numRuns },
    );
  });

  test("changes nothing the second time, and leaves nothing outside in a core schema", () => {
    verifies("SCHEMA-1", "SCHEMA-3");
    fc.assert(
      fc.property(fc.oneof(anyInputSchema("acyclic"), anyInputSchema("recursive")), (schema) => {
        const before = JSON.stringify(schema);
        const once = lowerSchema(schema);
        const twice = lowerSchema(once.schema);
        expect(twice.schema).toEqual(once.schema);
        expect(twice.kind).toBe(once.kind);
        expect(JSON.stringify(schema)).toBe(before);
      }),
      { numRuns },
    );
  });

  test("our own checks agree with the validator as it comes", () => {
    verifies("SCHEMA-4");
    fc.assert(
      fc.property(anyInputSchema("recursive"), someArguments, (schema, values) => {
        const original = judge(schema);
        const check = compileSchema(schema);
        for (const value of values) {
          const valid = original(value);
          const checked = check(value);
          if (valid !== "overflow") expect({ value, valid: checked.ok }).toEqual({ value, valid });
          if (!checked.ok) expect(checked.issues.length).toBeGreaterThan(0);
        }
      }),
      { numRuns },
    );
  });
});

/** The judge takes items for scalars where `items` says so, also those a tuple covers. */
function withoutUniqueItems(schema: JsonSchema): JsonSchema {
  const text = JSON.stringify(schema, (key, held: unknown) =>
    key === "uniqueItems" ? undefined : held,
  );
  return JSON.parse(text) as JsonSchema;
}

describe("relaxing, over random schemas and values", () => {
  const terms: readonly SchemaTerms[] = [
    { extended: false },
    { extended: false, refused: ["pattern", "type:list", "uniqueItems"] },
    { extended: true, refusedAtRoot: ["anyOf", "oneOf", "allOf"] },
    { extended: true, refused: ["anyOf", "prefixItems", "properties", "type:null"] },
    { extended: true, refused: ["enum", "minimum", "$ref", "not"] },
  ];

  test.each(terms)("%j: nothing valid is lost, and what is offered is taken", (taken) => {
    verifies("MCP-10");
    const anyRoot = fc.oneof(
      anyInputSchema("acyclic"),
      anyInputSchema("recursive"),
      // A union or an intersection as the root, as some servers have it.
      fc
        .tuple(
          anyInputSchema("acyclic"),
          anyInputSchema("acyclic"),
          fc.constantFrom("anyOf", "oneOf", "allOf"),
        )
        .map(([one, { $defs: _defs, ...other }, union]) => ({
          ...one,
          additionalProperties: true,
          [union]: [other, { required: ["x"] }],
        })),
    );
    fc.assert(
      fc.property(anyRoot.map(withoutUniqueItems), someArguments, (schema, values) => {
        const { schema: given } = lowerSchema(schema);
        const relaxed = relaxSchema(given, taken);
        if (relaxed === undefined) return;
        expect(isTaken(relaxed.schema, taken)).toBe(true);
        const original = judge(schema);
        const after = judge(relaxed.schema);
        for (const value of values) {
          if (original(value) === true)
            expect({ value, valid: after(value) }).toEqual({ value, valid: true });
        }
      }),
      { numRuns },
    );
  });
});
