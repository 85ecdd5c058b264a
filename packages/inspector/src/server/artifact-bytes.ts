// One artifact of a session, read in ranges, since it may be larger than memory is worth; and on which line a byte of it
// is.

import { setImmediate as nextTurn } from "node:timers/promises";
import type { ArtifactRecord } from "@soong/core";
import type { SessionReader } from "@soong/store";
import { missing } from "./ports.ts";
import { createRecent } from "./recent.ts";

export interface ArtifactBytes {
  readonly record: ArtifactRecord;
  /** What there is of the range, which may reach past both ends. */
  read(from: number, to: number): Promise<Buffer>;
}

export async function artifactBytes(
  reader: SessionReader,
  artifact_id: string,
): Promise<ArtifactBytes> {
  const record = (await reader.artifacts()).find((one) => one.artifact_id === artifact_id);
  if (record === undefined) throw missing("This session has no such artifact.");
  return {
    record,
    async read(from, to) {
      const offset = Math.max(0, from);
      const length = Math.min(record.size, to) - offset;
      if (length <= 0) return Buffer.alloc(0);
      const bytes = await reader.readArtifact(artifact_id, { offset, length });
      if (bytes !== undefined) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      throw missing("The bytes of this artifact are no longer there.");
    },
  };
}

const STEP = 1024 * 1024;
const MOST_ARTIFACTS = 16;

/** What was counted once is kept, so that paging on does not begin at the beginning each time. */
export function createLineCounter() {
  /** By artifact: how many line ends there are before each step. Bytes of an artifact never change. */
  const counted = createRecent<number[]>(MOST_ARTIFACTS);

  return {
    /** From 1. */
    async lineAt(artifact: ArtifactBytes, offset: number, signal: AbortSignal): Promise<number> {
      const { session_id, artifact_id } = artifact.record;
      const steps = counted(`${session_id}/${artifact_id}`, () => [0]);
      const wanted = Math.floor(offset / STEP);
      while (steps.length <= wanted) {
        const at = steps.length - 1;
        const ends = countLineEnds(await artifact.read(at * STEP, (at + 1) * STEP));
        // Another request may have counted on meanwhile.
        if (steps.length === at + 1) steps.push((steps[at] ?? 0) + ends);
        await nextTurn();
        signal.throwIfAborted();
      }
      return 1 + (steps[wanted] ?? 0) + countLineEnds(await artifact.read(wanted * STEP, offset));
    },
  };
}

function countLineEnds(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) count += 1;
  return count;
}

/** Where the character begins that the byte at `at` belongs to. */
export function characterStart(bytes: Buffer, at: number): number {
  let start = at;
  for (let i = 0; i < 3 && isContinuation(bytes[start]) && start > 0; i += 1) start -= 1;
  return isContinuation(bytes[start]) ? at : start;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
