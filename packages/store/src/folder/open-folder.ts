// The directory of one run and its three files. Nothing here goes through a symbolic link below the
// directory of all runs: a tool that may write to its workspace must not choose where we write.

import {
  chmodSync,
  closeSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  constants,
  openSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { createHash } from "node:crypto";
import { eventLine, errorLine, toolLine } from "./log-lines.ts";
import {
  createLineFile,
  type LineFile,
  type LineOf,
  openLineFile,
  type Tail,
} from "./line-file.ts";

export interface OpenFolder {
  readonly path: string;
  readonly events: LineFile;
  readonly tools: LineFile;
  readonly errors: LineFile;
  readonly tails: Readonly<Record<FileName, Tail>>;
}

export type FileName = "events" | "tools" | "errors";

export const FOLDER_FILES: Readonly<Record<FileName, { inFolder: string; lineOf: LineOf }>> = {
  events: { inFolder: "events.jsonl", lineOf: eventLine },
  tools: { inFolder: join("logs", "tools.jsonl"), lineOf: toolLine },
  errors: { inFolder: join("logs", "errors.jsonl"), lineOf: errorLine },
};

/** Ours to make, the user's or a tool's to fill. */
const OTHERS = ["workspace", "deliverables", "archive"];

/** Made when it is not there. Throws when it cannot be, or leads elsewhere. */
export function openFolder(path: string): OpenFolder {
  const isNew = makeFolder(path) === "made";
  const opened: { file: LineFile; tail: Tail }[] = [];
  try {
    const events = openOne("events");
    const tools = openOne("tools");
    const errors = openOne("errors");
    const tails = { events: events.tail, tools: tools.tail, errors: errors.tail };
    return { path, events: events.file, tools: tools.file, errors: errors.file, tails };
  } catch (error) {
    for (const { file } of opened) closeSync(file.fd);
    throw error;
  }

  function openOne(name: FileName): { file: LineFile; tail: Tail } {
    const { inFolder, lineOf } = FOLDER_FILES[name];
    const one = isNew
      ? { file: createLineFile(join(path, inFolder), lineOf), tail: { kind: "whole" } as const }
      : openLineFile(join(path, inFolder), lineOf);
    opened.push(one);
    return one;
  }
}

export function closeFolder({ events, tools, errors }: OpenFolder): void {
  for (const { fd } of [events, tools, errors]) {
    try {
      closeSync(fd);
    } catch {
      // A disk may report a late failure here. The file is let go all the same, and catching up finds it.
    }
  }
}

export function makeFolder(path: string): "made" | "there" {
  makeDirectoryOfRuns(dirname(path));
  const made = makeOwnDirectory(path);
  makeOwnDirectory(join(path, "logs"));
  // We write into none of these, so it may be anything.
  for (const name of OTHERS) makeIfMissing(join(path, name));
  return made;
}

/** This one may be a link: where it is, is the choice of who configured it. */
export function makeDirectoryOfRuns(directory: string): void {
  const stat = statSync(directory, { throwIfNoEntry: false });
  if (stat === undefined) mkdirSync(directory, { recursive: true, mode: 0o700 });
  else if ((stat.mode & 0o077) !== 0) chmodSync(directory, 0o700);
}

function makeOwnDirectory(path: string): "made" | "there" {
  if (makeIfMissing(path) === "made") return "made";
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) throw new Error(`${path} is a symbolic link`);
  if (!stat.isDirectory()) throw new Error(`${path} is not a directory`);
  if ((stat.mode & 0o077) !== 0) chmodSync(path, 0o700);
  return "there";
}

function makeIfMissing(path: string): "made" | "there" {
  try {
    mkdirSync(path, { mode: 0o700 });
    return "made";
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return "there";
    throw error;
  }
}

// The name of a folder: run ids come from callers. None may lead out of the directory, and no two may share a folder, also
// on a disk that takes `A` and `a` for the same name.

const PLAIN = /^[a-z0-9][a-z0-9._-]{0,99}$/;

/** Names that are devices on Windows, with any ending, and the trailing dot it drops. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)|\.$/;

/** The id itself where that is safe, otherwise what can be read of it, `~` and its hash. */
export function folderName(run_id: string): string {
  if (PLAIN.test(run_id) && !RESERVED.test(run_id)) return run_id;
  const readable = run_id
    .slice(0, 40)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
  // As UTF-16: in UTF-8 all halves of surrogate pairs would be the same character.
  const hash = createHash("sha256").update(Buffer.from(run_id, "utf16le")).digest("hex");
  return `${readable === "" ? "run" : readable}~${hash.slice(0, 32)}`;
}

/** With all that is in it. Links are removed, never followed. */
export function removeFolder(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EACCES" && code !== "EPERM") throw error;
    // Tools leave directories they made read-only (a module cache does): those are ours all the same.
    openUp(path);
    rmSync(path, { recursive: true, force: true });
  }
}

function openUp(path: string): void {
  if (!lstatSync(path).isDirectory()) return;
  chmodSync(path, 0o700);
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) openUp(join(path, entry.name));
  }
}

// How far the logs of a run are known to be whole. A log says so only by its last line, and a run without
// errors has none: without this, catching up would ask for every fact there is.

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
