// Which files a run has read, and as what (CODE-5): so that a model can be informed that one of them is no
// longer what it saw. Memory is bounded; what was read longest ago is forgotten first.

import { readStamp, type FileStamp } from "../path/index.ts";

export interface FilesRead {
  /** `stamp`: of the file as the run knows it now, having read or written it. */
  note(runId: string, path: string, stamp: FileStamp): void;
  /** Paths this run knows that are different now, or gone. Each change is reported once. */
  changed(runId: string): Promise<string[]>;
  forget(runId: string): void;
}

export const MOST_RUNS = 100;
export const MOST_FILES_A_RUN = 1000;

/** "gone": reported as missing; should it come back, that is a change again. */
type Known = FileStamp | "gone";

export function createFilesRead(): FilesRead {
  const runs = new Map<string, Map<string, Known>>();
  return {
    note(runId, path, stamp) {
      const files = runs.get(runId) ?? new Map<string, Known>();
      putNewest(runs, runId, files, MOST_RUNS);
      putNewest(files, path, stamp, MOST_FILES_A_RUN);
    },
    async changed(runId) {
      const files = runs.get(runId) ?? new Map<string, Known>();
      const looks = Array.from(files, async ([path, known]) => ({
        path,
        known,
        now: await currentState(path, known),
      }));
      const changed: string[] = [];
      for (const { path, known, now } of await Promise.all(looks)) {
        // Noted anew while we looked: the run knows it as it is.
        if (JSON.stringify(known) === JSON.stringify(now) || files.get(path) !== known) continue;
        files.set(path, now);
        changed.push(path);
      }
      return changed;
    },
    forget(runId) {
      runs.delete(runId);
    },
  };
}

/** What cannot be looked at has not been seen to change. */
async function currentState(path: string, known: Known): Promise<Known> {
  try {
    return (await readStamp(path)) ?? "gone";
  } catch {
    return known;
  }
}

/** A map keeps the order of insertion: the first key is the oldest. */
function putNewest<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= most) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}
