// The tools of a runtime: the built-in ones, and what the user declared in the home (DECL-1). A project
// declares nothing.

import { join } from "node:path";
import type { AnyTool, ToolSource } from "@soong/core";
import { DEFAULT_ENV_ALLOWLIST } from "@soong/platform";
import {
  codeTools,
  describeProblem,
  loadDeclarativeTools,
  readArtifactTool,
  type DeclarativeToolsOptions,
} from "@soong/tools";
import { overrideTool, type SoongConfig } from "../config/index.ts";
import { limitInstructions } from "./instructions.ts";
import { SetupError } from "./home.ts";

export interface UserTools {
  readonly tools: readonly AnyTool[];
  readonly sources: readonly ToolSource[];
}

export async function loadUserTools(home: string, values: SoongConfig): Promise<UserTools> {
  const declared = await loadDeclarativeTools(toolsFolder(home), declarativeOptions(values));
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
    ...(values === undefined
      ? {}
      : {
          maxTimeoutMs: values.tools.max_timeout_ms,
          envAllowlist: values.tools.env_allowlist,
        }),
  };
}

export function toolsFolder(home: string): string {
  return join(home, "tools");
}
