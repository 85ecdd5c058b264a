import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { anyCharacter } from "../../../../test/any-character.ts";
import { codePointsBefore, shownContext, shownMatch } from "./line-text.ts";

const same = (text: string): string => text;

describe("a line as it is shown", () => {
  test("columns count characters, not halves of them", () => {
    verifies("CODE-3");
    expect(codePointsBefore("a😀b", 3)).toBe(2);
    expect(codePointsBefore("\udc00\udc00x", 2)).toBe(2);
    fc.assert(
      fc.property(
        fc.string({ unit: anyCharacter }),
        fc.string({ unit: anyCharacter }),
        (before, after) => {
          expect(codePointsBefore(before + after, before.length)).toBe(Array.from(before).length);
        },
      ),
    );
  });

  test("a short line is whole, a long one is cut around the match, between characters", () => {
    verifies("CODE-3");
    expect(shownMatch("x".repeat(1000), 999, same)).toEqual({ text: "x".repeat(1000), cut: false });
    const body = fc.string({
      unit: fc.constantFrom("a", "😀", "ä"),
      minLength: 400,
      maxLength: 3000,
    });
    fc.assert(
      fc.property(body, body, (before, after) => {
        const line = `${before}NEEDLE${after}`;
        const { text, cut } = shownMatch(line, before.length, same);
        expect(cut).toBe(line.length > 1000);
        expect(text.length).toBeLessThanOrEqual(1000);
        expect(line).toContain(text);
        expect(text).toContain("NEEDLE");
        expect(Buffer.from(text).toString()).toBe(text);
      }),
    );
  });

  test("a cut never goes through a secret", () => {
    verifies("REDACT-1");
    const redact = (text: string): string => text.replaceAll("hunter2hunter2", "[redacted]");
    for (let shift = 0; shift < 40; shift += 1) {
      const line = `${"a".repeat(1000 + shift)}hunter2hunter2${"b".repeat(280)}NEEDLE${"c".repeat(900)}`;
      const { text } = shownMatch(line, line.indexOf("NEEDLE"), redact);
      expect(text).not.toMatch(/hunter|2b/);
      expect(text).toContain("NEEDLE");
      const beside = shownContext(`${"a".repeat(490 + shift)}hunter2hunter2bbb`, redact);
      expect(beside).not.toMatch(/hun/);
      expect(beside.length).toBeLessThanOrEqual(500);
    }
  });
});
