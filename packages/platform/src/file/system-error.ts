// What the file system says: the code of its errors, and which node a name leads to.

import type { BigIntStats } from "node:fs";

/** Undefined where the error is not one of the operating system. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error) || !("syscall" in error)) {
    return undefined;
  }
  return typeof error.code === "string" ? error.code : undefined;
}

export function isSameNode(a: BigIntStats, b: BigIntStats): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}
