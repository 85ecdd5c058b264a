// The tools and hooks of a runtime: the built-in tools, and what the user declared in the home (DECL-1, HOOK-1). A project
// declares nothing.

import type { AnyHook, AnyTool, ToolSource } from "@soong/core";
import { DEFAULT_ENV_ALLOWLIST } from "@soong/platform";
import {
  codeTools,
  describeProblem,
  loadDeclarativeTools,
  loadHooks,
  readArtifactTool,
  type DeclarativeToolsOptions,
} from "@soong/tools";
import { overrideTool, userHome, type SoongConfig } from "../config/index.ts";
import { limitInstructions } from "./instructions.ts";
import { homePaths, SetupError } from "./home.ts";

export async function loadUserTools(
  home: string,
  values: SoongConfig,
): Promise<{ tools: readonly AnyTool[]; sources: readonly ToolSource[] }> {
  const declared = await loadDeclarativeTools(homePaths(home).tools, declarativeOptions(values));
  if (!declared.ok) {
    throw new SetupError(
      declared.problems.map(describeProblem),
      "Fix the tool, or move its file away; `soong tools check FILE` checks one.",
    );
  }
  const asConfigured = (tool: AnyTool): AnyTool => overrideTool(tool, values);
  const { source } = declared;
  const envAllowlist = [...DEFAULT_ENV_ALLOWLIST, ...values.tools.env_allowlist];
  const { default_timeout_ms, max_timeout_ms } = values.tools;
  return {
    tools: codeTools({
      envAllowlist,
      defaultTimeoutMs: default_timeout_ms,
      maxTimeoutMs: max_timeout_ms,
      instructionLimitBytes: limitInstructions(values),
    }).map(asConfigured),
    sources: [
      { id: "artifacts", kind: "internal", tools: [readArtifactTool()].map(asConfigured) },
      { ...source, tools: source.tools.map(asConfigured) },
    ],
  };
}

/** How the files in the home are read; without a config that can be read, as with an empty one. */
export function declarativeOptions(values: SoongConfig | undefined): DeclarativeToolsOptions {
  const builtIn = new Set([...codeTools(), readArtifactTool()].map(({ name }) => name));
  return {
    takenBy: (name) => (builtIn.has(name) ? "a built-in tool" : undefined),
    maxTimeoutMs: values?.tools.max_timeout_ms,
    envAllowlist: values?.tools.env_allowlist,
  };
}

/** hooks.json of the home (HOOK-1). */
export async function loadUserHooks(
  home: string,
  project: string,
  { timeout_ms }: SoongConfig["hooks"],
): Promise<readonly AnyHook[]> {
  const loaded = await loadHooks(homePaths(home).hooks, {
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
