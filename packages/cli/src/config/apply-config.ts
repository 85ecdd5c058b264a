// What the rest of the program takes from a config: the policy that config and flags make together (CONF-4), the parts of
// kernel and loop, and what it changes about single tools.

import type { LoopLimits } from "@soong/agent";
import {
  SoongError,
  type AnyTool,
  type ConfigInput,
  type Decision,
  type JsonObject,
  type JsonValue,
  type Mode,
  type PermissionRule,
  type PolicyInput,
  type SandboxPolicy,
} from "@soong/core";
import { matchesName } from "@soong/core/internal";
import { omitUndefined } from "@soong/schema";
import { TEMPLATE_FIELD, TOOL_PATTERN } from "./definition.ts";
import type { SoongConfig } from "./sections.ts";

export interface PolicyFlags {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly mode?: Mode;
  /** Commands run in the sandbox or not at all, with any config. */
  readonly isSandboxed?: boolean;
}

/** Each rule carries where it was written (PERM-11). Throws on a pattern that could fit no tool. */
export function buildPolicy(values: SoongConfig, flags: PolicyFlags): PolicyInput {
  const { permissions, tools } = values;
  const { isSandboxed = false } = flags;
  return {
    rules: [
      ...permissions.rules.map((rule) =>
        isSandboxed ? omitUndefined({ ...rule, sandbox: undefined }) : rule,
      ),
      ...flags.deny.map((pattern) => createFlagRule("--deny", pattern, "deny")),
      ...flags.allow.map((pattern) => createFlagRule("--allow", pattern, "allow")),
    ],
    destructive: permissions.destructive,
    read_only_commands: permissions.read_only_commands,
    network: permissions.network,
    sandbox: isSandboxed ? { ...values.sandbox, mode: "required" } : sandboxPolicy(values),
    sensitive_paths: tools.sensitive_paths,
    readonly_mcp: Object.entries(tools.overrides).flatMap(([pattern, { readonly }]) =>
      readonly === true ? [pattern] : [],
    ),
    ...omitUndefined({ mode: flags.mode }),
  };
}

function sandboxPolicy({ sandbox, tools }: SoongConfig): SandboxPolicy {
  const ofTools = Object.entries(tools.overrides).flatMap(([pattern, override]) =>
    override.sandbox === undefined ? [] : [[pattern, override.sandbox] as const],
  );
  return { ...sandbox, tools: Object.fromEntries(ofTools) };
}

function createFlagRule(flag: string, pattern: string, decision: Decision): PermissionRule {
  const wrong = pattern === "" ? "is empty" : TOOL_PATTERN.problem(pattern);
  if (wrong === undefined) {
    return { tool: pattern, decision, origin: { flag: `${flag} ${pattern}` } };
  }
  const message = `${flag} ${JSON.stringify(pattern)}: ${wrong}`;
  throw new SoongError("invalid_flag", message, { exitCode: 2 });
}

/** How long an abort waits cannot be set. */
export function buildLoopLimits(values: SoongConfig): Omit<LoopLimits, "abort_wait_ms"> {
  const { model, agents, context } = values;
  const { budget, default: _, ...limits } = model;
  const { max_tokens: tokens, max_cost, currency } = budget;
  const cost =
    max_cost === undefined ? undefined : { currency, micros: Math.round(max_cost * 1_000_000) };
  return {
    ...limits,
    max_turns: agents.max_turns,
    context_tokens: context.max_tokens,
    instruction_bytes: 4 * context.instruction_limit_bytes,
    budget:
      tokens === undefined && cost === undefined ? undefined : omitUndefined({ tokens, cost }),
  };
}

export function pickKernelConfig({ tools, permissions, hooks, agents }: SoongConfig): ConfigInput {
  const {
    overrides: _o,
    env_allowlist: _e,
    write_roots: _w,
    tmp_dir: _t,
    sensitive_paths: _s,
    ...ofTools
  } = tools;
  const { max_turns: _m, worker_pools: _p, ...ofAgents } = agents;
  return {
    tools: ofTools,
    permissions: { ask_timeout_ms: permissions.ask_timeout_ms },
    hooks,
    agents: ofAgents,
  };
}

/** The same tool when `tools.overrides` says nothing about it. Of several patterns that fit, the longest counts. */
export function overrideTool(tool: AnyTool, { tools }: SoongConfig): AnyTool {
  const [fitting] = Object.entries(tools.overrides)
    .filter(
      ([pattern, { timeout_ms }]) => timeout_ms !== undefined && matchesName(pattern, tool.name),
    )
    .toSorted(([a], [b]) => b.length - a.length);
  const timeout = fitting?.[1].timeout_ms;
  if (timeout === undefined) return tool;
  return {
    ...tool,
    timeout_ms: timeout,
    timeoutFor(input) {
      const asked = tool.timeoutFor?.(input);
      return asked === undefined ? undefined : Math.min(asked, timeout);
    },
  };
}

/** Of a template that `argumentTemplate` finds nothing wrong with. */
export function fillArguments(
  template: string,
  fields: Readonly<Record<string, JsonValue | undefined>>,
): JsonObject {
  return fill(JSON.parse(template) as JsonValue) as JsonObject;

  function fill(value: JsonValue): JsonValue {
    if (typeof value === "string") return fillText(value);
    if (Array.isArray(value)) return value.map(fill);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, held]) => [key, fill(held)]));
  }

  function fillText(text: string): JsonValue {
    const alone = /^\{\{\s*(\w+)\s*\}\}$/.exec(text)?.[1];
    if (alone !== undefined) return fields[alone] ?? "";
    return text.replace(TEMPLATE_FIELD, (_, field: string) => {
      const value = fields[field] ?? "";
      return typeof value === "string" ? value : JSON.stringify(value);
    });
  }
}
