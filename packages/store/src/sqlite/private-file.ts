// A file that only its owner may read, made before SQLite opens it: SQLite gives the files beside it the
// same rights.

import { closeSync, lstatSync, openSync } from "node:fs";
import { StoreError } from "../contract/index.ts";

/**
 * Never opens one that is there: the system would drop every lock this process has on it when we closed
 * it again, and a pipe would hold us up for ever.
 */
export function makePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
    return;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  refuseUnlessFile(path);
}

/** A link is refused as well: whoever put it there chose what we write to. */
export function refuseUnlessFile(path: string): void {
  if (lstatSync(path).isFile()) return;
  throw new StoreError(
    "not_a_store",
    `${path} is not an ordinary file, so it is no store of Soong. Nothing was changed; move it away, or give another directory.`,
  );
}
