// The policy that config and flags make together (CONF-4). Each rule carries where it was written, so that
// `explain` can point there (PERM-11).

import {
  type Decision,
  type Mode,
  type PermissionRule,
  type PolicyInput,
  SoongError,
} from "@soong/core";
import { omitUndefined } from "@soong/schema";
import type { SoongConfig } from "./soong-config.ts";
import { TOOL_PATTERN } from "./value-kinds.ts";

export interface PolicyFlags {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly mode?: Mode;
}

/** Throws on a pattern that could fit no tool. */
export function buildPolicy(values: SoongConfig, flags: PolicyFlags): PolicyInput {
  const { permissions, tools } = values;
  const readonlyMcp = Object.entries(tools.overrides)
    .filter(([, override]) => override.readonly === true)
    .map(([pattern]) => pattern);
  return {
    rules: [
      ...permissions.rules,
      ...flags.deny.map((pattern) => ruleOfFlag("--deny", pattern, "deny")),
      ...flags.allow.map((pattern) => ruleOfFlag("--allow", pattern, "allow")),
    ],
    destructive: permissions.destructive,
    network: permissions.network,
    sensitive_paths: tools.sensitive_paths,
    readonly_mcp: readonlyMcp,
    ...omitUndefined({ mode: flags.mode }),
  };
}

function ruleOfFlag(flag: string, pattern: string, decision: Decision): PermissionRule {
  const wrong = pattern === "" ? "is empty" : TOOL_PATTERN.problem(pattern);
  if (wrong !== undefined)
    throw new SoongError("invalid_flag", `${flag} ${JSON.stringify(pattern)}: ${wrong}`, {
      exitCode: 2,
    });
  return { tool: pattern, decision, origin: { flag: `${flag} ${pattern}` } };
}
