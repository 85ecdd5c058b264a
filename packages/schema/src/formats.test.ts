import { expect, test } from "vitest";
import { verifies } from "#laws";
import { compileSchema } from "./index.ts";
import { FORMATS } from "./formats.ts";

const cases: { [format: string]: { yes: string[]; no: string[] } } = {
  "date-time": {
    yes: ["2025-01-31T12:00:00Z", "2024-02-29t23:59:60z", "2025-01-31 12:00:00.123+02:00"],
    no: ["2025-01-31", "2025-02-30T12:00:00Z", "2025-01-31T12:00:00", "2025-01-31T24:00:00Z", ""],
  },
  date: {
    yes: ["2024-02-29", "2000-02-29", "2025-12-31"],
    no: [
      "2025-02-29",
      "1900-02-29",
      "2025-13-01",
      "2025-00-10",
      "2025-1-1",
      "25-01-01",
      "2025-04-31",
    ],
  },
  time: {
    yes: ["12:00:00Z", "23:59:60Z", "00:00:00.5-05:30", "22:59:60-01:00"],
    no: ["12:00Z", "12:00:00", "24:00:00Z", "12:60:00Z", "12:00:60Z", "12:00:00+24:00"],
  },
  duration: {
    yes: ["P1D", "PT1H30M", "P1Y2M3DT4H5M6S", "P2W", "PT0.5S"],
    no: ["P", "PT", "1D", "P1H", "P1W2D", "P1DT"],
  },
  email: {
    yes: ["a@b.co", "first.last+tag@sub.example.com", "ünï@example.org"],
    no: [
      "a",
      "@b.co",
      "a@",
      ".a@b.co",
      "a..b@c.de",
      "a@-b.co",
      "a b@c.de",
      `${"a".repeat(65)}@b.co`,
    ],
  },
  hostname: {
    yes: ["example.com", "a", "xn--bcher-kva.example", "a.b.c."],
    no: ["", "-a.com", "a-.com", "a..b", "a_b.com", `${"a".repeat(64)}.com`, "a".repeat(300)],
  },
  ipv4: {
    yes: ["0.0.0.0", "255.255.255.255"],
    no: ["256.0.0.1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.x"],
  },
  ipv6: {
    yes: [
      "::",
      "::1",
      "2001:db8::1",
      "1:2:3:4:5:6:7:8",
      "::ffff:192.0.2.1",
      "1::",
      "1:2:3:4:5:6:7::",
    ],
    no: [
      "",
      ":",
      ":::",
      "1::2::3",
      "1:2:3:4:5:6:7",
      "1:2:3:4:5:6:7:8:9",
      "12345::",
      "::g",
      "1:2:3:4:5:6:7:8::",
      "::1.2.3.256",
    ],
  },
  uri: {
    yes: ["https://example.com/a?b=c#d", "mailto:a@b.co", "urn:isbn:1", "http://[::1]:80/"],
    no: ["", "example.com", "/a/b", "http:", "https://a b", "https://a/%zz", "://x", "a#b#c"],
  },
  "uri-reference": {
    yes: ["", "/a/b", "a/b:c", "?q", "#f", "https://x"],
    no: ["a b", "1a:b", "%", "a#b#c"],
  },
  uuid: {
    yes: ["123e4567-e89b-12d3-a456-426614174000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"],
    no: ["", "123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-42661417400g"],
  },
  "json-pointer": { yes: ["", "/", "/a/0/b~1c"], no: ["a", "/a~", "/a~2"] },
};

test.each(Object.entries(cases))("the format %s distinguishes texts", (format, { yes, no }) => {
  verifies("SCHEMA-1", "SCHEMA-4");
  const check = compileSchema({ type: "string", format });
  for (const text of yes) expect([text, check(text).ok]).toEqual([text, true]);
  for (const text of no) expect([text, check(text).ok]).toEqual([text, false]);
});

test("every format has cases and an example that fits it", () => {
  verifies("SCHEMA-4");
  expect(Object.keys(FORMATS).toSorted()).toEqual(Object.keys(cases).toSorted());
  for (const [format, { validate, example }] of Object.entries(FORMATS)) {
    expect([format, validate(example)]).toEqual([format, true]);
  }
});

test("formats look at strings only, and long texts take no longer than they are", () => {
  verifies("SCHEMA-8");
  for (const [format, { validate }] of Object.entries(FORMATS)) {
    expect(compileSchema({ format })(5).ok).toBe(true);
    for (const filler of ["a", "1", ".", ":", "-", "%41", "@", "/", "a.", "1:", "a-"]) {
      const text = filler.repeat(200_000);
      expect([format, typeof validate(text)]).toEqual([format, "boolean"]);
    }
  }
});
