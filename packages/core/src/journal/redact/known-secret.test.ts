import { expect, test } from "vitest";
import { verifies } from "#laws";
import { createRedactor } from "./redactor.ts";

test("known values that are short, or stand-ins, or listed twice, mangle nothing", () => {
  verifies("REDACT-1");
  const redactor = createRedactor({
    secrets: [
      { name: "A", value: "" },
      { name: "B", value: "12345" },
      { name: "C", value: "password" },
      { name: "D", value: "undefined" },
      { name: "E", value: "redacted" },
      { name: "FIRST", value: "the-same" },
      { name: "SECOND", value: "the-same" },
    ],
  });
  const text = "password: 12345, undefined, redacted";
  expect(redactor.text(text)).toBe(text);
  expect(redactor.text("the-same")).toBe("[redacted:FIRST]");
});
