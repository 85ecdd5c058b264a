// Reading a record that may be of an older or a newer version, or nonsense: what is not as expected is not there.

import { isRecord } from "@soong/schema";

export type Data = Readonly<Record<string, unknown>>;

const NOTHING: Data = Object.freeze({});

export function dataIn(value: unknown): Data {
  return isRecord(value) ? value : NOTHING;
}

/** For a record that is handed on whole, or has each part that is read checked beside it. */
export function recordIn(value: unknown): object {
  return dataIn(value);
}

export function textIn(data: Data, field: string): string | undefined {
  const value = data[field];
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function countIn(data: Data, field: string): number | undefined {
  const value = data[field];
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

export function listIn(data: Data, field: string): readonly unknown[] {
  const value = data[field];
  return Array.isArray(value) ? value : [];
}

export function textsIn(data: Data, field: string): string[] {
  return listIn(data, field).filter((item) => typeof item === "string");
}
