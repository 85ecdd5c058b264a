// One of a run's files: lines of JSON with rising seq, only ever added to, and how far it got according to
// its own last line. Looks at no more than the tail, however long the file is.

import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  writeFileSync,
} from "node:fs";

import type { Fact } from "@soong/core";

export interface CommittedFact {
  readonly fact: Fact;
  /** The journal's exact text of the fact, without a line end. */
  readonly line: string;
}

/** A page of the facts of one run after a seq, oldest first; empty when there are no more. */
export type ReadFacts = (afterSeq: number) => readonly CommittedFact[];

export interface LineFile {
  readonly path: string;
  readonly fd: number;
  readonly lineOf: LineOf;
  /** In bytes, of whole lines. */
  size: number;
  /** Of its last line; 0 when it has none. */
  lastSeq: number;
}

/** Undefined for a fact that is no line of this file. */
export type LineOf = (committed: CommittedFact) => string | undefined;

export type Tail =
  | { readonly kind: "whole" | "torn"; readonly lastLine?: string }
  /** The last whole line is none of ours. */
  | { readonly kind: "damaged" };

/** Never through a symbolic link, and never waiting for the other end of a pipe. */
const OPEN = constants.O_RDWR | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK;

const FIRST_LOOK_BYTES = 4096;
/** No line of ours is as long; what is, need not fit into memory. */
const LONGEST_LINE_BYTES = 256 * 2 ** 20;

/** Made when it is not there. A torn end is still in the file, but not in `size`. */
export function openLineFile(path: string, lineOf: LineOf): { file: LineFile; tail: Tail } {
  const fd = openSync(path, OPEN | constants.O_CREAT, 0o600);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new Error(`${path} is not a file`);
    if ((stat.mode & 0o077) !== 0) fchmodSync(fd, 0o600);
    const { wholeBytes, lastLine } = readTail(fd, stat.size);
    const lastSeq = lastLine === undefined ? 0 : readSeq(lastLine);
    const file = { path, fd, lineOf, size: wholeBytes, lastSeq: lastSeq ?? 0 };
    if (lastSeq === undefined) return { file, tail: { kind: "damaged" } };
    const kind = wholeBytes === stat.size ? "whole" : "torn";
    return { file, tail: lastLine === undefined ? { kind } : { kind, lastLine } };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** A new one, where there is nothing yet. */
export function createLineFile(path: string, lineOf: LineOf): LineFile {
  const fd = openSync(path, OPEN | constants.O_CREAT | constants.O_EXCL, 0o600);
  return { path, fd, lineOf, size: 0, lastSeq: 0 };
}

/** In one write. Facts that the file has already are passed over. When it fails the file ends as before. */
export function writeFacts(file: LineFile, facts: readonly CommittedFact[]): void {
  const added = newLines(file, facts);
  if (added !== undefined) writeLines(file, added);
}

/** The same, but throws when someone else has changed the file. Costs nothing where there is no line. */
export function writeFactsIfUntouched(file: LineFile, facts: readonly CommittedFact[]): void {
  const added = newLines(file, facts);
  if (added === undefined) return;
  if (!isAsWeLeftIt(file)) throw new Error(`${file.path} was changed by someone else`);
  writeLines(file, added);
}

export function cutTornEnd(file: LineFile): void {
  ftruncateSync(file.fd, file.size);
}

/** False when someone else has written to it, or put another in its place. */
export function isAsWeLeftIt(file: LineFile): boolean {
  const { nlink, size } = fstatSync(file.fd);
  return nlink > 0 && size === file.size;
}

interface NewLines {
  readonly bytes: Buffer;
  readonly lastSeq: number;
}

function newLines(file: LineFile, facts: readonly CommittedFact[]): NewLines | undefined {
  let text = "";
  let lastSeq = file.lastSeq;
  for (const committed of facts) {
    if (committed.fact.seq <= lastSeq) continue;
    const line = file.lineOf(committed);
    if (line === undefined) continue;
    text += `${line}\n`;
    lastSeq = committed.fact.seq;
  }
  return text === "" ? undefined : { bytes: Buffer.from(text), lastSeq };
}

function writeLines(file: LineFile, { bytes, lastSeq }: NewLines): void {
  try {
    writeFileSync(file.fd, bytes);
  } catch (error) {
    cutTornEnd(file);
    throw error;
  }
  file.size += bytes.length;
  file.lastSeq = lastSeq;
}

function readTail(fd: number, size: number): { wholeBytes: number; lastLine?: string } {
  for (let look = FIRST_LOOK_BYTES; ; look *= 4) {
    const from = Math.max(0, size - look);
    const bytes = readBytes(fd, from, size);
    const end = bytes.lastIndexOf("\n");
    // A negative place to search from would mean the last byte.
    const before = end < 1 ? -1 : bytes.lastIndexOf("\n", end - 1);
    if (before === -1 && from > 0) {
      // Not one of ours: an empty line is found damaged, and all of it is written again.
      if (look >= LONGEST_LINE_BYTES) return { wholeBytes: size, lastLine: "" };
      continue;
    }
    if (end === -1) return { wholeBytes: 0 };
    return { wholeBytes: from + end + 1, lastLine: bytes.toString("utf8", before + 1, end) };
  }
}

function readBytes(fd: number, from: number, to: number): Buffer {
  const bytes = Buffer.alloc(to - from);
  let filled = 0;
  while (filled < bytes.length) {
    const count = readSync(fd, bytes, filled, bytes.length - filled, from + filled);
    if (count === 0) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}

function readSeq(line: string): number | undefined {
  try {
    const { seq } = JSON.parse(line) as { seq?: unknown };
    return Number.isSafeInteger(seq) && (seq as number) > 0 ? (seq as number) : undefined;
  } catch {
    return undefined;
  }
}
