// What is at a path now, for judging what a command would meet. A path that cannot be looked at (too long a name, a circle of
// links, no right to enter) is not there for the command either.

import { lstatSync, opendirSync, statSync, type Dirent, type Stats } from "node:fs";

/** A link counts, wherever it leads. */
export function exists(path: string): boolean {
  return look(() => lstatSync(path)) !== undefined;
}

export function existsThroughLinks(path: string): boolean {
  return look(() => statSync(path)) !== undefined;
}

/** Also through links. */
export function isDirectory(path: string): boolean {
  return look(() => statSync(path))?.isDirectory() === true;
}

/** Nothing for what cannot be listed. One at a time: a directory may hold millions. */
export function* entriesOf(directory: string): Generator<Dirent, void> {
  try {
    const opened = opendirSync(directory);
    try {
      for (let entry = opened.readSync(); entry !== null; entry = opened.readSync()) yield entry;
    } finally {
      opened.closeSync();
    }
  } catch {
    // As above.
  }
}

function look(stat: () => Stats): Stats | undefined {
  try {
    return stat();
  } catch {
    return undefined;
  }
}
