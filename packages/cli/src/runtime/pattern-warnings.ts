// Rules, flags and hooks that can match nothing (PERM-17): a tool that is not there, a path that leads nowhere. A deny
// with a slip of the pen protects nothing, so it is told. Only what is certain is: tools of a server that is configured
// may come, a directory of the project may be made.

import { readdirSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import {
  linkedPrefix,
  matchesName,
  nearestName,
  type AnyHook,
  type PermissionRule,
  type PolicyInput,
} from "@soong/core";

export interface KnownTools {
  readonly names: readonly string[];
  /** Servers of mcp.json, connected or not. */
  readonly servers: readonly string[];
  /** Whether the tools of agents and of the session are among the names. */
  readonly agents: boolean;
}

/** One sentence for each, with where it is written. */
export function patternWarnings(
  policy: PolicyInput,
  hooks: readonly AnyHook[],
  known: KnownTools,
): string[] {
  const places = {
    ...(policy.roots === undefined ? {} : { project: policy.roots.project }),
    ...(policy.home === undefined ? {} : { home: policy.home }),
  };
  const told = [
    ...(policy.rules ?? []).map((rule) => ({
      rule,
      where: whereIs(rule),
      // A place that is allowed may well be made later.
      restricts: rule.decision !== "allow",
    })),
    ...hooks.map((rule) => ({
      rule,
      where: `hooks.json, hook ${JSON.stringify(rule.id)}`,
      restricts: true,
    })),
  ];
  return told.flatMap(({ rule: { tool, path }, where, restricts }) => {
    const ofTool = tool === undefined ? undefined : toolWarning(tool, known);
    const ofPath =
      path === undefined || !restricts ? undefined : pathWarning(path, linkedPrefix(path, places));
    return [ofTool, ofPath].flatMap((text) => (text === undefined ? [] : [`${where}: ${text}`]));
  });
}

function toolWarning(pattern: string, { names, servers, agents }: KnownTools): string | undefined {
  if (names.some((name) => matchesName(pattern, name))) return undefined;
  const [space = "", second = ""] = pattern.split(".");
  if (space.includes("*")) return servers.length > 0 ? undefined : unmatched(pattern, undefined);
  if (!agents && (space === "agent" || space === "internal")) return undefined;
  if (space === "mcp") {
    if (second.includes("*") || second === "") return undefined;
    if (servers.includes(second)) return undefined;
    const near = nearestName(second, servers);
    const hint = near === undefined ? "" : `; did you mean ${JSON.stringify(near)}?`;
    return `tool ${JSON.stringify(pattern)} matches nothing: no MCP server ${JSON.stringify(second)} is configured${hint}`;
  }
  const spaces = [...new Set(names.map((name) => `${name.split(".")[0]}.*`))];
  return unmatched(pattern, nearestName(pattern, pattern.includes("*") ? spaces : names));
}

function unmatched(pattern: string, near: string | undefined): string {
  const hint = near === undefined ? "" : `; did you mean ${JSON.stringify(near)}?`;
  return `tool ${JSON.stringify(pattern)} matches no tool${hint}`;
}

function pathWarning(pattern: string, path: string): string | undefined {
  const said = `path ${JSON.stringify(pattern)} matches nothing`;
  if (kindOf(path) !== "missing") return undefined;
  let above = dirname(path);
  let missing = path;
  while (kindOf(above) === "missing" && above !== "/") {
    missing = above;
    above = dirname(above);
  }
  if (kindOf(above) === "file") return `${said}: ${above} is a file`;
  const near = nearestName(basename(missing), namesIn(above));
  if (near !== undefined) {
    return `${said}: there is no ${missing}; did you mean ${JSON.stringify(near)}?`;
  }
  // Below the project anything may be made later; elsewhere a whole way that is not there was hardly meant.
  const isElsewhere = pattern.startsWith("/") || pattern.startsWith("~/");
  return isElsewhere && missing !== path ? `${said}: there is no ${missing}` : undefined;
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).slice(0, 5000);
  } catch {
    return [];
  }
}

function kindOf(path: string): "directory" | "file" | "missing" {
  try {
    return statSync(path).isDirectory() ? "directory" : "file";
  } catch (error) {
    const { code } = error as { code?: string };
    // What may not be looked at is not known to be missing.
    return code === "ENOENT" || code === "ENOTDIR" ? "missing" : "directory";
  }
}

function whereIs({ origin }: PermissionRule): string {
  const { file, line, flag, code } = origin ?? {};
  if (file !== undefined) return line === undefined ? file : `${file}:${line}`;
  return flag ?? code ?? "a rule";
}
