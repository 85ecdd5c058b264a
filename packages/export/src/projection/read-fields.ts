// The fields of a fact as any version, or a damaged journal, may have them: a field that is not as expected is absent.

import type { FactPayloads, FactType } from "@soong/core";
import { asRecord, type JsonObject, type JsonValue } from "@soong/schema";

/** The payload of a fact type with its fields unchecked, so that each is read by one of the functions below. */
export type Unchecked<T extends FactType> = object & {
  readonly [Field in keyof FactPayloads[T]]?: unknown;
};

export type UncheckedRecord = { readonly [field: string]: unknown };

/** No field where it is no record. */
export function readRecord(value: unknown): UncheckedRecord {
  return asRecord(value);
}

/** Undefined where it is empty. */
export function readText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function readFlag(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}

export function readNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** A size, a count or a limit: a whole number that is not negative. */
export function readCount(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined;
}

export function readList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : NONE;
}

/** The list itself where all of it is text. */
export function readTexts(value: unknown): readonly string[] {
  const list = readList(value);
  return list.every(isText) ? list : list.filter(isText);
}

/** Undefined where there is no text in it. */
export function readSomeTexts(value: unknown): readonly string[] | undefined {
  const texts = readTexts(value);
  return texts.length === 0 ? undefined : texts;
}

/** The ids in a list of references to artifacts. */
export function readArtifactIds(value: unknown): readonly string[] | undefined {
  const list = readList(value);
  if (list.length === 0) return undefined;
  return list.flatMap((one) => readText(readRecord(one)["artifact_id"]) ?? []);
}

/** An object of JSON, as a part of a record; undefined where it is none. */
export function readObject(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : undefined;
}

/** Any value but null, which the standard does not write. */
export function readValue(value: unknown): JsonValue | undefined {
  return value === null || value === undefined ? undefined : (value as JsonValue);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

const NONE: readonly unknown[] = [];
