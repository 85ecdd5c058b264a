import { expect, test } from "vitest";
import { verifies } from "#laws";
import { createRedactor } from "./redactor.ts";

const body = (length: number) => "a1B2c3D4e5F6g7H8i9J0".repeat(10).slice(0, length);
const EXAMPLE_ID = "IOSFODNN7EXAMPLE";

test("known values do not show in a placeholder either, with any name", () => {
  verifies("REDACT-1");
  const redactor = createRedactor({
    secrets: [
      { name: "my-secret-value", value: "my-secret-value" },
      { name: "B", value: "access_key" },
    ],
  });
  expect(redactor.text("x my-secret-value")).toBe("x [redacted:x]");
  expect(redactor.text(`AKIA${EXAMPLE_ID}`)).toBe("[redacted:x]");
});

test("more distinct keys than a run can number share a placeholder", () => {
  const redactor = createRedactor();
  const keys = Array.from({ length: 10_002 }, (_, i) => `npm_${body(30)}${i}`);
  const redacted = redactor.text(keys.join(" ")).split(" ");
  expect(redacted[9_999]).toBe("[redacted:npm_token#10000]");
  expect(redacted.slice(10_000)).toEqual(["[redacted:npm_token]", "[redacted:npm_token]"]);
});
