// Which file a command name means: looked up once, before the command is judged, never by the shell.

import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";

export interface FoundExecutable {
  /** Absolute, as found: what is started, so that a program that looks at its own name still works. */
  found: string;
  /** The same with all links resolved: what is judged. */
  resolved: string;
}

export function findExecutable(
  name: string,
  options: { path: string; cwd: string },
): FoundExecutable | undefined {
  if (name === "" || name.includes("\0")) return undefined;
  if (name.includes("/")) return executableAt(isAbsolute(name) ? name : `${options.cwd}/${name}`);
  for (const directory of options.path.split(":")) {
    if (!isAbsolute(directory)) continue;
    const executable = executableAt(`${directory}/${name}`);
    if (executable !== undefined) return executable;
  }
  return undefined;
}

function executableAt(place: string): FoundExecutable | undefined {
  try {
    accessSync(place, constants.X_OK);
    if (!statSync(place).isFile()) return undefined;
    return { found: withoutDots(place), resolved: realpathSync.native(place) };
  } catch {
    return undefined;
  }
}

/** `link/..` is the parent of what the link leads to, so the folder is resolved before dots are taken out. */
function withoutDots(place: string): string {
  if (!place.split("/").includes("..")) return resolve(place);
  return join(realpathSync.native(dirname(place)), basename(place));
}
