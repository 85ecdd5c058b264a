import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { lowerSchema, readSchema, sensitivePaths, type JsonSchema } from "./index.ts";
import { copyPlainSchema, isPlainSchema } from "./plain-schema.ts";

const numRuns = process.env["SOONG_TEST_FULL"] === "1" ? 20_000 : 1_000;

/** Below the fourth level only leaves. */
const depthIdentifier = fc.createDepthIdentifier();
const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 3 });
const below = (node: fc.Arbitrary<JsonSchema>) =>
  fc.oneof({ maxDepth: 3, depthIdentifier }, fc.constant({ type: "string" }), node);
const rarely = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 15, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
/** The last one rarely. */
const mostly = (...values: [...unknown[], unknown]) =>
  some(
    fc.oneof(
      { weight: 15, arbitrary: fc.constantFrom(...values.slice(0, -1)) },
      { weight: 1, arbitrary: fc.constant(values.at(-1)) },
    ),
  );

/** Mostly plain, now and then with what is not. */
const schema: fc.Arbitrary<JsonSchema> = fc
  .letrec<{ node: JsonSchema }>((tie) => ({
    node: fc
      .record({
        type: fc.constantFrom("string", "object", "array", "integer", "number", "boolean", [
          "string",
        ]),
        title: mostly("T", ""),
        description: mostly("what it is", ""),
        format: mostly("path", "uri", "no-such-format", "password"),
        default: mostly("a", 1, true, null),
        enum: rarely(fc.constantFrom<unknown[]>(["a", "b"], ["a", "a"], ["a", 1], [])),
        minimum: some(fc.constantFrom(0, 1.5, -1)),
        maxLength: mostly(0, 3, -1),
        uniqueItems: rarely(fc.boolean()),
        items: some(below(tie("node"))),
        properties: some(
          fc.dictionary(fc.constantFrom("a", "b"), below(tie("node")), {
            maxKeys: 2,
            noNullPrototype: true,
          }),
        ),
        required: mostly(["a"], ["a", "b"], ["a", "a"]),
        additionalProperties: some(fc.oneof(fc.boolean(), below(tie("node")))),
        pattern: rarely(fc.constant("^a")),
        writeOnly: rarely(fc.boolean()),
      })
      .map((node) =>
        Object.fromEntries(Object.entries(node).filter(([, held]) => held !== undefined)),
      ),
  }))
  .node.map((node) => ({ ...node, type: "object" }));

test("a schema that is recognised as plain is what the full reading makes of it", () => {
  verifies("SCHEMA-1", "SCHEMA-3");
  let recognised = 0;
  fc.assert(
    fc.property(schema, (given) => {
      const plain = copyPlainSchema(given);
      if (plain === undefined) return;
      recognised += 1;
      expect(isPlainSchema(plain)).toBe(true);
      // Of an object with another prototype the short way knows nothing.
      const full = readSchema(Object.assign(Object.create(null), given));
      if (!full.ok) throw new Error(JSON.stringify(full.problems));
      expect(isPlainSchema(full.original)).toBe(false);
      expect(plain).toEqual({ ...full.original });
      const lowered = lowerSchema(full.original);
      expect(lowered.kind).toBe("core");
      expect(plain).toEqual({ ...lowered.schema });
      expect(sensitivePaths(full.original)).toEqual([]);
    }),
    { numRuns },
  );
  expect(recognised).toBeGreaterThan(numRuns / 20);
});

test("what could be changed afterwards, marked or too large is left to the full reading", () => {
  verifies("SCHEMA-8", "REDACT-2");
  const given = { type: "object", properties: { a: { type: "string" } } };
  const plain = copyPlainSchema(given);
  given.properties.a.type = "number";
  expect(plain).toEqual({ type: "object", properties: { a: { type: "string" } } });
  expect(Object.isFrozen(plain?.properties)).toBe(true);
  let deep: object = { type: "string" };
  for (let i = 0; i < 40; i += 1) deep = { type: "array", items: deep };
  const others = [
    { type: "object", properties: { a: { type: "string", "x-sensitive": true } } },
    { type: "object", properties: { a: deep } },
    { type: "object", description: "x".repeat(30_000) },
    { type: "object", properties: JSON.parse('{"__proto__":{"type":"string"}}') as object },
    { type: "string" },
    "no schema",
  ];
  for (const other of others) expect(copyPlainSchema(other)).toBeUndefined();
});
