// How far the logs of a run are known to be whole. A log says so only by its last line, and a run without
// errors has none: without this, catching up would ask for every fact there is.

import { closeSync, constants, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LineFile } from "./line-file.ts";
import type { OpenFolder } from "./open-folder.ts";

/** A checkpoint is made each time events.jsonl has grown by about this much. */
const EVERY_BYTES = 2 ** 20;

type Logs = Pick<OpenFolder, "path" | "events" | "tools" | "errors">;

interface Checkpoint {
  readonly seq: number;
  readonly tools_bytes: number;
  readonly errors_bytes: number;
}

/** Once the logs have all that events.jsonl has; `sizeBefore` is what that had before this batch. */
export function checkpointLogs({ path, events, tools, errors }: Logs, sizeBefore: number): void {
  if (Math.floor(sizeBefore / EVERY_BYTES) === Math.floor(events.size / EVERY_BYTES)) return;
  const checkpoint: Checkpoint = {
    seq: events.lastSeq,
    tools_bytes: tools.size,
    errors_bytes: errors.size,
  };
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW, O_NONBLOCK } = constants;
  const flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK;
  const fd = openSync(checkpointPath(path), flags, 0o600);
  try {
    writeFileSync(fd, `${JSON.stringify(checkpoint)}\n`);
  } finally {
    closeSync(fd);
  }
}

/** The seq up to which each log has all its lines, at least. */
export function wholeUpTo({ path, tools, errors }: Logs): { tools: number; errors: number } {
  const known = readCheckpoint(path);
  return {
    tools: wholeTo(tools, known?.tools_bytes),
    errors: wholeTo(errors, known?.errors_bytes),
  };

  // A log that has become shorter since is whole only as far as its last line.
  function wholeTo(log: LineFile, bytes = Infinity): number {
    return log.size >= bytes ? Math.max(log.lastSeq, known?.seq ?? 0) : log.lastSeq;
  }
}

export function removeCheckpoint(path: string): void {
  rmSync(checkpointPath(path), { force: true });
}

/** One that is torn, or not there, costs time and nothing else. */
function readCheckpoint(path: string): Checkpoint | undefined {
  let fd: number | undefined;
  try {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    fd = openSync(checkpointPath(path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const read = JSON.parse(readFileSync(fd, "utf8")) as Partial<Checkpoint> | null;
    const { seq, tools_bytes, errors_bytes } = read ?? {};
    if (!isCount(seq) || !isCount(tools_bytes) || !isCount(errors_bytes)) return undefined;
    return { seq, tools_bytes, errors_bytes };
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function checkpointPath(path: string): string {
  return join(path, "logs", ".checkpoint");
}
