// Attributes as OTLP/JSON has them. What is undefined, or not a value of its kind, adds nothing.

import type { OtlpAttribute, OtlpValue } from "./otlp-json.ts";

export class Attributes {
  readonly list: OtlpAttribute[] = [];

  text(key: string, value: string | undefined): this {
    if (typeof value !== "string") return this;
    // Half a character cannot be sent.
    return this.#add(key, { stringValue: value.replaceAll(HALF_CHARACTER, "\uFFFD") });
  }

  texts(key: string, values: readonly string[]): this {
    if (values.length === 0) return this;
    return this.#add(key, {
      arrayValue: { values: values.map((stringValue) => ({ stringValue })) },
    });
  }

  /** A whole number: 64 bits, and so a text in JSON. */
  int(key: string, value: number | undefined): this {
    if (value === undefined || !Number.isSafeInteger(value)) return this;
    return this.#add(key, { intValue: String(value) });
  }

  double(key: string, value: number | undefined): this {
    if (value === undefined || !Number.isFinite(value)) return this;
    return this.#add(key, { doubleValue: value });
  }

  flag(key: string, value: boolean | undefined): this {
    return value === undefined ? this : this.#add(key, { boolValue: value });
  }

  #add(key: string, value: OtlpValue): this {
    this.list.push({ key, value });
    return this;
  }
}

/** The text of an attribute; undefined where there is none of this key, or it is no text. */
export function findText(attributes: readonly OtlpAttribute[], key: string): string | undefined {
  const value = attributes.find((attribute) => attribute.key === key)?.value;
  return value !== undefined && "stringValue" in value ? value.stringValue : undefined;
}

/** The whole number of an attribute; undefined where there is none of this key, or it is none. */
export function findInt(attributes: readonly OtlpAttribute[], key: string): number | undefined {
  const value = attributes.find((attribute) => attribute.key === key)?.value;
  return value !== undefined && "intValue" in value ? Number(value.intValue) : undefined;
}

/** A surrogate without the other half. */
export const HALF_CHARACTER = /\p{Surrogate}/gu;
