// The settings of the kernel, in the names and sections of the user's config (CONF-3), with defaults.

import { DEFAULT_ARGUMENT_LIMITS } from "@soong/schema";
import type { NamePattern } from "../tool/index.ts";

export interface KernelConfig {
  readonly tools: {
    readonly default_timeout_ms: number;
    readonly max_timeout_ms: number;
    readonly inline_limit_bytes: number;
    readonly max_arguments_bytes: number;
    readonly max_arguments_depth: number;
    /** How many readonly calls of a group run at once. */
    readonly max_concurrency: number;
    /** What may start while the model still streams (SCHED-5). */
    readonly early_start: "none" | "readonly" | "all";
    readonly defer_budget_tokens: number;
    readonly disabled: readonly NamePattern[];
    /** How long the end of a cancelled call waits for its own clean-up. */
    readonly cancel_grace_ms: number;
    /** For isEnabled and prompt, which are asked before a run. */
    readonly resolve_timeout_ms: number;
  };
  readonly permissions: {
    /** Undefined: the answer is waited for as long as it takes. */
    readonly ask_timeout_ms: number | undefined;
  };
  readonly hooks: { readonly timeout_ms: number };
  readonly agents: {
    readonly child_timeout_ms: number;
    readonly max_children_per_run: number;
    readonly max_concurrent_children_per_session: number;
  };
}

export type ConfigInput = {
  readonly [Section in keyof KernelConfig]?: Partial<KernelConfig[Section]>;
};

const DEFAULTS: KernelConfig = {
  tools: {
    default_timeout_ms: 120_000,
    max_timeout_ms: 600_000,
    inline_limit_bytes: 64 * 1024,
    max_arguments_bytes: DEFAULT_ARGUMENT_LIMITS.maxBytes,
    max_arguments_depth: DEFAULT_ARGUMENT_LIMITS.maxDepth,
    max_concurrency: 10,
    early_start: "readonly",
    defer_budget_tokens: 10_000,
    disabled: [],
    cancel_grace_ms: 3000,
    resolve_timeout_ms: 5000,
  },
  permissions: { ask_timeout_ms: undefined },
  hooks: { timeout_ms: 60_000 },
  agents: {
    child_timeout_ms: 1_800_000,
    max_children_per_run: 4,
    max_concurrent_children_per_session: 8,
  },
};

/** Throws on a value that makes no sense: a run must not start on it. */
export function kernelConfig(input: ConfigInput = {}): KernelConfig {
  const config: KernelConfig = {
    tools: { ...DEFAULTS.tools, ...input.tools },
    permissions: { ...DEFAULTS.permissions, ...input.permissions },
    hooks: { ...DEFAULTS.hooks, ...input.hooks },
    agents: { ...DEFAULTS.agents, ...input.agents },
  };
  for (const [section, values] of Object.entries(config)) {
    for (const [key, value] of Object.entries(values as Record<string, unknown>)) {
      if (typeof value === "number" && !(value >= 0)) {
        throw new RangeError(`config ${section}.${key} is ${value}; it must be 0 or more`);
      }
    }
  }
  if (!(config.tools.max_concurrency >= 1)) {
    throw new RangeError("config tools.max_concurrency must be 1 or more");
  }
  if (!["none", "readonly", "all"].includes(config.tools.early_start)) {
    throw new RangeError("config tools.early_start must be none, readonly or all");
  }
  return config;
}
