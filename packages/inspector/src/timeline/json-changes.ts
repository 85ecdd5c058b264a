// Where two JSON values differ, as pointers, outermost first and at most so many.

import type { JsonValue } from "@soong/core";
import { pointerStep } from "@soong/core/internal";
import type { InputChange } from "../wire/index.ts";

export interface JsonChanges {
  readonly changes: readonly InputChange[];
  /** There are more than were looked for. */
  readonly is_cut: boolean;
}

const MOST_CHANGES = 100;
/** As deep as arguments may be; what differs further down is reported as a whole. */
const MOST_LEVELS = 64;

export function jsonChanges(before: JsonValue, after: JsonValue): JsonChanges {
  const changes: InputChange[] = [];
  let is_cut = false;
  compare(before, after, "", 0);
  return { changes, is_cut };

  function compare(from: JsonValue, to: JsonValue, path: string, level: number): void {
    if (is_cut || Object.is(from, to)) return;
    if (!isHolder(from) || !isHolder(to) || Array.isArray(from) !== Array.isArray(to)) {
      tell({ path, from, to });
    } else if (level >= MOST_LEVELS) {
      if (JSON.stringify(from) !== JSON.stringify(to)) tell({ path, from, to });
    } else {
      for (const key of new Set([...Object.keys(from), ...Object.keys(to)])) {
        const at = `${path}/${pointerStep(key)}`;
        const left = own(from, key);
        const right = own(to, key);
        if (left === undefined) tell({ path: at, to: right });
        else if (right === undefined) tell({ path: at, from: left });
        else compare(left, right, at, level + 1);
      }
    }
  }

  function tell(change: InputChange): void {
    if (changes.length < MOST_CHANGES) changes.push(change);
    else is_cut = true;
  }
}

type Holder = JsonValue & object;

function isHolder(value: JsonValue): value is Holder {
  return typeof value === "object" && value !== null;
}

function own(holder: Holder, key: string): JsonValue | undefined {
  return Object.hasOwn(holder, key) ? (holder as Record<string, JsonValue>)[key] : undefined;
}
