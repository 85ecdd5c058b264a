import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { canonicalHost, hostOf, hostPatternProblem, matchesHost } from "./host.ts";

const numRuns = process.env["SOONG_TEST_FULL"] === "1" ? 20_000 : 2_000;

describe("the host of a uri", () => {
  test.each([
    ["https://Example.ORG/a?b#c", "example.org"],
    ["https://example.org.:8443", "example.org"],
    ["http://127.0.0.1:80/", "127.0.0.1"],
    ["http://[0:0:0:0:0:0:0:1]:80/", "[::1]"],
    ["http://[::ffff:127.0.0.1]/", "[::ffff:7f00:1]"],
    ["wss://api_1.example.org?x", "api_1.example.org"],
    ["https://example.org/ü\u200b", "example.org"],
    ["https://example.org/a:b@c", "example.org"],
  ])("of %s is %s", (uri, host) => {
    verifies("PERM-10");
    expect(hostOf(uri)).toBe(host);
  });

  test.each([
    "",
    "example.org",
    "//example.org/",
    "https:example.org",
    "https:/example.org",
    "https:\\\\example.org",
    "https://good.org\\@evil.org/",
    "https://good.org@evil.org/",
    "https://user:pass@evil.org/",
    "https://good.org%2f@evil.org",
    "https://good%2eorg/",
    "https://good.org evil.org/",
    " https://good.org/",
    "https://good.org/a b",
    "https://go\tod.org/",
    "https://good.org\n/",
    "https://gööd.org/",
    "https://good.org／evil",
    "https://good.org:99999999/",
    "https://good.org:/",
    "https://good.org:80:80/",
    "https://good..org/",
    "https://good.org../",
    "https:///path",
    "https://?x",
    "http://2130706433/",
    "http://0x7f.0.0.1/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://1.2.3.256/",
    "http://[::1/",
    "http://::1/",
    "http://[fe80::1%25eth0]/",
    "http://[1:2:3]/",
    "http://[1::2::3]/",
    "file:///etc/passwd",
    "mailto:a@b.org",
    "data:text/plain,x",
    "javascript:alert(1)",
  ])("of %j is unknown", (uri) => {
    verifies("PERM-10");
    expect(hostOf(uri)).toBeUndefined();
  });

  test("is what the platform's own parser finds, or unknown", () => {
    verifies("PERM-10");
    const piece = fc.constantFrom(
      ..."abz019.:@/\\?#[]%-_~!$&'()*+,;= \t\n\0é。Ａ".split(""),
      "example.org",
      "127.0.0.1",
      "[::1]",
      "[1:2::3.4.5.6]",
      "0x7f",
      "::",
      "xn--",
      "//",
    );
    const anyUri = fc.oneof(
      fc.tuple(fc.constantFrom("http://", "https://"), fc.array(piece, { maxLength: 9 })),
      fc.tuple(
        fc.constantFrom("http:", "https:/", "HTTP://", ""),
        fc.array(piece, { maxLength: 9 }),
      ),
    );
    let found = 0;
    fc.assert(
      fc.property(anyUri, ([scheme, pieces]) => {
        const uri = scheme + pieces.join("");
        const host = hostOf(uri);
        if (host === undefined || !URL.canParse(uri)) return;
        found += 1;
        expect(new URL(uri).hostname.replace(/\.$/, "")).toBe(host);
      }),
      { numRuns: numRuns * 5 },
    );
    expect(found).toBeGreaterThan(numRuns / 10);
  });
});

describe("host patterns", () => {
  test.each([
    ["example.org", "example.org", true],
    ["Example.org.", "EXAMPLE.ORG", true],
    ["example.org", "api.example.org", false],
    ["*.example.org", "api.example.org", true],
    ["*.example.org", "a.b.example.org", true],
    ["*.example.org", "example.org", false],
    ["*.example.org", "evilexample.org", false],
    ["*.example.org", "example.org.evil.com", false],
    ["*.0.0.1", "127.0.0.1", false],
    ["127.0.0.1", "127.0.0.1", true],
    ["localhost", "127.0.0.1", false],
    ["[::1]", "[0:0:0:0:0:0:0:1]", true],
    ["::1", "[::1]", true],
    ["*", "example.org", true],
    ["*", "[::1]", true],
    ["*", "not a host", false],
    ["example.org", "example.org:80", false],
  ])("%s against %s is %s", (pattern, host, expected) => {
    verifies("PERM-10");
    expect(matchesHost(pattern, host)).toBe(expected);
  });

  test.each([
    "https://example.org",
    "example.org/x",
    "a.*.org",
    "*x.org",
    "",
    "a b",
    "*.1.2.3.4",
    "a:80:1",
  ])("%j is refused as a pattern", (pattern) => {
    verifies("PERM-10");
    expect(hostPatternProblem(pattern)).toBeTypeOf("string");
  });

  test("a canonical host stays as it is", () => {
    const anyText = fc.oneof(
      fc.string({ unit: fc.constantFrom("a", "B", "1", ".", ":", "[", "]", "-", "0") }),
      fc.ipV6(),
      fc.ipV4(),
      fc.domain(),
    );
    fc.assert(
      fc.property(anyText, (text) => {
        const host = canonicalHost(text);
        if (host !== undefined) expect(canonicalHost(host)).toBe(host);
      }),
      { numRuns },
    );
  });
});
