// The file of `soong export`: there whole or not at all, for its owner alone, and never in place of another by mistake.

import { realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { messageOf } from "@soong/core";
import { readErrno, writeWholeFile } from "@soong/platform";
import { CommandError, visibleLine } from "../../output/index.ts";

interface Replacing {
  readonly force: boolean;
}

/** Refuses before the work what it could not be written to. Resolves to the file behind links. */
export async function checkExportFile(path: string, { force }: Replacing): Promise<string> {
  const file = await realpath(path).catch(() => path);
  const folder = dirname(file);
  const name = visibleLine(file);
  const there = await stat(folder).catch(refuseFor(file));
  if (!there.isDirectory()) {
    throw new CommandError(`${name} cannot be written: ${visibleLine(folder)} is no directory.`);
  }
  const old = await stat(file).catch((error: unknown) => {
    if (readErrno(error) === "ENOENT") return undefined;
    return refuseFor(file)(error);
  });
  if (old?.isDirectory() === true) {
    throw new CommandError(`${name} is a directory. Name a file in it.`);
  }
  // A device or a pipe would be replaced by a file.
  if (old?.isFile() === false) {
    throw new CommandError(`${name} is no ordinary file. Omit --out and redirect stdout to it.`);
  }
  if (old !== undefined && !force) throw refuseReplacing(file);
  return file;
}

/** False: the signal ended it before the file was whole, and nothing is left of it. */
export async function writeExportFile(
  file: string,
  lines: AsyncIterable<string>,
  { force, signal }: Replacing & { readonly signal: AbortSignal },
): Promise<boolean> {
  try {
    await writeWholeFile(file, lines, force ? "replace" : "new");
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    const { cause } = error as Error;
    // What the reading of the session failed with is told as that.
    if (cause instanceof Error && readErrno(cause) === undefined) throw cause;
    return refuseFor(file)(cause);
  }
}

function refuseFor(file: string): (error: unknown) => never {
  return (error) => {
    const code = readErrno(error) ?? "";
    if (code === "EEXIST") throw refuseReplacing(file);
    const reason = REASONS.get(code)?.(visibleLine(dirname(file))) ?? messageOf(error);
    throw new CommandError(`${visibleLine(file)} cannot be written: ${reason}`);
  };
}

function refuseReplacing(file: string): CommandError {
  return new CommandError(
    `${visibleLine(file)} exists. Name another file, or replace it with --force.`,
  );
}

type Reason = (folder: string) => string;

const noRights: Reason = (folder) => `this user may not write in ${folder}. Name a file elsewhere.`;

const REASONS: ReadonlyMap<string, Reason> = new Map([
  ["EACCES", noRights],
  ["EPERM", noRights],
  ["EROFS", (folder) => `the disk of ${folder} is read-only. Name a file elsewhere.`],
  [
    "ENOSPC",
    (folder) => `the disk of ${folder} is full. Free some space, or name a file elsewhere.`,
  ],
  ["EDQUOT", (folder) => `the quota of ${folder} is used up. Name a file elsewhere.`],
  ["ENOENT", (folder) => `there is no directory ${folder}. Make it first.`],
  ["ENOTDIR", (folder) => `${folder} is no directory.`],
  ["ENAMETOOLONG", () => "its name is too long."],
]);
