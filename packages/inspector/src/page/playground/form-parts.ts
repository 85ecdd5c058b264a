// What the parts of a form share.

import type { JsonValue } from "@soong/core";
import type { ComponentType } from "preact";
import type { Schema } from "./schema.ts";

/** What every part of a form knows. */
export interface Form {
  readonly root: Schema;
  /** By JSON pointer. */
  readonly problems: ReadonlyMap<string, string>;
  readonly offers_extras: boolean;
  /** How many choices of a form stand around this one: a schema may offer itself for ever. */
  readonly choices: number;
  /** Draws a part of any kind: a part may hold others of its own kind. */
  readonly Field: ComponentType<SchemaFieldProps>;
}

export interface SchemaFieldProps {
  form: Form;
  schema: JsonValue | undefined;
  name: string;
  is_required: boolean;
  /** Undefined: left out. */
  value: JsonValue | undefined;
  /** JSON pointer. */
  at: string;
  onChange: (value: JsonValue | undefined) => void;
  /** Of an entry in a list, where leaving it out means taking it away. */
  is_entry?: boolean;
}
