// The schema of a tool for the SDK: shown to the model as it is, and accepting anything, because the kernel validates and
// explains.

import type { JsonObject } from "@soong/core";

/** A Standard Schema with its JSON Schema, which the types of both versions take. */
export interface InputSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => { readonly value: unknown };
    readonly jsonSchema: {
      readonly input: (options: { readonly target: string }) => Record<string, unknown>;
      readonly output: (options: { readonly target: string }) => Record<string, unknown>;
    };
  };
}

/** How the SDK marks schemas of its own; it adds `additionalProperties: false` to others. */
const SDK_SCHEMA = Symbol.for("vercel.ai.schema");

export function createInputSchema(jsonSchema: JsonObject): InputSchema {
  const read = (): Record<string, unknown> => jsonSchema;
  const own = { [SDK_SCHEMA]: true, _type: undefined, jsonSchema, validate: undefined };
  return {
    ...own,
    "~standard": {
      version: 1,
      vendor: "soong",
      validate: (value) => ({ value }),
      jsonSchema: { input: read, output: read },
    },
  };
}
