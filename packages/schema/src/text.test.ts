import fc from "fast-check";
import { expect, test } from "vitest";
import { firstChars, oneLine, shorten } from "./text.ts";

test("text is cut in whole characters", () => {
  expect(firstChars("a😀b", 2)).toBe("a");
  expect(firstChars("a😀b", 3)).toBe("a😀");
  expect(shorten("a😀b", 4)).toBe("a😀b");
  expect(shorten("a😀bc", 3)).toBe("a…");
});

test("a cut of well-formed text is well-formed and within its bound", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 1, max: 20 }), (text, most) => {
      const cut = shorten(text, most);
      expect(cut.length).toBeLessThanOrEqual(most);
      expect(cut).not.toMatch(/\p{Surrogate}/u);
    }),
  );
});

test("white space of any kind becomes one space", () => {
  expect(oneLine(" a\n\tb \u00a0 c\r\n")).toBe("a b c");
});
