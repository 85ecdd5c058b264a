import { createRedactor } from "@soong/core";
import { MARGIN } from "@soong/core/internal";
import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { isBinary, showOutput, wholeLength, type OutputEnds } from "./shown-output.ts";

const same = (text: string): string => text;

test("what fits is shown as it is", () => {
  verifies("CMD-2");
  const text = "grüße 👋\n";
  expect(showOutput(whole(text), Buffer.byteLength(text), 100, same)).toEqual({
    text,
    truncated: false,
  });
  expect(wholeLength(whole(text))).toBe(Buffer.byteLength(text));
  expect(showOutput(whole(text), 13, Buffer.byteLength(text), same).truncated).toBe(false);
  expect(showOutput(whole(text), 13, Buffer.byteLength(text) - 1, same).truncated).toBe(true);
});

test("names that end in NUL are shown line by line", () => {
  verifies("CMD-2");
  expect(showOutput(whole("a.txt\0b.txt\0"), 12, 100, same).text).toBe("a.txt\nb.txt\n");
});

test("what is no text is counted instead", () => {
  verifies("CMD-2");
  const ends = { whole: Buffer.from([0, 1, 2, 0xff]) };
  expect(showOutput(ends, 4, 100, same)).toEqual({
    text: "(4 bytes that are not text)",
    truncated: true,
  });
  expect(wholeLength(ends)).toBe(0);
});

test("of very much output both ends are shown, and how much there was", () => {
  verifies("CMD-2");
  const { text, truncated } = showOutput(
    {
      first: Buffer.from("FIRST".padEnd(50_000, "a")),
      last: Buffer.from("LAST".padStart(50_000, "z")),
    },
    123_456_789,
    1000,
    same,
  );
  expect(truncated).toBe(true);
  expect(text.startsWith("FIRSTaaa")).toBe(true);
  expect(text.endsWith("zzzLAST")).toBe(true);
  expect(text).toContain("of 123456789 bytes");
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1000);
  expect(Buffer.byteLength(text)).toBeGreaterThan(900);
});

test("never more bytes than there is space for, and no broken character that was whole", () => {
  verifies("CMD-2");
  const letter = fc.constantFrom("a", "ü", "€", "👋", "\n");
  const content = fc.array(letter, { minLength: 1, maxLength: 30, size: "max" });
  fc.assert(
    fc.property(content, fc.integer({ min: 0, max: 400 }), fc.nat(3), (letters, maxBytes, cut) => {
      const piece = letters.join("");
      const bytes = Buffer.from(piece.repeat(Math.ceil((2 * MARGIN) / piece.length)));
      // Windows are cut from bytes, in the middle of a character as often as not.
      const windows = {
        first: bytes.subarray(0, bytes.length - cut),
        last: bytes.subarray(cut),
      };
      const shown = showOutput(windows, 10 * bytes.length, Math.max(maxBytes, 70), same).text;
      expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(Math.max(maxBytes, 70));
      expect(shown).not.toContain("\ufffd");
    }),
    { numRuns: 40 },
  );
});

test("no part of a secret is shown, wherever the cut goes through it", () => {
  verifies("CMD-2", "REDACT-1");
  const secret = "swordfish-0123456789-abcdefghij";
  const redactor = createRedactor({ secrets: [{ name: "PASSWORD", value: secret }] });
  const redact = (text: string): string => redactor.text(text);
  // What is shown whole is left to the one place that hides secrets in every result.
  const shows = (text: string): boolean =>
    Array.from({ length: secret.length - 5 }, (_, at) => secret.slice(at, at + 6)).some((part) =>
      redact(text).includes(part),
    );
  fc.assert(
    fc.property(
      fc.nat(400),
      fc.nat(400),
      fc.integer({ min: 200, max: 700 }),
      (before, after, room) => {
        const long = `${"a ".repeat(before)}${secret} ${"b ".repeat(after)}`;
        expect(shows(showOutput(whole(long), long.length, room, redact).text)).toBe(false);
        const filler = "c ".repeat(MARGIN);
        const ends = {
          first: Buffer.from(`${long}${filler}`.slice(0, MARGIN + 500)),
          last: Buffer.from(`${filler}${long}`.slice(-(MARGIN + 500))),
        };
        expect(shows(showOutput(ends, 1_000_000, room, redact).text)).toBe(false);
      },
    ),
    { numRuns: 200 },
  );
});

test("not even where secrets are so many that hiding them moves the border of the window in sight", () => {
  verifies("CMD-2", "REDACT-1");
  const secret = "s".repeat(4000).replaceAll("ssss", "s1h4");
  const redactor = createRedactor({ secrets: [{ name: "KEY", value: secret }] });
  const many = `${secret} `.repeat(20);
  const size = MARGIN + 4096;
  const ends = {
    first: Buffer.from(many.slice(0, size)),
    last: Buffer.from(many.slice(-size)),
  };
  const shown = showOutput(ends, many.length, 4096, (text) => redactor.text(text)).text;
  expect(shown).not.toContain("s1h4s1h4");
});

test("binary is what shows two signs of it", () => {
  verifies("CMD-2");
  const cases: [string | number[], boolean][] = [
    ["plain text\n", false],
    ["a\0b\0", false],
    ["\u001b[31mred\u001b[0m\r\n\t\f\b", false],
    ["grüße", false],
    [[0x67, 0x72, 0xfc, 0xdf, 0x65], false],
    [[1, 2, 3], false],
    [[0, 1], true],
    [[0, 0xff], true],
    [[1, 0xff], true],
    [[], false],
  ];
  for (const [content, expected] of cases) {
    expect([content, isBinary(Buffer.from(content as string))]).toEqual([content, expected]);
  }
  const cutInACharacter = Buffer.from("ü".repeat(8192)).subarray(0, 8191);
  expect(isBinary(Buffer.concat([Buffer.from("\0"), cutInACharacter]))).toBe(false);
});

function whole(text: string): OutputEnds {
  return { whole: Buffer.from(text) };
}
