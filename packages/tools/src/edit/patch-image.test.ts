import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import {
  imageLength,
  createImage,
  lineAt,
  placeOfLine,
  replaceLines,
  type PatchImage,
  type PlacedLine,
} from "./patch-image.ts";

test("The image holds what a plain list of lines would hold, after any replacements of untouched lines", () => {
  verifies("EDIT-3");
  const replacement = fc.record({ at: fc.nat(), count: fc.nat(4), added: fc.nat(4) });
  const property = fc.property(fc.nat(40), fc.array(replacement), (lineCount, replacements) => {
    const image = createImage(lineCount);
    const list: PlacedLine[] = Array.from({ length: lineCount }, (_, line) => line);
    let placed = 0;
    for (const { at, count, added } of replacements) {
      const position = at % (list.length + 1);
      const wanted = list.slice(position, position + count);
      const touched = wanted.findIndex((line) => typeof line === "string");
      const removed = touched === -1 ? wanted.length : touched;
      const fresh = Array.from({ length: added }, () => `placed ${(placed += 1)}`);
      replaceLines(image, position, removed, fresh);
      list.splice(position, removed, ...fresh);
    }
    expect(linesOf(image)).toEqual(list);
    expect(imageLength(image)).toBe(list.length);
    for (let line = 0; line < lineCount; line += 1) {
      const position = list.indexOf(line);
      const place = placeOfLine(image, line);
      expect(typeof place === "number" ? place : -1).toBe(position);
      if (typeof place === "number") continue;
      expect(place.start).toBeLessThanOrEqual(line);
      expect(place.end).toBeGreaterThan(line);
    }
    for (const [position, line] of list.entries()) {
      const found = lineAt(image, position);
      if ("placed" in found) {
        expect(found.placed.placed[position - found.placed.at]).toBe(line);
        continue;
      }
      expect(found.line).toBe(line);
      const run = Array.from({ length: found.run }, (_, index) => found.line + index);
      expect(list.slice(position, position + found.run)).toEqual(run);
    }
  });
  fc.assert(property, { numRuns: 300 });
});

function linesOf({ count, stretches }: PatchImage): PlacedLine[] {
  const lines: PlacedLine[] = [];
  let next = 0;
  const keep = (end: number): void => {
    for (; next < end; next += 1) lines.push(next);
  };
  for (const { start, end, placed } of stretches) {
    keep(start);
    lines.push(...placed);
    next = end;
  }
  keep(count);
  return lines;
}
