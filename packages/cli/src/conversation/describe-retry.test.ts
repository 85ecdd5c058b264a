import { expect, test } from "vitest";
import { describeRetry } from "./describe-retry.ts";

const event = {
  type: "abandoned",
  reason: "m: the provider is overloaded; try again later or use another model.",
  had_begun: false,
  model: "m",
  wait_ms: 3000,
  retry: { count: 1, of: 4 },
} as const;

test("a retry is one line: why, which and when", () => {
  expect(describeRetry(event)).toBe(
    "m: the provider is overloaded; try again later or use another model. Retry 1 of 4 in 3 s.",
  );
});

test("a reason is not repeated from one retry to the next", () => {
  const second = { ...event, retry: { count: 2, of: 4 } };
  expect(describeRetry(second, event)).toBe("The same error. Retry 2 of 4 in 3 s.");
  // The first of a later request.
  expect(describeRetry(event, second)).toContain("the provider is overloaded");
  expect(describeRetry(second, { ...event, reason: "m: boom" })).toContain("overloaded");
});

test("what a provider said ends before what comes next", () => {
  expect(describeRetry({ ...event, reason: "m: It said: boom" })).toBe(
    "m: It said: boom. Retry 1 of 4 in 3 s.",
  );
});

test("an answer broke off only where it had begun", () => {
  expect(describeRetry({ ...event, had_begun: true, wait_ms: 0 })).toBe(
    "The answer broke off, and what it had said does not count. m: the provider is overloaded; try again later or use another model. Retry 1 of 4.",
  );
});

test("another model is named, without what a screen could take for a command", () => {
  const { retry: _, ...other } = { ...event, model: "n\u001b[2J", wait_ms: 0 };
  expect(describeRetry(other)).toMatch(
    /Asking n\\u\{1B\}\[2J instead\.$|Asking n.*\[2J instead\.$/,
  );
  expect(describeRetry(other)).not.toContain("\u001b");
});
