import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { anyCharacter } from "../../../../test/any-character.ts";
import { compileWildcard } from "./wildcard.ts";

function matches(pattern: string, text: string): boolean | undefined {
  return compileWildcard(pattern)?.(text);
}

describe("a wildcard", () => {
  test.each([
    ["a", "a", true],
    ["a", "ab", false],
    ["*.ts", "x.ts", true],
    ["*.ts", ".ts", true],
    ["*.ts", "x.tsx", false],
    ["ab*", "ab", true],
    ["ab*", "xab", false],
    ["a*b", "ab", true],
    ["a*b", "axyb", true],
    ["ab*ba", "aba", false],
    ["*", "anything", true],
    ["**", "anything", true],
    ["a**b", "axb", true],
    ["a**b", "a/b", false],
    ["?", "x", true],
    ["?", "😀", true],
    ["?", "xy", false],
    ["a?c", "a/c", false],
    ["[ab].ts", "b.ts", true],
    ["[!ab].ts", "b.ts", false],
    ["[^ab].ts", "c.ts", true],
    ["[a-c]", "b", true],
    ["[a-c]", "d", false],
    ["[]a]", "]", true],
    ["[a-]", "-", true],
    ["[\\]]", "]", true],
    ["x[!a]y", "x/y", false],
    ["\\*", "*", true],
    ["\\*", "a", false],
    ["a.b", "axb", false],
    ["a+(b)|{c}^$", "a+(b)|{c}^$", true],
    ["src/*.ts", "src/a.ts", true],
    ["src/*.ts", "src/b/a.ts", false],
    ["**/a", "a", true],
    ["**/a", "x/y/a", true],
    ["**/a", "xa", false],
    ["a/**/b", "a/b", true],
    ["a/**/b", "a/x/y/b", true],
    ["a/**", "a/x/y", true],
    ["a/**", "a", false],
    ["a*", "a\nb", true],
    ["**/b", "a\n/b", true],
  ])("%j on %j is %s", (pattern, text, expected) => {
    verifies("CODE-2");
    expect(matches(pattern, text)).toBe(expected);
  });

  test.each(["[a", "[b-a]", "a\\", "[", "[!]"])("%j means nothing", (pattern) => {
    expect(compileWildcard(pattern)).toBeUndefined();
  });

  test("escaped text matches itself and nothing else", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: anyCharacter, minLength: 1 }),
        fc.string({ unit: anyCharacter, minLength: 1 }),
        (text, other) => {
          fc.pre(!text.includes("/"));
          const pattern = text.replace(/[\\*?[\]]/g, "\\$&");
          expect(matches(pattern, text)).toBe(true);
          expect(matches(pattern, other)).toBe(text === other);
        },
      ),
    );
  });

  test("the shapes with a short cut match like the general one", () => {
    const part = fc.string({ unit: fc.constantFrom("a", "b", "."), maxLength: 3 });
    fc.assert(
      fc.property(part, part, part, (head, tail, middle) => {
        const slow = compileWildcard(`${head}**${tail}`);
        for (const text of [head + middle + tail, middle, head, tail, head + tail]) {
          if (text === "") continue;
          expect(matches(`${head}*${tail}`, text)).toBe(slow?.(text));
        }
      }),
    );
  });

  test("a pattern made to take for ever takes no longer than others", () => {
    verifies("CODE-2");
    expect(matches(`${"*a".repeat(100)}*b`, "a".repeat(255))).toBe(false);
  });
});
