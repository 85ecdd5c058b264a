// What an author may hand us as a schema, and the TypeScript types that follow from it. The interfaces
// are those of the Standard Schema and Standard JSON Schema conventions, written out so that we depend on neither.

import type { JsonObject, JsonSchema, JsonValue } from "./json.ts";

export type StandardIssue = {
  readonly message: string;
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined;
};

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: ReadonlyArray<StandardIssue> };

/** A Standard Schema (v1) that also implements Standard JSON Schema: zod ≥ 4.2, arktype, valibot through `toStandardJsonSchema`. */
export interface StandardSchemaLike<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly jsonSchema: {
      readonly input: (options: { readonly target: string }) => Record<string, unknown>;
    };
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** Anything an author may give as a schema: a Standard Schema that can emit JSON Schema, or plain JSON Schema. */
export type SchemaLike<Output = unknown> = StandardSchemaLike<unknown, Output> | JsonSchema;

/** The JSON-facing type: what a model sends. */
export type InferInput<S> = InferSide<S, "input">;

/** What a handler receives: after a Standard Schema's own parsing, or the JSON itself. */
export type InferOutput<S> = InferSide<S, "output">;

type InferSide<S, Side extends "input" | "output"> = S extends {
  readonly "~standard": { readonly types?: infer T };
}
  ? NonNullable<T> extends { readonly [Key in Side]: infer Type }
    ? Type
    : unknown
  : InferJson<S>;

/** A schema written as a literal gives its types; one only known to be a schema gives an object. */
type InferJson<S> = S extends JsonSchema
  ? string extends keyof S
    ? JsonObject
    : FromJsonSchema<S>
  : JsonObject;

type FromJsonSchema<S> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly type: readonly (infer Type)[] }
      ? Type extends unknown
        ? OfType<S, Type>
        : never
      : S extends { readonly type: infer Type }
        ? OfType<S, Type>
        : S extends { readonly properties: object }
          ? OfType<S, "object">
          : JsonValue;

type OfType<S, Type> = Type extends "string"
  ? string
  : Type extends "number" | "integer"
    ? number
    : Type extends "boolean"
      ? boolean
      : Type extends "null"
        ? null
        : Type extends "array"
          ? S extends { readonly items: infer Items }
            ? FromJsonSchema<Items>[]
            : JsonValue[]
          : Type extends "object"
            ? FromProperties<S>
            : JsonValue;

type FromProperties<S> = S extends { readonly properties: infer Properties }
  ? Flat<
      { [Key in keyof Properties & RequiredOf<S>]: FromJsonSchema<Properties[Key]> } & {
        [Key in Exclude<keyof Properties, RequiredOf<S>>]?: FromJsonSchema<
          // Itself optional where a schema has the field only at times.
          Exclude<Properties[Key], undefined>
        >;
      }
    >
  : JsonObject;

type RequiredOf<S> = S extends { readonly required: readonly (infer Name)[] } ? Name : never;

type Flat<T> = { -readonly [Key in keyof T]: T[Key] };
