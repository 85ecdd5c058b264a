import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expectTypeOf, test } from "vitest";
import * as z from "zod";
import { verifies } from "#laws";
import type {
  InferInput,
  InferOutput,
  JsonObject,
  JsonSchema,
  JsonValue,
  SchemaLike,
} from "./index.ts";

/** As `defineTool` takes it: literals stay literal. */
function take<const Schema extends SchemaLike>(schema: Schema): Schema {
  return schema;
}

describe("the types that follow from a schema", () => {
  test("zod gives what goes in and what comes out", () => {
    verifies("DEF-6");
    const schema = take(z.object({ a: z.string().transform(Number), b: z.number().default(1) }));
    expectTypeOf<InferInput<typeof schema>>().toEqualTypeOf<{
      a: string;
      b?: number | undefined;
    }>();
    expectTypeOf<InferOutput<typeof schema>>().toEqualTypeOf<{ a: number; b: number }>();
  });

  test("valibot and arktype too", () => {
    verifies("DEF-6");
    const valibot = take(toStandardJsonSchema(v.object({ a: v.string() })));
    expectTypeOf<InferOutput<typeof valibot>>().toEqualTypeOf<{ a: string }>();
    const arktype = take(type({ a: "string", "b?": "number" }));
    expectTypeOf<InferOutput<typeof arktype>>().toEqualTypeOf<{ a: string; b?: number }>();
  });

  test("a JSON Schema written in place gives its fields", () => {
    verifies("DEF-6");
    const schema = take({
      type: "object",
      properties: {
        path: { type: "string" },
        limit: { type: "integer" },
        mode: { enum: ["r", "w"] },
        tags: { type: "array", items: { type: "string" } },
        note: { type: ["string", "null"] },
        any: {},
        deep: { type: "object", properties: { on: { type: "boolean" } }, required: ["on"] },
      },
      required: ["path", "mode"],
    });
    expectTypeOf<InferOutput<typeof schema>>().toEqualTypeOf<{
      path: string;
      mode: "r" | "w";
      limit?: number;
      tags?: string[];
      note?: string | null;
      any?: JsonValue;
      deep?: { on: boolean };
    }>();
  });

  test("a schema known only as data gives an object", () => {
    verifies("DEF-6");
    expectTypeOf<InferOutput<JsonSchema>>().toEqualTypeOf<JsonObject>();
    expectTypeOf<InferInput<JsonSchema>>().toEqualTypeOf<JsonObject>();
  });
});
