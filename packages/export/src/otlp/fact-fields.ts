// Reading a fact that any program may have written: a field that is not what its type says is as good as absent.

import type { Fact } from "@soong/core";
import { isRecord } from "@soong/schema";
import * as fields from "../projection/read-fields.ts";

type Fields = Readonly<Record<string, unknown>>;

const NONE: Fields = {};

export function readData(fact: Fact): Fields {
  const data: unknown = fact.data;
  return isRecord(data) ? data : NONE;
}

export function readRecord(from: Fields, key: string): Fields {
  const value = readField(from, key);
  return isRecord(value) ? value : NONE;
}

export function readList(from: Fields, key: string): readonly unknown[] {
  return fields.readList(readField(from, key));
}

export function readText(from: Fields, key: string): string | undefined {
  const value = readField(from, key);
  return typeof value === "string" ? value : undefined;
}

/** A count, a size or a length of time: a whole number that is not negative. */
export function readCount(from: Fields, key: string): number | undefined {
  return fields.readCount(readField(from, key));
}

export function readFlag(from: Fields, key: string): boolean | undefined {
  return fields.readFlag(readField(from, key));
}

/** An id, a name or a word of a fixed set. Text of users, models and tools does not pass for one. */
export function readLabel(from: Fields, key: string): string | undefined {
  const value = readText(from, key);
  return value !== undefined && LABEL.test(value) ? value : undefined;
}

/** The id of a call or the name of a tool, which a provider or a model may have made of anything. */
export function readPlainId(value: unknown): string | undefined {
  return typeof value === "string" && PLAIN_ID.test(value) ? value : undefined;
}

/** The same, with spaces: for names that a user gave to parts of a setup. */
export function readName(from: Fields, key: string): string | undefined {
  const value = readText(from, key);
  return value !== undefined && NAME.test(value) ? value : undefined;
}

export function readField(from: Fields, key: string): unknown {
  return Object.hasOwn(from, key) ? from[key] : undefined;
}

const PLAIN_ID = /^[\w.:-]{1,128}$/;
const LABEL = /^[\w.:@/+-]{1,128}$/;
const NAME = /^[\w.:@/+ #()[\]-]{1,64}$/;
