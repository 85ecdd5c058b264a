// One character of any kind, for `fc.string({ unit })`: every code point but the halves of pairs, those that can be
// read first. The library's own "binary" is the same, and takes a second in each file to make a list of them all.

import fc from "fast-check";

const HALVES = { from: 0xd800, count: 0x800 };

export const anyCharacter: fc.Arbitrary<string> = fc
  .nat({ max: 0x10ffff - HALVES.count })
  .map((index) => String.fromCodePoint(pointOf(index)));

function pointOf(index: number): number {
  if (index < 95) return index + 0x20;
  if (index < 0x7f) return index - 95;
  return index < HALVES.from ? index : index + HALVES.count;
}
