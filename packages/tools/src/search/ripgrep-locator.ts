// Where ripgrep is: the one that came with us, else one on PATH, but never a program that the project or
// anything the agent may write could have put there. Undefined: none, and the plain walk serves.

import { accessSync, constants } from "node:fs";
import type { Roots } from "@soong/core";
import { findExecutable } from "../process/index.ts";

export async function locateRipgrep(roots: Roots): Promise<string | undefined> {
  return (await bundledRipgrep()) ?? ripgrepOnPath(roots, process.env.PATH ?? "");
}

export function ripgrepOnPath(roots: Roots, path: string): string | undefined {
  const isOurs = (place: string): boolean =>
    [roots.project, ...roots.write].some((root) => place === root || place.startsWith(`${root}/`));
  for (const directory of path.split(":")) {
    const rg = findExecutable("rg", { path: directory, cwd: "/" });
    if (rg !== undefined && !isOurs(rg.found) && !isOurs(rg.resolved)) return rg.resolved;
  }
  return undefined;
}

async function bundledRipgrep(): Promise<string | undefined> {
  try {
    const { rgPath } = await import("@vscode/ripgrep");
    accessSync(rgPath, constants.X_OK);
    return rgPath;
  } catch {
    return undefined;
  }
}
