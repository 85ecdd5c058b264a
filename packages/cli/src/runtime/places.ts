// Where a runtime works and where it never writes, as canonical paths: the project, the roots a user added,
// and what belongs to Soong itself (PERM-14).

import { lstatSync, readdirSync, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { PatternDisk, SessionOptions } from "@soong/core";
import { patternPlaces, type PatternPlaces } from "@soong/core/internal";
import { defaultLockDirectory } from "@soong/platform";
import { isCaseInsensitive, resolvePath, resolveRulePath } from "@soong/tools";
import { userHome, type SoongConfig } from "../config/index.ts";
import { SetupError } from "./home.ts";

export async function resolvePlaces(
  cwd: string,
  home: string,
  {
    write_roots: writeRoots,
    tmp_dir: writesToTmp,
  }: Pick<SoongConfig["tools"], "write_roots" | "tmp_dir">,
  platform: string = process.platform,
) {
  if (platform === "win32") {
    throw new SetupError(
      ["Soong does not run on Windows yet."],
      "Use WSL 2, where it is on Linux; docs/platforms.md says why.",
    );
  }
  const project = await resolveProject(cwd);
  const user = await resolvePath("/", userHome(process.env));
  return {
    roots: {
      project,
      write: await Promise.all(
        writeRoots.map((root) => resolvePath(project, fromHome(root, user))),
      ),
    },
    policy: {
      protected_roots: await protectedRoots(home),
      case_insensitive_paths: await isCaseInsensitive(project),
      home: user,
      ...(writesToTmp ? { tmp_dir: await resolvePath("/", tmpdir()) } : {}),
    },
  };
}

/** The home of Soong, and the locks, which lie elsewhere when the home was moved. */
async function protectedRoots(home: string): Promise<string[]> {
  const locks = defaultLockDirectory();
  const roots = await Promise.all([home, locks].map((path) => resolvePath("/", path)));
  return [...new Set(roots)];
}

async function resolveProject(cwd: string): Promise<string> {
  const project = await resolvePath("/", cwd);
  const found = await stat(project).catch(() => undefined);
  if (found?.isDirectory() === true) return project;
  throw new SetupError(
    [`${cwd} is not a directory.`],
    "Give the directory to work in with --cwd, of a worker with --project, or go there first.",
  );
}

function fromHome(root: string, user: string): string {
  if (isAbsolute(root)) return root;
  return root === "~" || root.startsWith("~/") ? join(user, root.slice(1)) : root;
}

/** What paths of hooks mean, as a session reads them. */
export function hookPlaces({
  roots,
  policy,
}: Pick<SessionOptions, "roots" | "policy">): PatternPlaces {
  return { ...patternPlaces({ ...policy, roots, links: undefined }), resolvePath: resolveRulePath };
}

/** How the check of rules and hooks looks at the disk (PERM-17). */
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
