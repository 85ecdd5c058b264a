// Whether a found executable is the system's own (CMD-4): in a directory of the system, under the name it
// was asked for, where neither the agent nor any other user could have put it.

import { closeSync, openSync, readSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import type { Roots } from "@soong/core";
import { isFixedProgram, type FoundExecutable } from "@soong/platform";
import { isWithin, isWithinRoots } from "./places-of-command.ts";

/** One program under many names. */
const MULTI_CALL: ReadonlySet<string> = new Set(["busybox", "coreutils", "toybox"]);

export function isTrustedExecutable(
  asked: string,
  executable: FoundExecutable,
  roots: Roots,
  systemDirectories: readonly string[],
): boolean {
  const { found, resolved } = executable;
  const isFixed = isFixedProgram(executable);
  const name = basename(found);
  if (asked !== name && asked !== found) return false;
  const realName = basename(resolved);
  if (!realName.includes(name) && !MULTI_CALL.has(realName)) return false;
  return (
    [found, resolved].every(
      (path) =>
        systemDirectories.some((directory) => isWithin(directory, path)) &&
        (isFixed || !isWithinRoots(roots, path)) &&
        isWrittenByItsOwnerOnly(path) &&
        isWrittenByItsOwnerOnly(dirname(path)),
    ) &&
    (OF_BUILTINS.has(realName) || !isScript(resolved))
  );
}

/** Scripts of the system that consist of nothing but builtins of the shell that their first line names by its path. */
const OF_BUILTINS: ReadonlySet<string> = new Set(["which.debianutils"]);

function isWrittenByItsOwnerOnly(path: string): boolean {
  try {
    return (statSync(path).mode & 0o022) === 0;
  } catch {
    return false;
  }
}

/** A script finds the programs it consists of on the PATH, wherever that leads. */
function isScript(path: string): boolean {
  try {
    const file = openSync(path, "r");
    try {
      const start = Buffer.alloc(2);
      readSync(file, start, 0, 2, 0);
      return start.toString("latin1") === "#!";
    } finally {
      closeSync(file);
    }
  } catch {
    return true;
  }
}
