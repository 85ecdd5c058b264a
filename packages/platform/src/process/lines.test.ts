import fc from "fast-check";
import { expect, test } from "vitest";
import { createLineReader, LineTooLong, type LineReader } from "./lines.ts";

const read = (lines: LineReader, bytes: Uint8Array): string[] => [...lines.take(bytes)];

test("lines are the same however their bytes arrive", () => {
  const line = fc.string({ unit: "grapheme" }).map((text) => text.replace(/[\n\r]/g, ""));
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat(5), { minLength: 1 }), (lines, sizes) => {
      const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(""));
      const splitter = createLineReader(1000);
      const found: string[] = [];
      for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
        const size = (sizes[turn % sizes.length] ?? 0) + 1;
        found.push(...splitter.take(bytes.subarray(at, at + size)));
        at += size;
      }
      expect(found).toEqual(lines);
    }),
    { numRuns: 50 },
  );
});

test("a line may end as it does elsewhere", () => {
  expect(read(createLineReader(10), Buffer.from("a\r\n\r\nb\rc\n"))).toEqual(["a", "", "b\rc"]);
});

test("a line is given up as soon as it is too long, complete or not", () => {
  expect(read(createLineReader(3), Buffer.from("abc\ndef\n"))).toEqual(["abc", "def"]);
  expect(() => read(createLineReader(3), Buffer.from("abcd\n"))).toThrow(LineTooLong);
  const splitter = createLineReader(3);
  read(splitter, Buffer.from("ab"));
  expect(() => read(splitter, Buffer.from("cd"))).toThrow(LineTooLong);
});
