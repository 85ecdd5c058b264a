// The config as the rest of the program sees it (CONF-3): typed, every default filled in, the names those of
// the file. What a key means and may hold stands in the sections.

import type { KernelConfig, NetworkPolicy, PermissionRule } from "@soong/core";

export interface SoongConfig {
  readonly sandbox: "off" | "on" | "required";
  readonly model: {
    /** Undefined: whichever provider the environment has a key for. */
    readonly default: string | undefined;
    readonly max_output_tokens: number | undefined;
    readonly retries: number;
    readonly idle_timeout_ms: number;
    readonly max_answer_ms: number;
    readonly max_answer_bytes: number;
    readonly max_retry_after_ms: number;
    readonly budget: {
      readonly max_tokens: number | undefined;
      readonly max_cost: number | undefined;
      readonly currency: string;
    };
  };
  readonly models: {
    readonly fallback: readonly string[];
    readonly profiles: Readonly<Record<string, ModelSettings>>;
  };
  readonly tools: KernelConfig["tools"] & {
    readonly overrides: Readonly<Record<string, ToolOverride>>;
    readonly env_allowlist: readonly string[];
    readonly write_roots: readonly string[];
    readonly tmp_dir: boolean;
    readonly sensitive_paths: readonly string[];
  };
  readonly permissions: KernelConfig["permissions"] & {
    /** With where each was written, for `explain`. */
    readonly rules: readonly PermissionRule[];
    readonly network: Required<NetworkPolicy>;
    readonly destructive: "ask" | "deny";
  };
  readonly hooks: KernelConfig["hooks"];
  readonly mcp: {
    readonly wait_ms: number;
    readonly call_timeout_ms: number;
    readonly connect_timeout_ms: number;
    readonly instructions: boolean;
  };
  readonly agents: KernelConfig["agents"] & {
    readonly max_turns: number;
    readonly worker_pools: Readonly<Record<string, WorkerPoolSettings>>;
  };
  readonly task: {
    readonly lease_ms: number;
    readonly max_attempts: number;
  };
  readonly memory: {
    readonly enabled: boolean;
    readonly provider: "local" | "external";
    readonly write_mode: "disabled" | "candidate" | "external";
    readonly external_tool: string | undefined;
    readonly write_arguments: string | undefined;
    readonly recall_tool: string | undefined;
    readonly recall_arguments: string | undefined;
    readonly recall_tokens: number;
    readonly start_tokens: number;
    readonly start_arguments: string | undefined;
  };
  readonly context: {
    readonly max_tokens: number | undefined;
    readonly instructions: boolean;
    readonly instruction_limit_bytes: number;
  };
  readonly store: {
    readonly url: string | undefined;
    readonly busy_timeout_ms: number;
    readonly retention: {
      readonly max_age_days: number | undefined;
      readonly max_bytes: number | undefined;
    };
  };
}

export interface WorkerPoolSettings {
  readonly agent: string | undefined;
  readonly size: number;
  readonly model: string | undefined;
  readonly allowed_tools: readonly string[] | undefined;
}

export interface ModelSettings {
  readonly provider: ProviderName;
  readonly model: string;
  readonly base_url: string | undefined;
  readonly api_key_env: string | undefined;
  readonly context_window: number | undefined;
  readonly max_output_tokens: number | undefined;
  readonly prices: PriceSettings;
}

/** For a million tokens each; undefined is not known, which is not nothing. */
export interface PriceSettings {
  readonly currency: string;
  readonly input: number | undefined;
  readonly output: number | undefined;
  readonly cache_read: number | undefined;
  readonly cache_write: number | undefined;
}

export interface ToolOverride {
  readonly timeout_ms: number | undefined;
  readonly readonly: boolean | undefined;
}

export const PROVIDERS = ["anthropic", "openai", "google", "openai-compatible"] as const;
export type ProviderName = (typeof PROVIDERS)[number];
