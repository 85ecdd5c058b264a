import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { anyCharacter } from "../../../../test/any-character.ts";
import { parseLineRow } from "./matching-lines.ts";
import { createPieces, createRipgrepMessages } from "./ripgrep.ts";
import { createSmallestPaths } from "./search-ripgrep.ts";

/** The same bytes, cut anywhere. */
function cutUp(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...cuts.map((cut) => cut % (bytes.length + 1)), 0, bytes.length];
  const sorted = places.toSorted((a, b) => a - b);
  return sorted.slice(1).map((end, index) => bytes.subarray(sorted[index], end));
}

const cuts = fc.array(fc.nat());

describe("output in pieces", () => {
  test("gives the same records however it is cut", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("", "a", "ä", "bc")),
        fc.string(),
        cuts,
        (all, rest, at) => {
          fc.pre(!rest.includes("\0"));
          const records: string[] = [];
          const pieces = createPieces(0, (record) => records.push(record.toString()));
          const whole = Buffer.from(all.map((record) => `${record}\0`).join("") + rest);
          for (const piece of cutUp(whole, at)) pieces.add(piece);
          expect(records).toEqual(all);
          expect(pieces.rest().toString()).toBe(rest);
        },
      ),
    );
  });

  test("the smallest paths are those of a full sort, in the memory of those kept", () => {
    verifies("CODE-3");
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string({ unit: anyCharacter })),
        fc.integer({ min: 1, max: 8 }),
        (paths, most) => {
          const smallest = createSmallestPaths(most);
          for (const path of paths) smallest.add(Buffer.from(path));
          const all = paths
            .map((path) => Buffer.from(path))
            .toSorted((a, b) => Buffer.compare(a, b));
          expect(smallest.sorted()).toEqual(all.slice(0, most));
        },
      ),
    );
  });

  test("a row is a match, a neighbour, or a message", () => {
    const row = (text: string) => parseLineRow(Buffer.from(text));
    expect(row("/dev/fd/3\x0012:5:70:1:2:3: text\r")).toMatchObject({
      kind: "match",
      file: "/dev/fd/3",
      line: 12,
      column: 5,
      offset: 70,
      bytes: Buffer.from("1:2:3: text"),
    });
    expect(row("/dev/fd/3\x0012-70-1-2-3")).toMatchObject({
      kind: "context",
      line: 12,
      offset: 70,
      bytes: Buffer.from("1-2-3"),
    });
    expect(row("/dev/fd/3: binary file matches (found)")).toBeUndefined();
    expect(row("/dev/fd/3\0nothing of the kind")).toBeUndefined();
  });

  test("messages distinguish excluded entries, unreadable ones and complaints", () => {
    verifies("PATH-3");
    const walk = "rg: DEBUG|ignore::walk|crates/ignore/src/walk.rs:1942: ignoring";
    const text = [
      "rg: DEBUG|globset|lib.rs:5: built glob set",
      `${walk} ./a/.env: Ignore(IgnoreMatch(Override(Glob(x))))`,
      `${walk} ./dist: Ignore(IgnoreMatch(Gitignore(Glob { original: "Ignore(IgnoreMatch(Override(" })))`,
      `${walk} ./two\nlines: x: Ignore(IgnoreMatch(Override(Glob(x))))`,
      "rg: ./ä: Permission denied (os error 13)",
      "rg: regex parse error:\n    (?:a()\n    ^\nerror: unclosed group",
      "",
    ].join("\n");
    fc.assert(
      fc.property(cuts, (at) => {
        const excluded: string[] = [];
        const messages = createRipgrepMessages((path) => excluded.push(path));
        for (const piece of cutUp(Buffer.from(text), at)) messages.add(piece);
        messages.end();
        expect(excluded).toEqual(["a/.env", "two\nlines: x"]);
        expect(messages.unreadable).toBe(1);
        expect(messages.complaint).toBe(
          "rg: ./ä: Permission denied (os error 13)\n" +
            "rg: regex parse error:\n    (?:a()\n    ^\nerror: unclosed group\n",
        );
      }),
    );
  });
});
