// Where ripgrep is: the one that came with us, else one on PATH, but never a program that the project or
// anything the agent may write could have put there. Undefined: none, and the plain walk serves.

import { basename, dirname } from "node:path";
import type { Roots } from "@soong/core";
import { findExecutable, rootOfProgram } from "@soong/platform";
import { runRipgrep } from "./ripgrep-process.ts";
import { TREE_FLAGS } from "./ripgrep-query.ts";

export async function locateRipgrep(roots: Roots): Promise<string | undefined> {
  return (await bundledRipgrep(roots)) ?? ripgrepOnPath(roots, process.env.PATH ?? "");
}

/** The first one that does what is expected of it. */
export async function ripgrepOnPath(roots: Roots, path: string): Promise<string | undefined> {
  for (const directory of path.split(":")) {
    const rg = findExecutable("rg", { path: directory, cwd: "/" });
    if (rg === undefined || rootOfProgram(rg, roots) !== undefined) continue;
    let fit = proven.get(rg.resolved);
    if (fit === undefined) {
      fit = namesWhatItExcludes(rg.resolved);
      proven.set(rg.resolved, fit);
    }
    if (await fit) return rg.resolved;
  }
  return undefined;
}

async function bundledRipgrep(roots: Roots): Promise<string | undefined> {
  try {
    const { rgPath } = await import("@vscode/ripgrep");
    const rg = findExecutable(rgPath, { path: "", cwd: "/" });
    return rg === undefined || rootOfProgram(rg, roots) !== undefined ? undefined : rgPath;
  } catch {
    return undefined;
  }
}

const proven = new Map<string, Promise<boolean>>();

/** A version of another time may know other options, or tell in another form: it is asked to leave itself out. */
async function namesWhatItExcludes(executable: string): Promise<boolean> {
  const name = basename(executable);
  let named = false;
  try {
    await runRipgrep({
      executable,
      cwd: dirname(executable),
      argv: ["--debug", "--files", "--max-depth=1", ...TREE_FLAGS, `--glob=!${name}`, "--", "./"],
      onOutput: () => "more",
      onExcluded(path) {
        if (path === name) named = true;
      },
      signal: AbortSignal.timeout(LONGEST_PROOF_MS),
    });
  } catch {
    return false;
  }
  return named;
}

const LONGEST_PROOF_MS = 5000;
