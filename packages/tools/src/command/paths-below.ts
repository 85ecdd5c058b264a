// Goes through a tree as far as there is time for.

import type { Dirent } from "node:fs";
import { join } from "node:path";
import { compileGlob, globProblem } from "@soong/core/internal";
import { entriesOf } from "../path/index.ts";

export const TOO_MANY = Symbol("too many entries");

/** The paths below a directory, those near the top first, without following links; then the sign that there are more than `most`. */
export function* pathsBelow(
  directory: string,
  enters: (entry: Dirent, path: string) => boolean = () => true,
  most = 5000,
): Generator<string | typeof TOO_MANY, void, undefined> {
  const ahead = [directory];
  let left = most;
  for (const at of ahead) {
    for (const entry of entriesOf(at)) {
      if ((left -= 1) < 0) {
        yield TOO_MANY;
        return;
      }
      const path = join(at, entry.name);
      yield path;
      if (entry.isDirectory() && enters(entry, path)) ahead.push(path);
    }
  }
}

/** As a shell matches names, or a little more: a set of characters matches any one. */
export function nameMatcher(pattern: string): (name: string) => boolean {
  const simple = pattern.replaceAll(/\[[^\]]*\]/g, "?");
  return compileGlob(globProblem(simple) === undefined ? simple : "*");
}
