// How the check of rules and hooks looks at the disk (PERM-17).

import { lstatSync, readdirSync, statSync } from "node:fs";
import type { PatternDisk } from "@soong/core";

export const patternDisk: PatternDisk = {
  kindOf(path) {
    try {
      return statSync(path).isDirectory() ? "directory" : "file";
    } catch (error) {
      const { code } = error as { code?: string };
      if (code === "ELOOP") return "loop";
      // What may not be looked at is not known to be missing.
      if (code !== "ENOENT") return code === "ENOTDIR" ? "missing" : "directory";
      return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
        ? "dangling"
        : "missing";
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
