import { expect, test } from "vitest";
import { verifies } from "#laws";
import { secretVariables } from "./known-secret.ts";
import { createRedactor } from "./redactor.ts";

test("known values that are short, or placeholders, or listed twice, change nothing else", () => {
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

test("a variable is secret by its name or by its shape", () => {
  verifies("REDACT-3");
  const env = {
    DEPLOY_TOKEN: "short-1",
    API_KEY: "",
    CI_VALUE: "q8Zr7Lp2wX4vB6nM1kJ3",
    HOME: "/home/somebody/with-4-parts",
    HOST: "db-4.internal.example.org",
    MESSAGE: "somethingwithoutanydigitsatall",
    UUID_LIKE: "0b8f1c52-77aa-4b1e-9d2c-5f2e6a1b3c4d",
  };
  const names = [...Object.keys(env), "NOT_SET", "DEPLOY_TOKEN"];
  expect(secretVariables(names, env).map(({ name }) => name)).toEqual([
    "DEPLOY_TOKEN",
    "CI_VALUE",
    "UUID_LIKE",
  ]);
});
