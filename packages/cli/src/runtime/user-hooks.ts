// The hooks of a runtime: hooks.json of the home (HOOK-1), never a file of a project.

import { join } from "node:path";
import type { AnyHook } from "@soong/core";
import { describeProblem, loadHooks } from "@soong/tools";
import { userHome, type SoongConfig } from "../config/index.ts";
import { SetupError } from "./home.ts";

export async function loadUserHooks(
  home: string,
  project: string,
  { timeout_ms }: SoongConfig["hooks"],
): Promise<readonly AnyHook[]> {
  const loaded = await loadHooks(hooksFile(home), {
    project,
    userHome: userHome(process.env),
    timeout_ms,
  });
  if (loaded.ok) return loaded.hooks;
  throw new SetupError(
    loaded.problems.map(describeProblem),
    "Fix hooks.json, or move it away to run without hooks.",
  );
}

export function hooksFile(home: string): string {
  return join(home, "hooks.json");
}
