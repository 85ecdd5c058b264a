import { verifies } from "#laws";
import fc from "fast-check";
import { expect, test } from "vitest";
import { cutToBytes } from "./text-format.ts";

const character = fc.oneof(
  fc.constantFrom("a", "é", "漢", "😀", "\ufeff", "\ufffd", "\r", "\n", "\0"),
  fc.integer({ min: 0, max: 0xd7ff }).map((code) => String.fromCodePoint(code)),
  fc.integer({ min: 0xe000, max: 0x10ffff }).map((code) => String.fromCodePoint(code)),
);

test("a text is cut to the longest beginning that fits, and no character is broken", () => {
  verifies("CODE-1");
  fc.assert(
    fc.property(fc.string({ unit: character, maxLength: 40 }), fc.nat(100), (text, maxBytes) => {
      let expected = "";
      for (const character of text) {
        if (Buffer.byteLength(expected + character) > maxBytes) break;
        expected += character;
      }
      expect(cutToBytes(text, maxBytes)).toBe(expected);
    }),
  );
  expect(cutToBytes("aé😀", 6)).toBe("aé");
  expect(cutToBytes("aé😀", 7)).toBe("aé😀");
});
