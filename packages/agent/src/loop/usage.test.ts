import type { FactType } from "@soong/core";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import { writtenFact } from "../../../../test/facts.ts";
import {
  describeUsage,
  addUsage,
  emptyUsage,
  sumUsage,
  readEndUsage,
  type UsageTotal,
} from "./usage.ts";

function total(more: Partial<UsageTotal>): UsageTotal {
  return { ...emptyUsage(), ...more };
}

test("use is put into words, and what is not known is said", () => {
  verifies("EVENT-7");
  const USD = { currency: "USD", micros: 12_300 };
  const used = total({ requests: 2, input_tokens: 1200, output_tokens: 80 });
  expect(describeUsage(emptyUsage())).toBe("");
  expect(describeUsage({ ...used, cost: [USD] })).toBe(
    "2 requests, 1200 tokens in, 80 out, cost 0.0123 USD",
  );
  expect(describeUsage({ ...used, untold: 1, unpriced: 1, cost: [USD] })).toBe(
    "2 requests, at least 1200 tokens in, 80 out, cost at least 0.0123 USD",
  );
  expect(describeUsage({ ...used, cost: [USD, { currency: "EUR", micros: 0 }] })).toContain(
    "cost 0.0123 USD and 0.00 EUR",
  );
  expect(describeUsage(total({ requests: 1, untold: 1, unpriced: 1 }))).toBe(
    "1 request, tokens unknown, cost unknown",
  );
});

test("sums of totals are those of their requests", () => {
  verifies("EVENT-7");
  const requests = [
    [
      { input_tokens: 3, output_tokens: 4 },
      { currency: "USD", micros: 5 },
    ],
    [{ input_tokens: 1, cache_read_tokens: 1 }, null],
    [undefined, null],
    [
      { input_tokens: 2, output_tokens: 1 },
      { currency: "EUR", micros: 7 },
    ],
    [{ output_tokens: 9 }, { currency: "USD", micros: 1 }],
  ] as const;
  const all = emptyUsage();
  const halves = [emptyUsage(), emptyUsage()] as const;
  requests.forEach(([usage, cost], i) => {
    addUsage(all, usage, cost);
    addUsage(halves[i < 2 ? 0 : 1], usage, cost);
  });
  expect(sumUsage(halves)).toEqual(all);
  expect(all).toEqual({
    requests: 5,
    untold: 3,
    unpriced: 2,
    input_tokens: 6,
    output_tokens: 14,
    cache_read_tokens: 1,
    cost: [
      { currency: "USD", micros: 6 },
      { currency: "EUR", micros: 7 },
    ],
  });
});

test("only the last fact of a run reports its use", () => {
  verifies("EVENT-7");
  const fact = (type: FactType, data: unknown) => writtenFact({ type, run_id: "r", data });
  const usage = total({ requests: 1, input_tokens: 4, cost: [{ currency: "USD", micros: 1 }] });
  expect(readEndUsage(fact("run.completed", { usage }))).toEqual(usage);
  expect(readEndUsage(fact("run.aborted", { usage: { ...usage, other: 1 } }))).toEqual(usage);
  for (const none of [undefined, null, "x", {}, { ...usage, cost: "unknown" }]) {
    expect(readEndUsage(fact("run.failed", { usage: none }))).toBeUndefined();
  }
  expect(readEndUsage(fact("model.completed", { usage }))).toBeUndefined();
});
