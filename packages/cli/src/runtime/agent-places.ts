// Where a home keeps what is about agents.

import { join } from "node:path";

export function agentsFolder(home: string): string {
  return join(home, "agents");
}

export function skillsFolder(home: string): string {
  return join(home, "skills");
}

export function memoryFolder(home: string): string {
  return join(home, "memory");
}

/** What a run leaves behind for later; undefined for an id that names no folder of its own. */
export function archiveOf(home: string, run_id: string): string | undefined {
  return /^[a-z0-9][a-z0-9_-]{0,99}$/.test(run_id)
    ? join(home, "runs", run_id, "archive")
    : undefined;
}
