// The pins in a file of the user's home (MCP-7): readable by its owner alone, whole at any moment, and changed
// by one process at a time.

import type { PinStorage } from "../catalog/index.ts";
import { readJsonFile, withFileLock, writeWholeFile } from "@soong/platform";

const ABOUT = "It holds which definitions of MCP tools were allowed; delete it to begin again";
/** Longer than the definitions of all servers are looked at. */
const WAIT_MS = 150_000;

export function openPinFile(path: string): PinStorage {
  return {
    load: () => readJsonFile(path, ABOUT),
    save: (pins) => writeWholeFile(path, `${JSON.stringify(pins, undefined, 1)}\n`),
    alone: (work) => withFileLock(path, { waitMs: WAIT_MS }, work),
  };
}
