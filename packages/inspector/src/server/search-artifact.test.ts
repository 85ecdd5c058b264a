import { describe, expect, test } from "vitest";
import fc from "fast-check";
import { createRedactor, type ArtifactRecord } from "@soong/core";
import { verifies } from "#laws";
import type { ArtifactBytes } from "./artifact-bytes.ts";
import { compilePattern, MOST_MATCHES, searchArtifact } from "./search-artifact.ts";

const SECRET = "correct-horse-battery-staple";
const redactor = createRedactor({ secrets: [{ name: "PASSPHRASE", value: SECRET }] });
const redact = (text: string): string => redactor.text(text);

function inMemory(given: string | Uint8Array): ArtifactBytes {
  const bytes = Buffer.from(given);
  return {
    record: { artifact_id: "a", session_id: "s", size: bytes.length } as ArtifactRecord,
    read: async (from, to) => bytes.subarray(Math.max(0, from), Math.max(0, to)),
  };
}

function search(
  artifact: ArtifactBytes,
  q: string,
  { regex = false, mostMs = 60_000, signal = new AbortController().signal } = {},
) {
  return searchArtifact(artifact, { pattern: compilePattern(q, regex), redact, signal, mostMs });
}

describe("searching an artifact", () => {
  test("finds each line that has the text, with its number and where it begins", async () => {
    verifies("UI-1");
    const words = fc.constantFrom("needle", "hay", "grüße", "😀", "\n", "\r\n", "nee", "dle");
    await fc.assert(
      fc.asyncProperty(fc.array(words, { maxLength: 60 }), async (pieces) => {
        const text = pieces.join("");
        const lines = text.split("\n");
        let offset = 0;
        const expected = lines.flatMap((line, i) => {
          const at = offset;
          offset += Buffer.byteLength(line) + 1;
          const shown = line.replace(/\r$/u, "");
          return shown.includes("needle") ? [{ offset: at, line: i + 1, text: shown }] : [];
        });
        const found = await search(inMemory(text), "needle");
        expect(found).toEqual({ matches: expected, is_cut: false });
      }),
      { numRuns: 150 },
    );
  });

  test("finds what spans two chunks, also in one endless line", async () => {
    verifies("UI-1");
    const SIZE = 550_000;
    for (const fill of ["é", "x", "some words\n"]) {
      const filled = fill.repeat(SIZE / Buffer.byteLength(fill));
      const border = 256 * 1024;
      for (const place of [border - 6, 2 * border - 3, 16_384 - 4]) {
        const bytes = Buffer.from(filled);
        const at = place - (place % Buffer.byteLength(fill));
        bytes.write("NEEDLE(7)", at);
        for (const [q, regex] of [
          ["NEEDLE(7)", false],
          ["NEEDLE\\(\\d\\)", true],
        ] as const) {
          const { matches, is_cut } = await search(inMemory(bytes), q, { regex });
          expect([fill, place, q, matches.length, is_cut]).toEqual([fill, place, q, 1, false]);
          const [match] = matches;
          expect(match?.text).toContain("NEEDLE(7)");
          expect(match?.offset).toBeLessThanOrEqual(at);
          expect(at - (match?.offset ?? 0)).toBeLessThan(40_000);
          expect(match?.line).toBe(bytes.subarray(0, at).toString().split("\n").length);
        }
      }
    }
  });

  test("compares what may be shown: a secret is neither found nor shown", async () => {
    verifies("UI-1", "REDACT-1");
    const key = [
      "-----BEGIN PRIVATE KEY-----",
      ...Array.from({ length: 12 }, () => "A".repeat(64)),
      "-----END PRIVATE KEY-----",
    ];
    const text = ["above", ...key, `password ${SECRET} here`, "below the key"].join("\n");
    for (const q of ["horse", "AAAA", SECRET]) {
      expect((await search(inMemory(text), q)).matches).toEqual([]);
    }
    const { matches } = await search(inMemory(text), "e", {});
    expect(matches.map(({ text: line }) => line).join("\n")).not.toMatch(/horse|AAAA/u);
    const [below] = (await search(inMemory(text), "below")).matches;
    expect(below).toEqual({
      line: 17,
      offset: Buffer.byteLength(text) - 13,
      text: "below the key",
    });
    const padded = `${"x".repeat(70)}\n`.repeat(3690);
    const across = `${padded}${key.join("\n")}\n${padded}`;
    expect((await search(inMemory(across), "AAAA")).matches).toEqual([]);
  });

  test("ends with enough matches, after long enough, and when no one waits", async () => {
    verifies("UI-1", "EVENT-4");
    const text = "match\n".repeat(MOST_MATCHES);
    expect(await search(inMemory(text), "match")).toMatchObject({ is_cut: false });
    const more = await search(inMemory(`${text}match`), "match");
    expect([more.matches.length, more.is_cut]).toEqual([MOST_MATCHES, true]);
    const large = inMemory(Buffer.alloc(20_000_000, "words and words\n"));
    expect(await search(large, "nothing", { mostMs: 0 })).toEqual({ matches: [], is_cut: true });
    const gone = search(large, "nothing", { signal: AbortSignal.abort() });
    await expect(gone).rejects.toThrow("aborted");
  });

  test("lets others work between two lines, however long one takes", async () => {
    verifies("EVENT-4");
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const slow = (): undefined => {
      for (const until = performance.now() + 25; performance.now() < until;);
    };
    const { signal } = new AbortController();
    const lines = inMemory("a line\n".repeat(6));
    await searchArtifact(lines, { pattern: slow, redact, signal, mostMs: 60_000 });
    isOver = true;
    expect(turns).toBeGreaterThanOrEqual(5);
  });

  test("says which patterns it does not take", () => {
    verifies("UI-1");
    for (const q of ["(", "(?<=a)b", "(a)\\1", "a{1000}{1000}", "(a{50}){50}"]) {
      expect(() => compilePattern(q, true)).toThrow(/^q/u);
    }
    expect(compilePattern("(", false)("a(b")).toBe(1);
  });

  test("bytes that are no text are searched for the text in them", async () => {
    verifies("UI-1");
    const bytes = Buffer.concat([
      Buffer.from([0, 255, 254, 10, 200]),
      Buffer.from("needle"),
      Buffer.from([0]),
    ]);
    const { matches } = await search(inMemory(bytes), "needle");
    expect(matches).toMatchObject([{ line: 2, offset: 4 }]);
  });
});
