import { kernelConfig } from "@soong/core";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { buildLoopLimits, pickKernelConfig } from "./apply-config.ts";
import { parseConfig, parseWithWarnings } from "./parse-config.ts";
import { SECTIONS } from "./sections.ts";

describe("a config", () => {
  test("that is empty has every default", () => {
    verifies("CONF-2");
    const values = parseConfig("", "config.toml");
    expect(kernelConfig(pickKernelConfig(values))).toEqual(kernelConfig());
    expect(values.model.default).toBeUndefined();
    expect(values.permissions).toEqual({
      rules: [],
      destructive: "ask",
      read_only_commands: "allow",
      ask_timeout_ms: undefined,
      network: { mode: "default", hosts: [] },
    });
    expect(values.sandbox).toEqual({ mode: "on", auto_allow: false });
  });

  test("has the sections it is said to have, and no others", () => {
    verifies("CONF-3");
    const sections = Object.keys(SECTIONS.keys).toSorted();
    expect(sections).toEqual([
      "agents",
      "context",
      "hooks",
      "mcp",
      "memory",
      "model",
      "models",
      "permissions",
      "sandbox",
      "store",
      "task",
      "telemetry",
      "tools",
    ]);
  });

  test("brings every setting of kernel and loop to where it counts", () => {
    verifies("CONF-3");
    const values = parseConfig(
      `
      [model]
      max_output_tokens = 100
      retries = 0
      idle_timeout_ms = 1
      max_answer_ms = 3
      max_answer_bytes = 4096
      max_retry_after_ms = 2
      [model.budget]
      max_tokens = 20
      max_cost = 2.5
      currency = "EUR"
      [tools]
      disabled = ["mcp.*"]
      default_timeout_ms = 3
      max_timeout_ms = 4
      inline_limit_bytes = 5
      max_arguments_bytes = 6
      max_arguments_depth = 7
      max_concurrency = 8
      early_start = "none"
      defer_budget_tokens = 9
      cancel_grace_ms = 10
      resolve_timeout_ms = 11
      [permissions]
      ask_timeout_ms = 12
      [hooks]
      timeout_ms = 13
      [agents]
      max_turns = 14
      child_timeout_ms = 15
      max_children_per_run = 16
      max_concurrent_children_per_session = 17
      [context]
      max_tokens = 1000
      instruction_limit_bytes = 300
      [store.retention]
      max_age_days = 18
      max_bytes = 19
      `,
      "config.toml",
    );
    expect(kernelConfig(pickKernelConfig(values))).toEqual({
      tools: {
        disabled: ["mcp.*"],
        default_timeout_ms: 3,
        max_timeout_ms: 4,
        inline_limit_bytes: 5,
        max_arguments_bytes: 6,
        max_arguments_depth: 7,
        max_concurrency: 8,
        early_start: "none",
        defer_budget_tokens: 9,
        cancel_grace_ms: 10,
        resolve_timeout_ms: 11,
      },
      permissions: { ask_timeout_ms: 12 },
      hooks: { timeout_ms: 13 },
      agents: {
        child_timeout_ms: 15,
        max_children_per_run: 16,
        max_concurrent_children_per_session: 17,
      },
    });
    expect(buildLoopLimits(values)).toEqual({
      max_turns: 14,
      max_output_tokens: 100,
      context_tokens: 1000,
      instruction_bytes: 1200,
      retries: 0,
      idle_timeout_ms: 1,
      max_answer_ms: 3,
      max_answer_bytes: 4096,
      max_retry_after_ms: 2,
      budget: { tokens: 20, cost: { currency: "EUR", micros: 2_500_000 } },
    });
    expect(values.store.retention).toEqual({ max_age_days: 18, max_bytes: 19 });
  });

  test("describes models under names of one's own", () => {
    verifies("CONF-3");
    const { model, models } = parseConfig(
      `
      [model]
      default = "constructor"
      [models]
      fallback = ["anthropic:some-model", "script:demo.yaml"]
      [models.profiles.constructor]
      provider = "openai-compatible"
      model = "qwen3:8b"
      base_url = "http://localhost:11434/v1"
      api_key_env = "LOCAL_KEY"
      context_window = 32_768
      prices = { input = 3, output = 0.075 }
      `,
      "config.toml",
    );
    expect(model.default).toBe("constructor");
    expect(models.fallback).toEqual(["anthropic:some-model", "script:demo.yaml"]);
    expect(models.profiles).toEqual({
      constructor: {
        provider: "openai-compatible",
        model: "qwen3:8b",
        base_url: "http://localhost:11434/v1",
        api_key_env: "LOCAL_KEY",
        context_window: 32_768,
        max_output_tokens: undefined,
        prices: {
          currency: "USD",
          input: 3,
          output: 0.075,
          cache_read: undefined,
          cache_write: undefined,
        },
      },
    });
    expect(parseConfig("", "config.toml").models.profiles["constructor"]).toBeUndefined();
  });
});

describe("the database of the store", () => {
  test("is named without its password, which is in a variable", () => {
    verifies("CONF-3");
    const text =
      "[store]\nurl = 'postgres://me@db/soong'\npassword_env = 'DB_PASSWORD'\nlease_ms = 5000\n";
    const { values, warnings } = parseWithWarnings(text, "config.toml");
    expect(values.store).toMatchObject({
      url: "postgres://me@db/soong",
      password_env: "DB_PASSWORD",
      lease_ms: 5000,
    });
    expect(warnings).toEqual([]);
    expect(parseConfig("", "config.toml").store).toMatchObject({
      url: undefined,
      lease_ms: 60_000,
    });
  });
});
