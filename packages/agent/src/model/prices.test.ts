import { verifies } from "#laws";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { computeCost, describeCost, type ModelPrices } from "./index.ts";

const PRICES: ModelPrices = {
  currency: "USD",
  input: 3,
  output: 15,
  cache_read: 0.3,
  cache_write: 3.75,
};

describe("the cost of a request", () => {
  test("is computed from the reported use, the cache at its own prices", () => {
    verifies("EVENT-7");
    expect(computeCost(PRICES, { input_tokens: 1000, output_tokens: 200 })).toEqual({
      currency: "USD",
      micros: 6000,
    });
    const cached = { input_tokens: 1000, output_tokens: 0, cache_read_tokens: 600 };
    expect(computeCost(PRICES, { ...cached, cache_write_tokens: 100 })).toEqual({
      currency: "USD",
      micros: 300 * 3 + 600 * 0.3 + 100 * 3.75,
    });
  });

  test("is that of longer requests where a request is longer than a price holds for", () => {
    verifies("EVENT-7");
    const above = { input_tokens: 1000, input: 6, output: 30 };
    const tiered = { ...PRICES, above };
    const cost = (input_tokens: number) => computeCost(tiered, { input_tokens, output_tokens: 1 });
    expect(cost(1000)?.micros).toBe(3000 + 15);
    expect(cost(1001)?.micros).toBe(6006 + 30);
    const cached = { input_tokens: 1001, output_tokens: 1, cache_read_tokens: 1 };
    expect(computeCost(tiered, cached)).toBeNull();
  });

  test("is a whole number of millionths, rounded once", () => {
    verifies("EVENT-7");
    const odd = { currency: "EUR", input: 0.1, output: 0.2 };
    expect(computeCost(odd, { input_tokens: 1, output_tokens: 1 })).toEqual({
      currency: "EUR",
      micros: 0,
    });
    expect(computeCost(odd, { input_tokens: 3, output_tokens: 1 })?.micros).toBe(1);
    expect(computeCost(odd, { input_tokens: 10_000_000, output_tokens: 0 })?.micros).toBe(
      1_000_000,
    );
  });

  test.each([
    ["there are no prices", undefined, { input_tokens: 1, output_tokens: 1 }],
    ["nothing was reported", PRICES, undefined],
    ["output tokens were not reported", PRICES, { input_tokens: 1 }],
    [
      "the cache has no price",
      { currency: "USD", input: 1, output: 1 },
      { input_tokens: 2, output_tokens: 1, cache_read_tokens: 1 },
    ],
    [
      "more was cached than sent",
      PRICES,
      { input_tokens: 1, output_tokens: 1, cache_read_tokens: 2 },
    ],
    ["a count is none", PRICES, { input_tokens: -1, output_tokens: 1 }],
    ["a price is none", { ...PRICES, input: Number.NaN }, { input_tokens: 1, output_tokens: 1 }],
    ["a price is below nothing", { ...PRICES, input: -1 }, { input_tokens: 1, output_tokens: 1 }],
  ])("is not known, and not nothing, when %s", (_, prices, usage) => {
    verifies("EVENT-7");
    expect(computeCost(prices, usage)).toBeNull();
  });

  test("grows with the tokens and never loses more than half a millionth", () => {
    verifies("EVENT-7");
    const price = fc.integer({ min: 0, max: 100_000 }).map((thousandths) => thousandths / 1000);
    const tokens = fc.nat({ max: 50_000_000 });
    fc.assert(
      fc.property(price, price, tokens, tokens, (input, output, sent, got) => {
        const prices = { currency: "USD", input, output };
        const cost = computeCost(prices, { input_tokens: sent, output_tokens: got });
        const exact = (sent * Math.round(input * 1000) + got * Math.round(output * 1000)) / 1000;
        expect(Math.abs((cost?.micros ?? Number.NaN) - exact)).toBeLessThanOrEqual(0.5001);
      }),
    );
  });
});

test("a cost is shown with two decimals at least, and no more than it takes", () => {
  verifies("EVENT-7");
  const shown = (micros: number): string => describeCost({ currency: "USD", micros });
  expect([0, 1, 12_300, 1_000_000, 1_234_567, 10_500_000].map(shown)).toEqual([
    "0.00 USD",
    "0.000001 USD",
    "0.0123 USD",
    "1.00 USD",
    "1.234567 USD",
    "10.50 USD",
  ]);
});
