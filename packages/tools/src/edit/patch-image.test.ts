import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import {
  eachRun,
  imageLength,
  imageOf,
  positionOf,
  replaceLines,
  runAt,
  untouchedFrom,
  untouchedUpTo,
  type PatchImage,
} from "./patch-image.ts";

test("The image holds what a plain list of lines would hold, after any replacements", () => {
  verifies("EDIT-3");
  const replacement = fc.record({ at: fc.nat(), count: fc.nat(4), added: fc.nat(4) });
  const property = fc.property(fc.nat(40), fc.array(replacement), (lineCount, replacements) => {
    const image = imageOf(lineCount);
    const list = Array.from({ length: lineCount }, (_, line) => line);
    let placed = 0;
    for (const { at, count, added } of replacements) {
      const position = at % (list.length + 1);
      const removed = Math.min(count, list.length - position);
      const fresh = Array.from({ length: added }, () => (placed -= 1));
      replaceLines(image, position, removed, fresh);
      list.splice(position, removed, ...fresh);
    }
    expect(linesOf(image)).toEqual(list);
    expect(imageLength(image)).toBe(list.length);
    for (let line = 0; line <= lineCount; line += 1) {
      const position = list.indexOf(line);
      expect(positionOf(image, line)).toBe(position === -1 ? undefined : position);
    }
    for (let position = 0; position <= list.length; position += 1) {
      expect(lineAt(image, position)).toBe(list[position]);
      const next = list.findIndex((line, index) => index >= position && line >= 0);
      const from = untouchedFrom(image, position);
      expect(from && Math.max(position, from.start)).toBe(next === -1 ? undefined : next);
      const previous = list.findLastIndex((line, index) => index <= position && line >= 0);
      const upTo = position === list.length ? undefined : untouchedUpTo(image, position);
      expect(upTo && Math.min(position, upTo.start + upTo.run.count - 1)).toBe(
        previous === -1 || position === list.length ? undefined : previous,
      );
    }
  });
  fc.assert(property, { numRuns: 300 });
});

function linesOf(image: PatchImage): number[] {
  const lines: number[] = [];
  eachRun(image, ({ placed, from, count }) => {
    for (let at = from; at < from + count; at += 1) lines.push(placed ? (placed[at] ?? NaN) : at);
  });
  return lines;
}

function lineAt(image: PatchImage, position: number): number | undefined {
  const found = runAt(image, position);
  if (found === undefined) return undefined;
  const at = found.run.from + position - found.start;
  return found.run.placed ? found.run.placed[at] : at;
}
