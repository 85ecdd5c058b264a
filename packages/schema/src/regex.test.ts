import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { createRegex, type LinearRegex } from "./index.ts";

function regex(source: string, flags?: string): LinearRegex {
  const result = createRegex(source, flags);
  if (!result.ok) throw new Error(result.message);
  return result.regex;
}

function refusal(source: string, flags?: string): string {
  const result = createRegex(source, flags);
  return result.ok ? "" : result.message;
}

const texts = [
  "",
  "a",
  "A",
  "ab",
  "aab",
  "b-a",
  "a.b",
  "_",
  "7",
  "a7",
  " ",
  "\u00a0",
  "\ufeff",
  "\n",
  "a\nb",
  "a\r",
  "\u2028",
  "\v",
  "é",
  "É",
  "😀",
  "a😀",
  "]",
  "[",
  "^",
  "-",
  "\\",
  "/",
  "{",
  "}",
  "\0",
  "\b",
  "αβ",
  "k=v",
];

describe("the linear engine", () => {
  test("reads ECMAScript patterns as ECMAScript does", () => {
    verifies("SCHEMA-8");
    const patterns = [
      "a",
      "^a$",
      "^a*b+$",
      "a|^$",
      ".",
      "^.$",
      "^..$",
      "\\d",
      "\\D",
      "^\\w+$",
      "\\W",
      "\\s",
      "\\S",
      "^[\\s]$",
      "^[\\S]$",
      "^[^\\s]$",
      "[\\s\\S]",
      "^[^]$",
      "[]",
      "\\ba",
      "a\\B",
      "[\\b]",
      "[a-c\\-]",
      "[\\]]",
      "[[]",
      "[\\^]",
      "\\/",
      "\\.",
      "\\u0061",
      "\\u{61}",
      "\\u{1F600}",
      "\\uD83D\\uDE00",
      "^[\\u{1F600}]$",
      "\\x61",
      "\\cJ",
      "\\0",
      "\\t|\\n|\\v|\\f|\\r",
      "(?:a)(b)",
      "(?<first>a)",
      "a{1,2}b",
      "a{2}",
      "a??",
      "\\p{L}",
      "\\P{L}",
      "\\p{Lu}",
      "\\p{Letter}",
      "\\p{Script=Greek}",
      "\\p{Extended_Pictographic}",
      "^(?=.*\\d)[a-z\\d]+$",
      "^(?!a)",
      "^(?=a|b)(?!ab)[\\s\\S]+",
      "^(?=[)(])",
      "",
    ];
    for (const source of patterns) {
      const native = new RegExp(source, "u");
      const own = regex(source);
      for (const text of texts) {
        expect([source, text, own.test(text)]).toEqual([source, text, native.test(text)]);
      }
    }
  });

  test("reads what users write without the u flag", () => {
    verifies("SCHEMA-8");
    for (const source of [
      "[\\w-.]",
      "[\\w.-]",
      "[.-\\s]",
      "\\_",
      "\\-",
      "\\@",
      "a{",
      "{a}",
      "]",
      "[\\s-a]",
    ]) {
      const native = new RegExp(source);
      for (const text of texts.filter((one) => !one.includes("😀"))) {
        expect([source, text, regex(source).test(text)]).toEqual([source, text, native.test(text)]);
      }
    }
  });

  test("agrees with the native engine on random patterns and texts", () => {
    verifies("SCHEMA-8");
    const atom = fc.constantFrom(
      "a",
      "b",
      ".",
      "\\d",
      "\\w",
      "\\s",
      "[ab]",
      "[^a]",
      "[\\s\\-]",
      "\\n",
      "é",
    );
    const piece = fc
      .tuple(atom, fc.constantFrom("", "*", "+", "?", "{1,2}", "*?", "+?"))
      .map(([one, repeat]) => one + repeat);
    const branch = fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(""));
    const group = fc
      .tuple(fc.constantFrom("(", "(?:"), branch, fc.constantFrom(")", ")*", ")?", "|b)"))
      .map((parts) => parts.join(""));
    const ahead = fc
      .tuple(fc.constantFrom("(?=", "(?!"), branch)
      .map(([open, body]) => `${open}${body})`);
    const pattern = fc
      .tuple(
        fc.constantFrom("", "^"),
        fc.array(ahead, { maxLength: 2 }),
        branch,
        fc.array(group, { maxLength: 1 }),
        branch,
        fc.constantFrom("", "$"),
      )
      .map(([start, aheads, first, groups, last, end]) =>
        [start, ...(start === "^" ? aheads : []), first, ...groups, last, end].join(""),
      );
    const text = fc
      .array(fc.constantFrom("a", "b", "7", " ", "\n", "-", "é", "_"), { maxLength: 8 })
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(
        pattern,
        fc.array(text, { maxLength: 5 }),
        fc.constantFrom("", "i", "s"),
        (source, some, flags) => {
          const native = new RegExp(source, `u${flags}`);
          const own = regex(source, flags);
          for (const one of some) {
            const expected = native.exec(one);
            expect([one, own.test(one)]).toEqual([one, expected !== null]);
            expect(own.exec(one)?.index).toBe(expected?.index);
          }
        },
      ),
      { numRuns: process.env["SOONG_TEST_FULL"] === "1" ? 20_000 : 1_000 },
    );
  });

  test("finds matches with their groups, from any place", () => {
    verifies("SCHEMA-8");
    const pair = regex("(?<key>\\w+)=(\\w+)?");
    expect(pair.exec("a=1, b=")).toEqual({
      index: 0,
      text: "a=1",
      groups: ["a", "1"],
      named: { key: "a" },
    });
    expect(pair.exec("a=1, b=", 3)).toEqual({
      index: 5,
      text: "b=",
      groups: ["b", undefined],
      named: { key: "b" },
    });
    expect(pair.exec("a=1", 9)).toBeNull();
    expect(regex("^(?=(a))(.)").exec("ab")?.groups).toEqual([undefined, "a"]);
  });

  test("knows the flags i, m and s, and refuses what it does not know", () => {
    verifies("SCHEMA-8");
    expect(regex("ÉA", "iu").test("éa")).toBe(true);
    expect(regex("^b$", "m").test("a\nb")).toBe(true);
    expect(regex("^b$").test("a\nb")).toBe(false);
    expect(regex("a.b", "s").test("a\nb")).toBe(true);
    expect(regex("(?i)ab").test("AB")).toBe(true);
    expect(refusal("a", "y")).toContain("flags");
    expect(refusal("^(?=a)b", "m")).toContain("lookahead");
  });

  test("says in words what it cannot do", () => {
    verifies("SCHEMA-8");
    expect(refusal("(a)\\1")).toContain("backreferences");
    expect(refusal("(?<n>a)\\k<n>")).toContain("backreferences");
    expect(refusal("a(?=b)")).toContain("lookahead");
    expect(refusal("^(?=a)b|c")).toContain("lookahead");
    expect(refusal("^(?=a)*b")).toContain("lookahead");
    expect(refusal("(?<!a)b")).toContain("lookbehind");
    expect(refusal("(?s).")).toContain("group");
    expect(refusal("\\Z")).toContain("escape");
    expect(refusal("a{1,5000}")).toContain("repeat");
    expect(refusal("[a")).toContain("not closed");
    expect(refusal("\\")).toContain("backslash");
    expect(refusal("(")).not.toBe("");
    expect(refusal("a**")).not.toBe("");
    expect(refusal("x".repeat(6_000))).toContain("longer");
    expect(refusal("(?:\\p{L}{900}){1}\\p{L}{900}\\w{900}\\w{900}\\w{900}\\w{900}")).toContain(
      "too large",
    );
    expect(refusal("\\p{Nonsense}")).not.toBe("");
  });

  test("takes patterns that hang others", () => {
    verifies("SCHEMA-8");
    for (const [source, text] of [
      ["(a+)+$", `${"a".repeat(300_000)}b`],
      ["^(a|aa)+$", `${"a".repeat(300_000)}b`],
      ["(x+x+)+y", "x".repeat(300_000)],
      ["^(([a-z])+.)+[A-Z]([a-z])+$", "a".repeat(300_000)],
      ["^(?=(a+)+$)", `${"a".repeat(300_000)}b`],
    ] as const) {
      expect([source, regex(source).test(text)]).toEqual([source, false]);
    }
  });
});
