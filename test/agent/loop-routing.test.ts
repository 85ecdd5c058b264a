// What a run costs and may cost (EVENT-7, MODEL-4), and what is known of models that take no more for now.

import { verifies } from "#laws";
import type { LoopLimits, ModelEvent, ModelPrices, ModelUsage } from "@soong/agent";
import { PORTABLE_PROFILE } from "@soong/core";
import { expect, test } from "vitest";
import { writtenFact } from "../facts.ts";
import { reportUsage } from "../../packages/agent/src/loop/index.ts";
import { calls, done, failed, openStage, says, writtenModel } from "./loop-stage.ts";
import { readTool } from "./loop-tools.ts";

const USD: ModelPrices = { currency: "USD", input: 2, output: 10 };

function used(usage: ModelUsage, stop: "end_turn" | "tool_use" = "end_turn"): ModelEvent {
  return { type: "completed", stop, usage };
}

/** A first model that is overloaded at once, and what is behind it. */
const FALLING = { limits: { retries: 0 } };

test("what requests cost is kept with each, summed by currency, and what is not known stays so", async () => {
  verifies("EVENT-7");
  const stage = await openStage([[failed("overloaded")], [failed("overloaded")]], {
    ...FALLING,
    others: (clock) => [
      {
        ...writtenModel(
          clock,
          [
            [says("a"), used({ input_tokens: 100, output_tokens: 10 })],
            [
              {
                type: "failed",
                error: { kind: "network", message: "x" },
                usage: { input_tokens: 5, output_tokens: 1 },
              },
            ],
          ],
          "test:usd",
        ),
        prices: USD,
      },
      {
        ...writtenModel(
          clock,
          [[says("b"), used({ input_tokens: 50, output_tokens: 5 })]],
          "test:eur",
        ),
        prices: { currency: "EUR", input: 1, output: 1 },
      },
    ],
  });
  const first = await stage.ask("one");
  expect(first.usage).toMatchObject({
    requests: 2,
    untold: 1,
    unpriced: 1,
    cost: [{ currency: "USD", micros: 300 }],
  });
  const second = await stage.ask("two");
  expect(second.usage).toMatchObject({
    requests: 3,
    untold: 1,
    unpriced: 1,
    cost: [
      { currency: "USD", micros: 20 },
      { currency: "EUR", micros: 55 },
    ],
  });
  expect(stage.facts("model.completed", "model.failed").map(({ data }) => data.cost)).toEqual([
    null,
    { currency: "USD", micros: 300 },
    null,
    { currency: "USD", micros: 20 },
    { currency: "EUR", micros: 55 },
  ]);
  const { session, runs } = reportUsage(stage.journal.facts);
  expect([...runs.values()]).toEqual([first.usage, second.usage]);
  expect(session).toMatchObject({
    requests: 5,
    unpriced: 2,
    cost: [
      { currency: "USD", micros: 320 },
      { currency: "EUR", micros: 55 },
    ],
  });
  expect(stage.facts("run.completed").map(({ data }) => data.usage)).toEqual([
    first.usage,
    second.usage,
  ]);
});

test("a journal whose costs are no costs is read as one that knows none", () => {
  verifies("EVENT-7");
  const fact = (cost: unknown) =>
    writtenFact({ type: "model.completed", run_id: "r", data: { cost } });
  const costs = [
    "unknown",
    5,
    { currency: "USD" },
    { currency: 1, micros: 1 },
    { currency: "USD", micros: -1 },
  ];
  expect(reportUsage(costs.map(fact)).session).toMatchObject({ unpriced: 5, cost: null });
});

test("a run ends before the request that its budget of tokens does not cover", async () => {
  verifies("MODEL-4");
  const stage = await openStage(
    [
      [calls("a__read", {}, "1"), used({ input_tokens: 60, output_tokens: 10 }, "tool_use")],
      [calls("a__read", {}, "2"), used({ input_tokens: 30, output_tokens: 0 }, "tool_use")],
    ],
    { tools: [readTool("a.read", () => "x")], limits: { budget: { tokens: 100 } } },
  );
  const end = await stage.ask("go");
  expect(end).toMatchObject({
    reason: "failed",
    turns: 3,
    error: { code: "budget", message: expect.stringContaining("100 of 100 tokens") as string },
  });
  expect(stage.model.requests).toHaveLength(2);
  expect(stage.facts("routing.decided").map(({ data }) => data.budget)).toMatchObject([
    { max_tokens: 100, tokens_left: 100, max_cost: null, cost_left: null },
    { tokens_left: 30 },
    { tokens_left: 0 },
  ]);
  expect(stage.facts("run.failed")[0]?.data).toMatchObject({ error: { code: "budget" } });
});

test("tokens of an attempt that failed count against the budget, too", async () => {
  verifies("MODEL-4", "EVENT-7");
  const stage = await openStage(
    [
      [
        {
          type: "failed",
          error: { kind: "disconnect", message: "x" },
          usage: { input_tokens: 99, output_tokens: 1 },
        },
      ],
    ],
    { limits: { budget: { tokens: 100 } } },
  );
  expect(await stage.ask("go")).toMatchObject({ error: { code: "budget" } });
  expect(stage.model.requests).toHaveLength(1);
});

