import fc from "fast-check";
import { expect, test } from "vitest";
import { editDistance } from "./nearest-name.ts";

test.each([
  ["search", "search", 0],
  ["serach", "search", 1],
  ["seach", "search", 1],
  ["searcch", "search", 1],
  ["saerhc", "search", 2],
  ["earch", "search", 1],
  ["zearch", "search", 1],
])("counts the slips from %s to %s", (a, b, slips) => {
  expect(editDistance(a, b, 2)).toBe(slips);
});

test("agrees with the table of all prefixes for any two words", () => {
  const word = fc.stringMatching(/^[abc]{0,8}$/);
  fc.assert(
    fc.property(word, word, fc.integer({ min: 0, max: 6 }), (a, b, limit) => {
      expect(editDistance(a, b, limit)).toBe(Math.min(byTable(a, b), limit + 1));
    }),
    { numRuns: 2_000 },
  );
});

/** The textbook definition, with swaps of neighbours. */
function byTable(a: string, b: string): number {
  const table = Array.from({ length: a.length + 1 }, (_, row) =>
    Array.from({ length: b.length + 1 }, (_, column) => (row === 0 ? column : row)),
  );
  const at = (row: number, column: number) => table[row]?.[column] ?? Infinity;
  for (let row = 1; row <= a.length; row += 1) {
    for (let column = 1; column <= b.length; column += 1) {
      const replaced = at(row - 1, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const isSwap = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const swapped = isSwap ? at(row - 2, column - 2) + 1 : Infinity;
      const cost = Math.min(replaced, swapped, at(row - 1, column) + 1, at(row, column - 1) + 1);
      (table[row] ?? [])[column] = cost;
    }
  }
  return at(a.length, b.length);
}
