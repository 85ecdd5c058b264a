import fc from "fast-check";
import { expect, test } from "vitest";
import { createLineSplitter, LineTooLong } from "./line-splitter.ts";

test("lines are the same however their bytes arrive", () => {
  const line = fc.string({ unit: "grapheme" }).map((text) => text.replace(/[\n\r]/g, ""));
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat(5), { minLength: 1 }), (lines, sizes) => {
      const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(""));
      const splitter = createLineSplitter(1000);
      const read: string[] = [];
      for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
        const size = (sizes[turn % sizes.length] ?? 0) + 1;
        read.push(...splitter.push(bytes.subarray(at, at + size)));
        at += size;
      }
      expect(read).toEqual(lines);
    }),
    { numRuns: 50 },
  );
});

test("a line may end as it does elsewhere", () => {
  expect(createLineSplitter(10).push(Buffer.from("a\r\n\r\nb\rc\n"))).toEqual(["a", "", "b\rc"]);
});

test("a line is given up as soon as it is too long, complete or not", () => {
  expect(createLineSplitter(3).push(Buffer.from("abc\ndef\n"))).toEqual(["abc", "def"]);
  expect(() => createLineSplitter(3).push(Buffer.from("abcd\n"))).toThrow(LineTooLong);
  const splitter = createLineSplitter(3);
  splitter.push(Buffer.from("ab"));
  expect(() => splitter.push(Buffer.from("cd"))).toThrow(LineTooLong);
});
