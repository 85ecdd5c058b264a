// JSON files and programs that grant rights (a tool, a hook), taken only where this user and root alone can change them.
// On systems other than POSIX this is unknown. All that can be wrong with a file is returned as text, never thrown.

import { isUtf8 } from "node:buffer";
import type { Stats } from "node:fs";
import { lstat, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf, ToolFailure } from "@soong/core";
import {
  findProgram,
  isBesideDeclaration,
  parseDocument,
  programEnvironment,
  type ParsedDocument,
  type ProgramPlaces,
} from "@soong/platform";
import { readWholeFile } from "../path/index.ts";

/** `file` is canonical but for its last segment, which may not be a link. */
export async function readJsonFile(
  file: string,
  { maxBytes }: { maxBytes: number },
): Promise<ParsedDocument> {
  const refused = (message: string): ParsedDocument => ({
    ok: false,
    problems: [{ file, message }],
  });
  try {
    const untrusted = await fileTrustProblem(file);
    if (untrusted !== undefined) return refused(untrusted);
    const read = await readWholeFile(file, { maxBytes });
    if (read === undefined) return refused("is not there any more");
    // UTF-8 with or without its mark.
    if (/^(?:\xff\xfe|\xfe\xff)/.test(read.bytes.toString("latin1", 0, 2))) {
      return refused("is UTF-16; save it as UTF-8");
    }
    if (!isUtf8(read.bytes)) return refused("is not UTF-8; save it as UTF-8");
    return parseDocument(read.bytes.toString("utf8"), file, "json");
  } catch (error) {
    return refused(unreadable(error, maxBytes));
  }
}

function unreadable(error: unknown, maxBytes: number): string {
  const code = error instanceof ToolFailure ? error.error.code : (error as { code?: unknown }).code;
  switch (code) {
    case "file_too_large":
      return `is larger than ${maxBytes} bytes`;
    case "ENOENT":
      return "is not there";
    case "access_denied":
    case "EACCES":
    case "EPERM":
      return "cannot be read: you have no right to";
    default:
      return `cannot be read: ${messageOf(error)}`;
  }
}

/** Why others could change what is in this directory, as a clause; undefined when they could not. */
export async function directoryTrustProblem(directory: string): Promise<string | undefined> {
  const real = await realpath(directory);
  const own = changeableByOthers(await lstat(real));
  if (own !== undefined) return own;
  for (let above = dirname(real); ; above = dirname(above)) {
    const stats = await lstat(above);
    // In a sticky directory no one moves what is not theirs.
    if (isWritableByAnyone(stats) && (stats.mode & STICKY) === 0) {
      return `is inside ${above}, which anyone can write to; run chmod o-w on ${above} or move it`;
    }
    if (above === dirname(above)) return undefined;
  }
}

/** The same of one file; a link or anything else that is not a plain file is no better. */
export async function fileTrustProblem(file: string): Promise<string | undefined> {
  const stats = await lstat(file);
  if (stats.isSymbolicLink()) return "is a symbolic link; put the file itself here";
  if (!stats.isFile()) return `is ${describeKind(stats)}; a regular file is expected`;
  return changeableByOthers(stats);
}

const STICKY = 0o1000;
const ROOT = 0;

function changeableByOthers(stats: Stats): string | undefined {
  const self = process.getuid?.();
  if (self === undefined) return undefined;
  if (stats.uid !== self && stats.uid !== ROOT) {
    return `belongs to the user with the id ${stats.uid}, who could change what it grants; chown it to yourself`;
  }
  return isWritableByAnyone(stats)
    ? "can be written by anyone, who could change what it grants; run chmod o-w on it"
    : undefined;
}

function isWritableByAnyone(stats: Stats): boolean {
  return process.getuid !== undefined && (stats.mode & 0o002) !== 0;
}

function describeKind(stats: Stats): string {
  if (stats.isDirectory()) return "a directory";
  if (stats.isFIFO()) return "a FIFO";
  return stats.isSocket() ? "a socket" : "a device";
}

/** Whether others could change a program that is beside its declaration, as a clause; undefined for a program that is elsewhere, or that others cannot change. */
export async function ownProgramProblem(
  command: string,
  directory: string,
): Promise<string | undefined> {
  if (!isBesideDeclaration(command)) return undefined;
  try {
    const file = await realpath(join(directory, command));
    const problem = await fileTrustProblem(file);
    return problem === undefined ? undefined : `${file} ${problem}`;
  } catch {
    // It is not there, which is another question.
    return undefined;
  }
}

/** Why a program cannot be run on this machine as it is, in one sentence. */
export function programProblem(command: string, places: ProgramPlaces): string | undefined {
  try {
    findProgram(command, places, programEnvironment([], places.roots));
    return undefined;
  } catch (error) {
    if (error instanceof ToolFailure) return error.message;
    throw error;
  }
}
