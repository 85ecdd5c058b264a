import { expect, test } from "vitest";
import { verifies } from "#laws";
import { createRedactor } from "./redactor.ts";

const body = (length: number) => "a1B2c3D4e5F6g7H8i9J0".repeat(10).slice(0, length);
const EXAMPLE_KEY = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";

test("credentials in headers, connection strings and URLs go by what is before them", () => {
  verifies("REDACT-1");
  const cases: [text: string, secret: string][] = [
    ["Authorization: Bearer 0123456789abcdef", "0123456789abcdef"],
    ['"authorization":"bearer abc.DEF_1~x+/="', "abc.DEF_1~x+/="],
    ["authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"],
    ['\\"Proxy-Authorization\\": \\"Basic dXNlcjpwYXNz\\"', "dXNlcjpwYXNz"],
    ["postgres://user:s3cr:t!@db.example.org/x", "s3cr:t!"],
    ["redis://:s3cret@host", "s3cret"],
    [`AWS_SECRET_ACCESS_KEY=${EXAMPLE_KEY}`, EXAMPLE_KEY],
    [`"SecretAccessKey": "${EXAMPLE_KEY}"`, EXAMPLE_KEY],
    [`DefaultEndpointsProtocol=https;AccountName=x1y;AccountKey=${body(86)}==;`, `${body(86)}==`],
  ];
  for (const [text, secret] of cases) {
    const [before, after] = text.split(secret) as [string, string];
    const redacted = createRedactor().text(text);
    expect(redacted.startsWith(before)).toBe(true);
    expect(redacted.endsWith(after)).toBe(true);
    expect(redacted.slice(before.length, redacted.length - after.length)).toMatch(
      /^\[redacted:\w+#1\]$/,
    );
  }
});

test("a text made to be slow is not", () => {
  verifies("REDACT-1");
  // A pattern that goes back over what it has read would not come to an end on these.
  const redactor = createRedactor({ secrets: [{ name: "N", value: "\\\\\\\\\\\\\\\\x" }] });
  const seeds = ["-eyJaaaaaaaaa", ".eyJaaaaaaaaa", "sk-ant-", "sk-admin-", "://a:", "Bearer "];
  const more = [
    "-----BEGIN PRIVATE KEY-----",
    "\\",
    "%25",
    "\\u005c",
    "Authorization: Basic ",
    "xoxb-",
  ];
  for (const seed of [...seeds, ...more]) {
    const redacted = redactor.text(seed.repeat(300_000 / seed.length));
    expect(redacted.length).toBeGreaterThan(0);
  }
});
