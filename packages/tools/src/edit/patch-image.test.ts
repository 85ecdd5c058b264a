import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import {
  imageLength,
  createImage,
  lineAt,
  listStretches,
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
      if (typeof line === "string") {
        const untouched = list.slice(0, position).findLast((one) => typeof one === "number") ?? -1;
        expect(found).toEqual({ line: untouched + 1, run: 0 });
        continue;
      }
      expect(found.line).toBe(line);
      expect(found.run).toBeGreaterThan(0);
      const run = Array.from({ length: found.run }, (_, index) => found.line + index);
      expect(list.slice(position, position + found.run)).toEqual(run);
    }
  });
  fc.assert(property, { numRuns: 300 });
});

test("A hunk costs the logarithm of the pieces, for any order of hunks", () => {
  verifies("EDIT-3");
  const hunks = 20_000;
  const orders: Record<string, (hunk: number) => number> = {
    "all at the first line": () => 0,
    "from the first line to the last": (hunk) => 2 * hunk,
    "from the last line to the first": (hunk) => 2 * (hunks - hunk - 1),
    "from the middle outward": (hunk) => hunks + (hunk % 2 === 0 ? hunk : -hunk - 1),
  };
  for (const [order, position] of Object.entries(orders)) {
    const image = createImage(2 * hunks);
    for (let hunk = 0; hunk < hunks; hunk += 1) replaceLines(image, position(hunk), 0, ["placed"]);
    expect(imageLength(image), order).toBe(3 * hunks);
    // Each step down the tree is one operation; a perfect tree of so many pieces has 16 levels.
    expect(depthOf(image.root), order).toBeLessThan(100);
  }
});

function depthOf(piece: PatchImage["root"]): number {
  return piece === undefined ? 0 : 1 + Math.max(depthOf(piece.left), depthOf(piece.right));
}

function linesOf(image: PatchImage): PlacedLine[] {
  const lines: PlacedLine[] = [];
  let next = 0;
  const keep = (end: number): void => {
    for (; next < end; next += 1) lines.push(next);
  };
  for (const { start, end, placed } of listStretches(image)) {
    keep(start);
    lines.push(...placed);
    next = end;
  }
  keep(image.count);
  return lines;
}
