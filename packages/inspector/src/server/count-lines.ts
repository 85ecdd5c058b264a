// On which line a byte of an artifact is. What was counted once is kept, so that paging on through a large one does not
// begin at its beginning each time.

import { setImmediate as nextTurn } from "node:timers/promises";
import type { ArtifactBytes } from "./artifact-bytes.ts";

export interface LineCounter {
  /** From 1. */
  lineAt(artifact: ArtifactBytes, offset: number, signal: AbortSignal): Promise<number>;
}

const STEP = 1024 * 1024;
const MOST_ARTIFACTS = 16;

export function createLineCounter(): LineCounter {
  /** By artifact: how many line ends there are before each step. Bytes of an artifact never change. */
  const counted = new Map<string, number[]>();

  return {
    async lineAt(artifact, offset, signal) {
      const steps = stepsOf(`${artifact.record.session_id}/${artifact.record.artifact_id}`);
      const wanted = Math.floor(offset / STEP);
      while (steps.length <= wanted) {
        const at = steps.length - 1;
        const ends = lineEnds(await artifact.read(at * STEP, (at + 1) * STEP));
        // Somebody else may have counted on meanwhile.
        if (steps.length === at + 1) steps.push((steps[at] ?? 0) + ends);
        await nextTurn();
        signal.throwIfAborted();
      }
      return 1 + (steps[wanted] ?? 0) + lineEnds(await artifact.read(wanted * STEP, offset));
    },
  };

  function stepsOf(id: string): number[] {
    const steps = counted.get(id) ?? [0];
    counted.delete(id);
    counted.set(id, steps);
    for (const oldest of counted.keys()) {
      if (counted.size <= MOST_ARTIFACTS) break;
      counted.delete(oldest);
    }
    return steps;
  }
}

function lineEnds(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) count += 1;
  return count;
}
