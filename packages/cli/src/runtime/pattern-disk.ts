// How the check of rules and hooks looks at the disk (PERM-17).

import { lstatSync, readdirSync, statSync } from "node:fs";
import type { PatternDisk } from "@soong/core";
import { resolveRulePath } from "@soong/tools";

export const patternDisk: PatternDisk = {
  kindOf(path) {
    try {
      return statSync(path).isDirectory() ? "directory" : "file";
    } catch (error) {
      const { code } = error as { code?: string };
      if (code === "ELOOP") return "loop";
      // What may not be looked at is not known to be missing.
      if (code !== "ENOENT") return code === "ENOTDIR" ? "missing" : "directory";
      if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true) return "dangling";
      const spelled = resolveRulePath(path);
      return spelled === undefined || spelled === path ? "missing" : patternDisk.kindOf(spelled);
    }
  },
  namesIn(directory) {
    try {
      return readdirSync(directory).slice(0, 5000);
    } catch {
      return [];
    }
  },
};
