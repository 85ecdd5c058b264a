// The way back from one reversible copy: what its placeholders were made of, and which of them cannot be
// told from text that stood there before.

import { isRecord, type JsonValue } from "@soong/schema";
import { MAX_DEPTH, OPENING, PLACEHOLDER, placeholdersIn } from "./placeholders.ts";

export interface Trail {
  noteLiterals(text: string): void;
  noteMade(placeholder: string, from: JsonValue): void;
  noteRenamed(copy: object, originalKeys: ReadonlyMap<string, string>): void;
  restore(value: JsonValue, redacted: JsonValue, original: JsonValue): JsonValue;
}

export function createTrail(): Trail {
  const made = new Map<string, JsonValue>();
  /** Stood in the original, or stands for more than one thing: no telling what it would become. */
  const unsure = new Set<string>();
  const renamed = new Map<object, ReadonlyMap<string, string>>();

  return {
    noteLiterals(text) {
      for (const { placeholder } of placeholdersIn(text)) unsure.add(placeholder);
    },
    noteMade(placeholder, from) {
      if (made.has(placeholder) && made.get(placeholder) !== from) unsure.add(placeholder);
      made.set(placeholder, from);
    },
    noteRenamed(copy, originalKeys) {
      renamed.set(copy, originalKeys);
    },
    restore: (value, redacted, original) =>
      made.size === 0 ? value : restore(value, redacted, original, 0),
  };

  function restore(
    value: JsonValue,
    redacted: JsonValue | undefined,
    original: JsonValue | undefined,
    depth: number,
  ): JsonValue {
    if (value === redacted) return original as JsonValue;
    if (typeof value === "string") return restoreText(value);
    if (typeof value !== "object" || value === null || depth === MAX_DEPTH) return value;
    if (Array.isArray(value)) {
      const [were, are] = [arrayOf(redacted), arrayOf(original)];
      return value.map((item, i) => restore(item, were[i], are[i], depth + 1));
    }
    const [were, are] = [objectOf(redacted), objectOf(original)];
    const keys = renamed.get(were);
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => {
        const originalKey = keys?.get(key) ?? key;
        const name = originalKey === key ? restorePieces(key) : originalKey;
        return [name, restore(item, own(were, key), own(are, originalKey), depth + 1)];
      }),
    );
  }

  function restoreText(text: string): JsonValue {
    return text.startsWith(OPENING) ? (sure(text) ?? restorePieces(text)) : restorePieces(text);
  }

  function restorePieces(text: string): string {
    if (!text.includes(OPENING)) return text;
    return text.replace(PLACEHOLDER, (placeholder) => {
      const from = sure(placeholder);
      return typeof from === "string" ? from : placeholder;
    });
  }

  function sure(placeholder: string): JsonValue | undefined {
    return unsure.has(placeholder) ? undefined : made.get(placeholder);
  }
}

const NOTHING = {};

function arrayOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function objectOf(value: JsonValue | undefined): { readonly [key: string]: JsonValue } {
  return isRecord(value) ? value : NOTHING;
}

function own(object: { readonly [key: string]: JsonValue }, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
