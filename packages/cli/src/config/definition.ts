// The words the sections of the config are defined in: settings, tables of them, and tables under names a
// person chooses. Checks, the file of `soong init` and the page of all settings are made from these.

import type { Place } from "@soong/platform";
import type { ValueKind } from "./value-kinds.ts";

export interface Setting<T> {
  readonly says: string;
  readonly kind: ValueKind;
  readonly default: T;
  readonly needed?: true;
  /** It is checked and kept, and nothing reads it so far. */
  readonly effect?: "none_yet";
  /** Further names it is accepted under. */
  readonly aliases?: readonly string[];
  /** As it would stand in the file; for settings whose default is to be left out. */
  readonly example?: string;
  /** Written as tables of its own: lines that show some. */
  readonly tables?: readonly string[];
}

export interface Table<T> {
  readonly says: string;
  readonly keys: { readonly [Key in keyof Known<T>]: Node<Known<T>[Key]> };
  /** How its settings go together. */
  readonly together?: (given: Readonly<Record<string, unknown>>, place: Place) => void;
}

/** One table for each name that a user gives. */
export interface NamedTables<T> {
  readonly says: string;
  readonly nameProblem: (name: string) => string | undefined;
  readonly each: Table<T>;
  /** Lines that show one. */
  readonly example: readonly string[];
}

export type Node<T> =
  | Setting<T>
  | Table<T>
  | (T extends Readonly<Record<string, infer Each>> ? NamedTables<Each> : never);

export type AnyNode = Setting<unknown> | AnyTable | AnyNamedTables;
export type AnyTable = Omit<Table<unknown>, "keys"> & {
  readonly keys: Readonly<Record<string, AnyNode>>;
};
export type AnyNamedTables = Omit<NamedTables<unknown>, "each"> & { readonly each: AnyTable };

/** The keys with names of their own, without those of an index signature. */
type Known<T> = { [Key in keyof T as string extends Key ? never : Key]: T[Key] };
