// Hooks and config of a git directory by another name than `.git` (PATH-6), also hooks where its config names a directory for them: one made with `--separate-git-dir`, a bare repository, that of
// a work tree. Git runs what is there as it does in `.git`; only the disk tells what such a directory is.

import { statSync } from "node:fs";
import { join } from "node:path";
import { hookByConfig } from "./hooks-directory.ts";

/** The part of a canonical path that git runs, or takes programs from; undefined for any other file. */
export function ranByGit(path: string): string | undefined {
  for (const { index } of path.matchAll(RAN)) {
    if (isGitDirectory(path.slice(0, index) || "/")) return path.slice(index + 1);
  }
  return hookByConfig(path);
}

const RAN = /\/(?:hooks(?=\/|$)|config(?:\.worktree)?$)/gi;

function isGitDirectory(path: string): boolean {
  const has = (name: string, kind: "isFile" | "isDirectory"): boolean => {
    try {
      return statSync(join(path, name), { throwIfNoEntry: false })?.[kind]() === true;
    } catch {
      return false;
    }
  };
  if (!has("HEAD", "isFile")) return false;
  return (
    has("commondir", "isFile") || (has("objects", "isDirectory") && has("refs", "isDirectory"))
  );
}
