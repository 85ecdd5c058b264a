// Whether a process is one that this runtime started, or one of theirs: by its ancestors, by the groups and sessions of
// what runs now, and by the marker. Who shed all of that cannot be told from a stranger (see family.ts).

import { RUNTIME_TOKEN } from "./marker.ts";
import { processTable } from "./process-table.ts";
import { isWatchedGroup } from "./watchdog.ts";

/** "unknown": it is gone, or just being replaced by another program. */
export function isStartedHere(pid: number): boolean | "unknown" {
  if (pid === process.pid) return false;
  const entries = new Map(processTable("all").entries.map((entry) => [entry.pid, entry]));
  const token = Buffer.from(RUNTIME_TOKEN);
  const own = entries.get(pid);
  if (own === undefined || own.ended) return "unknown";
  // No chain of parents is longer than there are processes, whatever changed while the table was read.
  let entry: typeof own | undefined = own;
  for (let steps = 0; entry !== undefined && steps < entries.size; steps += 1) {
    if (entry.parent === process.pid) return true;
    if (isWatchedGroup(entry.group) || isWatchedGroup(entry.session)) return true;
    const holds = entry.environmentHolds(token);
    if (holds === true) return true;
    if (holds === "unknown" && entry === own) return "unknown";
    entry = entries.get(entry.parent);
  }
  return false;
}
