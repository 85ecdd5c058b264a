// The file of `soong export`: there whole or not at all, for its owner alone, and never in place of another by mistake.

import { lstat, realpath, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { messageOf } from "@soong/core";
import { isWithin } from "@soong/core/internal";
import { readErrno, writeWholeFile } from "@soong/platform";
import { CommandError, visibleLine } from "../../output/index.ts";

interface Replacing {
  readonly force: boolean;
}

/** Refuses before the work what it could not be written to. Resolves to the file behind links. */
export async function checkExportFile(
  path: string,
  { force, home }: Replacing & { readonly home: string },
): Promise<string> {
  const name = visibleLine(path);
  const old = await stat(path).catch((error: unknown) => {
    if (readErrno(error) === "ENOENT") return undefined;
    return refuseFor(path)(error);
  });
  if (old?.isDirectory() === true) {
    throw new CommandError(`${name} is a directory. Name a file in it.`);
  }
  // A device or a pipe would be replaced by a file.
  if (old?.isFile() === false) {
    throw new CommandError(`${name} is no ordinary file. Omit --out and redirect stdout to it.`);
  }
  const file = await (old === undefined ? resolveNewFile(path) : realpath(path)).catch(
    refuseFor(path),
  );
  await refuseOwnFile(file, home);
  if (old !== undefined && !force) throw refuseReplacing(file);
  return file;
}

async function resolveNewFile(path: string): Promise<string> {
  const folder = await realpath(dirname(path));
  const file = join(folder, basename(path));
  const link = await lstat(file).catch(() => undefined);
  if (link === undefined) return file;
  const name = visibleLine(path);
  throw new CommandError(
    `${name} is a link to a file that is not there. Name that file, or remove the link.`,
  );
}

/** An export in place of the store would lose all sessions. The store may be a link that leads out of the home. */
async function refuseOwnFile(file: string, home: string): Promise<void> {
  const store = join(home, "store");
  for (const path of [home, store, join(store, "soong.db")]) {
    const own = await realpath(path).catch(() => path);
    if (!isWithin(own, file)) continue;
    throw new CommandError(
      `${visibleLine(file)} is in the home of Soong, ${visibleLine(home)}. Name a file elsewhere.`,
    );
  }
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
    // If reading the session failed, that error is reported.
    if (cause instanceof Error && readErrno(cause) === undefined) throw cause;
    if (readErrno(cause) === "ENOENT") {
      const folder = visibleLine(dirname(file));
      throw new CommandError(
        `${visibleLine(file)} cannot be written: no file can be made in ${folder}. Name a file elsewhere.`,
      );
    }
    return refuseFor(file)(cause);
  }
}

function refuseFor(file: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof CommandError) throw error;
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
  ["ELOOP", () => "its links lead in a circle."],
  ["ENAMETOOLONG", () => "its name is too long."],
]);
