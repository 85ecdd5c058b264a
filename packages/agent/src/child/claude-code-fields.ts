// Keys of an agent file that was written for Claude Code, and what becomes of each: mapped to ours where it says the same,
// else named in a warning. What narrows is never dropped; what would grant something never counts (SURF-4).

import type { PermissionRule } from "@soong/core";
import { problemAt, shape, type Problem, type Shape, type UserDocument } from "@soong/platform";
import { mapForeignTool, splitToolNames } from "../document/index.ts";

const { optional } = shape;

/** One text with commas, or a list. */
const names: Shape<string | string[]> = (value, place) => {
  if (typeof value === "string") return;
  if (Array.isArray(value)) shape.list(shape.anyText, { of: "tool names", max: 200 })(value, place);
  else
    place.report(`is ${place.kindOf(value)}; names of tools with commas between them are expected`);
};

const ignored = (why: string) => optional<unknown>((_, place) => place.warnKey(why));

const ELSEWHERE = "has no effect here: put them into";

export const CLAUDE_CODE_FIELDS = {
  tools: optional(names),
  disallowedTools: optional(names),
  maxTurns: optional(shape.wholeNumber(1, 10_000)),
  permissionMode: optional(shape.anyText),
  skills: ignored(
    "has no effect here: an agent loads the skills it needs with internal.load_skill",
  ),
  mcpServers: ignored(`${ELSEWHERE} mcp.json`),
  hooks: ignored(`${ELSEWHERE} hooks.json`),
  memory: ignored("has no effect here: memory belongs to the user and to projects"),
  background: ignored("has no effect here: the caller waits for an agent"),
  isolation: ignored("has no effect here: an agent works in the project"),
  effort: ignored("has no effect here"),
  color: ignored("has no effect here"),
  initialPrompt: ignored("has no effect here"),
};

type Written = Readonly<Record<string, unknown>>;

/** Without these keys it is the definition as it was written. */
export function readClaudeCodeFields(
  written: Written,
  document: UserDocument,
  profiles: readonly string[],
): { readonly definition: Written; readonly warnings: readonly Problem[] } {
  const isForeign = Object.keys(written).some((key) => Object.hasOwn(CLAUDE_CODE_FIELDS, key));
  const warnings: Problem[] = [];
  const warn = (key: string, message: string): void =>
    void warnings.push(problemAt(document, [key], message));
  const { model, ...rest } = written;
  const own: Record<string, unknown> = { ...rest };
  for (const key of Object.keys(CLAUDE_CODE_FIELDS)) delete own[key];
  if (model !== undefined && !isAliasOfClaudeCode(model, profiles)) own["model"] = model;
  else if (model !== undefined && model !== "inherit") {
    warn(
      "model",
      `${JSON.stringify(model)} is no profile of the config, so it uses the model of its caller: add [models.profiles.${model}], or write provider:model`,
    );
  }
  if (!isForeign) return { definition: own, warnings };

  // Any agent can be the main one there, and is known by its name.
  own["roles"] ??= ["main", "sub", "fork"];
  const { name, tools, disallowedTools, maxTurns, permissionMode } = written;
  if (own["id"] === undefined && typeof name === "string" && ID.test(name)) own["id"] = name;
  if (maxTurns !== undefined) own["max_turns"] ??= maxTurns;
  if (permissionMode === "plan") own["mode"] ??= "plan";
  else if (permissionMode !== undefined && permissionMode !== "default") {
    warn("permissionMode", "has no effect here: no file of an agent grants anything");
  }
  if (tools !== undefined && own["allowed_tools"] === undefined) {
    own["allowed_tools"] = mapTools("tools", tools, "; it was skipped");
    own["skip_missing_tools"] = true;
  }
  if (disallowedTools !== undefined) {
    const { line } = document.positionOf(["disallowedTools"], "key");
    const denied = mapTools("disallowedTools", disallowedTools, "; nothing is denied");
    const origin = { file: document.file, line };
    const rules = denied.map((tool): PermissionRule => ({ tool, decision: "deny", origin }));
    own["rules"] = [...((own["rules"] as readonly PermissionRule[] | undefined) ?? []), ...rules];
  }
  return { definition: own, warnings };

  function mapTools(key: string, given: unknown, outcome: string): string[] {
    const list = typeof given === "string" ? splitToolNames(given) : (given as readonly string[]);
    return list.flatMap((one) => {
      const { name: tool, specifier, tools: mapped, why } = mapForeignTool(one);
      if (why !== undefined) warn(key, `${JSON.stringify(one)} ${why}${outcome}`);
      else if (specifier !== undefined && key === "disallowedTools") {
        warn(key, `${JSON.stringify(one)} denies ${tool} as a whole here: use a rule to deny less`);
      } else if (specifier !== undefined && specifier !== "*") {
        warn(
          key,
          `${JSON.stringify(one)} is read as ${tool} as a whole: each call is decided by the policy`,
        );
      }
      return mapped;
    });
  }
}

const ID = /^[a-z][a-z0-9_-]{0,63}$/;

const ALIASES = ["inherit", "sonnet", "opus", "haiku", "opusplan"];

function isAliasOfClaudeCode(model: unknown, profiles: readonly string[]): model is string {
  return typeof model === "string" && ALIASES.includes(model) && !profiles.includes(model);
}