test("a budget in money ends a run, and passes over models that have no price in it", async () => {
  verifies("MODEL-4");
  const stage = await openStage([], {
    tools: [readTool("a.read", () => "x")],
    limits: { budget: { cost: { currency: "USD", micros: 250 } } },
    others: (clock) => [
      { ...writtenModel(clock, [], "test:eur"), prices: { ...USD, currency: "EUR" } },
      {
        ...writtenModel(
          clock,
          [[calls("a__read", {}, "1"), used({ input_tokens: 100, output_tokens: 5 }, "tool_use")]],
          "test:usd",
        ),
        prices: USD,
      },
    ],
  });
  expect(await stage.ask("go")).toMatchObject({
    reason: "failed",
    error: {
      code: "budget",
      message: expect.stringContaining("0.00025 USD of 0.00025 USD") as string,
    },
  });
  const excluded = "its prices in USD are not known, and the run has a budget";
  expect(stage.facts("routing.decided").map(({ data }) => data)).toMatchObject([
    {
      selected: "test:usd",
      reason: `test:written is passed over: ${excluded}`,
      candidates: [
        { model: "test:written", excluded },
        { model: "test:eur", excluded },
        { model: "test:usd" },
      ],
      budget: { cost_left: { currency: "USD", micros: 250 } },
    },
    { selected: "test:usd", budget: { cost_left: { currency: "USD", micros: 0 } } },
  ]);
});

test("without any model that can keep to a budget in money nothing is asked", async () => {
  verifies("MODEL-4");
  const stage = await openStage([], {
    limits: { budget: { cost: { currency: "USD", micros: 1 } } },
  });
  expect(await stage.ask("go")).toMatchObject({
    error: { code: "budget", message: expect.stringContaining("Give it prices") as string },
  });
  expect(stage.facts("routing.decided")[0]?.data).toMatchObject({
    candidates: [{ model: "test:written", excluded: expect.stringContaining("USD") as string }],
  });
});

test("a budget that makes no sense is refused before anything starts", async () => {
  verifies("MODEL-4");
  for (const budget of [{ tokens: 0 }, { cost: { currency: "USD", micros: Number.NaN } }]) {
    await expect(openStage([], { limits: { budget } })).rejects.toThrow("limits.budget.");
  }
});

test("a model that is limited for long is passed over by the next run, until its time has come", async () => {
  verifies("MODEL-4");
  const retry_after_ms = 600_000;
  const stage = await openStage(
    [[failed("rate_limited", { retry_after_ms })], [says("back"), done()]],
    {
      others: (clock) => [
        writtenModel(
          clock,
          [
            [says("two"), done()],
            [says("two again"), done()],
          ],
          "test:second",
        ),
      ],
    },
  );
  expect(await stage.ask("one")).toMatchObject({ answer: "two" });
  expect(await stage.ask("two")).toMatchObject({ answer: "two again" });
  expect(stage.model.requests).toHaveLength(1);
  const until = "2026-01-01T00:10:00.000Z";
  const limited = [{ model: "test:written", kind: "rate_limited", retry_after_ms, until }];
  expect(stage.facts("routing.decided").map(({ data }) => data)).toMatchObject([
    { selected: "test:written", rate_limit: { state: "not_limited" } },
    { selected: "test:second", rate_limit: { state: "limited", limited } },
    {
      selected: "test:second",
      reason: `test:written is passed over: limited until ${until}`,
      candidates: [
        { model: "test:written", excluded: `it is limited until ${until}` },
        { model: "test:second" },
      ],
      rate_limit: { state: "limited", limited },
    },
  ]);
  await stage.clock.advance(retry_after_ms);
  expect(await stage.ask("three")).toMatchObject({ answer: "back" });
  expect(stage.facts("routing.decided").at(-1)?.data).toMatchObject({
    selected: "test:written",
    rate_limit: { state: "not_limited" },
    reason: "first of the chain",
  });
});

test("a request may hold what the smallest model of the chain can read, less its answer", async () => {
  verifies("CONF-3", "CTX-2");
  const room = async (
    windows: readonly object[],
    limits: Partial<LoopLimits> = {},
  ): Promise<unknown> => {
    const stage = await openStage([], {
      limits: { ...limits, budget: { cost: { currency: "USD", micros: 1 } } },
      others: (clock) =>
        windows.map((window) =>
          writtenModel(clock, [], "test:other", { ...PORTABLE_PROFILE, ...window }),
        ),
    });
    await stage.ask("go");
    const budget = stage.facts("routing.decided")[0]?.data.budget;
    return (budget as { context_tokens: unknown } | undefined)?.context_tokens;
  };
  const large = { context_window: 9000, max_output_tokens: 1000 };
  const small = { context_window: 3000, max_output_tokens: 2900 };
  expect(await room([])).toBeNull();
  expect(await room([{}, large])).toBe(8000);
  expect(await room([large, small])).toBe(1500);
  expect(await room([large], { max_output_tokens: 500 })).toBe(8500);
  expect(await room([large], { context_tokens: 7 })).toBe(7);
});

test("a model that is limited for long is asked all the same when there is no other", async () => {
  verifies("MODEL-4");
  const stage = await openStage([
    [failed("rate_limited", { retry_after_ms: 600_000 })],
    [says("after all"), done()],
  ]);
  expect(await stage.ask("one")).toMatchObject({ error: { code: "rate_limited" } });
  expect(await stage.ask("two")).toMatchObject({ answer: "after all" });
});
