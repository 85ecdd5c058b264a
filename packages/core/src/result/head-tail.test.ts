import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { anyCharacter } from "../../../../test/any-character.ts";
import { headTail, type HeadTailLimit } from "./head-tail.ts";

const numRuns = process.env["SOONG_TEST_FULL"] === "1" ? 20_000 : 1000;

/** Lines, wide characters, pairs and broken pairs. */
const anyText = fc
  .array(
    fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 12 }),
      fc.constantFrom("\n", "\r\n", "é", "漢", "😀", "\ud800", "\udc00", "a line of some length\n"),
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(""));

const anyLimit: fc.Arbitrary<HeadTailLimit> = fc.record(
  { maxChars: fc.nat({ max: 400 }), maxBytes: fc.nat({ max: 600 }) },
  { requiredKeys: [] },
);

const MARKER = /^… (\d+) characters omitted \(of (\d+)\) …$/m;

describe("headTail", () => {
  test("a text within the limit comes back as it is", () => {
    verifies("RESULT-6");
    expect(headTail("short", { maxChars: 5, maxBytes: 5 })).toEqual({
      text: "short",
      truncated: false,
      original_chars: 5,
      kept_chars: 5,
    });
  });

  test("a long text keeps whole lines of both ends around one line that counts the rest", () => {
    verifies("RESULT-6", "ART-2");
    const text = Array.from({ length: 1000 }, (_, i) => `line ${i}\n`).join("");
    const preview = headTail(text, { maxChars: 200 });
    const lines = preview.text.split("\n");
    const marker = lines.findIndex((line) => MARKER.test(line));
    expect(lines.slice(0, marker)).toEqual(lines.slice(0, marker).map((_, i) => `line ${i}`));
    expect(lines[0]).toBe("line 0");
    expect(lines.at(-2)).toBe("line 999");
    expect(lines[marker + 1]).toMatch(/^line \d+$/);
    expect(preview.original_chars).toBe(text.length);
    expect(preview.text).toContain(`… ${text.length - preview.kept_chars} characters omitted`);
    expect(preview.text.length).toBeGreaterThan(150);
  });

  test("a text of one endless line is cut where it must be", () => {
    verifies("RESULT-6");
    const preview = headTail("x".repeat(10_000), { maxChars: 100 });
    expect(preview.text).toMatch(/^x+\n… \d+ characters omitted \(of 10000\) …\nx+$/);
    expect(preview.text.length).toBeGreaterThanOrEqual(98);
  });

  test("bytes are counted as UTF-8", () => {
    verifies("RESULT-6");
    const text = "漢字".repeat(100);
    expect(headTail(text, { maxBytes: 600 }).truncated).toBe(false);
    const preview = headTail(text, { maxBytes: 599 });
    expect(preview.truncated).toBe(true);
    expect(new TextEncoder().encode(preview.text).length).toBeLessThanOrEqual(599);
  });

  test("without space for the line in the middle only the head is left, on a character border", () => {
    verifies("RESULT-6");
    expect(headTail("😀😀😀😀", { maxChars: 3 }).text).toBe("😀");
    expect(headTail("😀😀😀😀", { maxChars: 1 }).text).toBe("");
    expect(headTail("😀😀😀😀", { maxBytes: 7 }).text).toBe("😀");
    expect(headTail("anything", { maxChars: 0 })).toEqual({
      text: "",
      truncated: true,
      original_chars: 8,
      kept_chars: 0,
    });
  });

  test("no limit is no limit, and one below zero is zero", () => {
    expect(headTail("abc", {}).text).toBe("abc");
    expect(headTail("abc", { maxChars: Infinity, maxBytes: Infinity }).text).toBe("abc");
    expect(headTail("abc", { maxChars: -5 }).text).toBe("");
    expect(headTail("abc", { maxChars: 2.9 }).text).toBe("ab");
  });

  test("for any text and limit the result fits, splits no pair and is made of both ends", () => {
    verifies("RESULT-6", "ART-2");
    fc.assert(
      fc.property(anyText, anyLimit, (text, limit) => {
        const preview = headTail(text, limit);
        const { maxChars = Infinity, maxBytes = Infinity } = limit;
        const size = new TextEncoder().encode(text).length;
        expect(preview.original_chars).toBe(text.length);
        expect(preview.truncated).toBe(text.length > maxChars || size > maxBytes);
        expect(preview.text.length).toBeLessThanOrEqual(maxChars);
        expect(new TextEncoder().encode(preview.text).length).toBeLessThanOrEqual(maxBytes);
        if (!preview.truncated) {
          expect(preview.text).toBe(text);
          return;
        }

        // The text itself may hold such a line; ours is the one that adds up.
        const marker = `… ${text.length - preview.kept_chars} characters omitted (of ${text.length}) …\n`;
        const at = preview.text.indexOf(marker);
        if (at === -1) {
          expect(preview.text).toBe(text.slice(0, preview.kept_chars));
          expect(splitsPair(text, preview.kept_chars)).toBe(false);
          return;
        }
        const tail = preview.text.slice(at + marker.length);
        const head = text.slice(0, preview.kept_chars - tail.length);
        expect([head, `${head}\n`]).toContain(preview.text.slice(0, at));
        expect(text.endsWith(tail)).toBe(true);
        expect(splitsPair(text, head.length)).toBe(false);
        expect(splitsPair(text, text.length - tail.length)).toBe(false);
      }),
      { numRuns },
    );
  });
});

function splitsPair(text: string, at: number): boolean {
  return /[\ud800-\udbff]$/.test(text.slice(at - 1, at)) && /^[\udc00-\udfff]/.test(text.slice(at));
}
