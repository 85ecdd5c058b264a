import { readFileSync } from "node:fs";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import { computeCost } from "../model/index.ts";
import { findKnownModel, PRICES_AS_OF } from "./known-models.ts";
import { modelFromEnvironment, openModel } from "./open-model.ts";

test("a common model has its prices, under the name of a dated version too", () => {
  verifies("EVENT-7");
  const { prices, context_window } = findKnownModel("anthropic:claude-haiku-4-5-20251001") ?? {};
  expect({ prices, context_window }).toEqual({
    prices: { currency: "USD", input: 1, output: 5, cache_read: 0.1, cache_write: 1.25 },
    context_window: 200_000,
  });
  expect(findKnownModel("openai:gpt-5-2025-08-07")).toBe(findKnownModel("openai:gpt-5"));
  for (const other of ["openai:gpt-5-image", "openai:gpt", "mistral:gpt-5", "gpt-5"]) {
    expect(findKnownModel(other), other).toBeUndefined();
  }
  const long = { input_tokens: 200_001, output_tokens: 0 };
  expect(computeCost(findKnownModel("google:gemini-2.5-pro")?.prices, long)?.micros).toBe(500_003);
  const page = readFileSync(new URL("../../../../docs/cli.md", import.meta.url), "utf8");
  expect(page).toContain(`as published on ${PRICES_AS_OF}`);
});

test("the default models of Anthropic and OpenAI are known", () => {
  for (const key of ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"]) {
    const name = modelFromEnvironment({ [key]: "x" }) ?? "";
    expect(findKnownModel(name), name).toBeDefined();
  }
});

test("a model has them at its provider's own address, and what the user says goes first", async () => {
  const env = { ANTHROPIC_API_KEY: "x" };
  const name = "anthropic:claude-opus-4-6";
  const opened = await openModel(name, { env });
  expect(opened.prices).toMatchObject({ input: 5, output: 25 });
  expect(opened.profile).toMatchObject({ context_window: 1_000_000, max_output_tokens: 32_000 });
  const elsewhere = await openModel(name, { env, baseURL: "http://127.0.0.1:1/v1" });
  expect(elsewhere.prices).toBeUndefined();
  const prices = { currency: "EUR", input: 1, output: 1 };
  const own = await openModel(name, { env, prices, limits: { context_window: 5000 } });
  expect(own).toMatchObject({ prices, profile: { context_window: 5000 } });
});
