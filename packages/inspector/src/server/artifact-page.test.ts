import { describe, expect, test } from "vitest";
import fc from "fast-check";
import { createRedactor, type ArtifactRecord } from "@soong/core";
import { verifies } from "#laws";
import { createLineCounter, type ArtifactBytes } from "./artifact-bytes.ts";
import { readArtifactPage } from "./artifact-page.ts";

const SECRET = "correct-horse-battery-staple";
const redactor = createRedactor({ secrets: [{ name: "PASSPHRASE", value: SECRET }] });
const redact = (text: string): string => redactor.text(text);

let made = 0;

function inMemory(given: string | Uint8Array): ArtifactBytes & { read_bytes: number } {
  const bytes = Buffer.from(given);
  made += 1;
  const artifact = {
    read_bytes: 0,
    record: { artifact_id: `a${made}`, session_id: "s", size: bytes.length } as ArtifactRecord,
    async read(from: number, to: number) {
      const read = bytes.subarray(Math.max(0, from), Math.max(0, to));
      artifact.read_bytes += read.length;
      return read;
    },
  };
  return artifact;
}

async function allPages(artifact: ArtifactBytes, length: number) {
  const pages = [];
  for (let offset: number | undefined = 0; offset !== undefined;) {
    const page = await readArtifactPage(artifact, { offset, length }, redact);
    expect(page.offset).toBe(offset);
    if (page.next_offset !== undefined) expect(page.next_offset).toBeGreaterThan(offset);
    pages.push(page);
    offset = page.next_offset;
  }
  return pages;
}

describe("a page of an artifact", () => {
  test("holds whole characters, and all pages together are the text without its secrets", async () => {
    verifies("UI-1", "REDACT-1");
    const piece = fc.constantFrom(
      "plain ",
      "grüße",
      "日本",
      "😀",
      "\n",
      "\r\n",
      ` ${SECRET} `,
      "é",
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 40 }),
        fc.integer({ min: 1, max: 60 }),
        async (pieces, length) => {
          const text = pieces.join("");
          const pages = await allPages(inMemory(text), length);
          expect(pages.map((page) => page.text).join("")).toBe(redact(text));
          for (const { text: shown } of pages) expect(shown).not.toContain("\uFFFD");
        },
      ),
      { numRuns: 150 },
    );
  });

  test("begins where the character does that was asked for, and before a secret it would cut", async () => {
    verifies("UI-1", "REDACT-1");
    const text = `aé日😀 ${SECRET} end`;
    const artifact = inMemory(text);
    const at = async (offset: number) => readArtifactPage(artifact, { offset, length: 8 }, redact);
    expect([(await at(2)).offset, (await at(5)).offset, (await at(9)).offset]).toEqual([1, 3, 6]);
    for (let offset = 12; offset < 12 + SECRET.length - 1; offset += 3) {
      const page = await at(offset);
      expect(page.offset).toBeLessThanOrEqual(11);
      expect(page.text).not.toMatch(/horse|battery|staple/u);
    }
  });

  test("is bytes where they are no text, and those are all there", async () => {
    verifies("UI-1");
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 300 }),
        fc.integer({ min: 1, max: 70 }),
        async (bytes, length) => {
          const pages = await allPages(inMemory(bytes), length);
          const parts = pages.map(({ hex, text }) =>
            hex === undefined ? Buffer.from(text ?? "") : Buffer.from(hex, "hex"),
          );
          expect(Buffer.concat(parts)).toEqual(Buffer.from(bytes));
          for (const { hex, text } of pages) expect(hex === undefined).toBe(text !== undefined);
        },
      ),
      { numRuns: 150 },
    );
    const [page] = await allPages(inMemory("text\0more"), 100);
    expect(page?.hex).toBe(Buffer.from("text\0more").toString("hex"));
  });

  test("has no secret in it where bytes that are no text are beside it, nor half of one", async () => {
    verifies("UI-1", "REDACT-1");
    const piece = fc.constantFrom("plain ", "\0", "\xff", "\xc3", "\xc3\xa9", ` ${SECRET} `, "\n");
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 30 }),
        fc.integer({ min: 1, max: 60 }),
        async (pieces, length) => {
          const text = pieces.join("");
          const pages = await allPages(inMemory(Buffer.from(text, "latin1")), length);
          const shown = pages.map((page) =>
            Buffer.from(page.hex ?? page.text ?? "", page.hex === undefined ? "utf8" : "hex"),
          );
          expect(Buffer.concat(shown).toString("latin1")).toBe(redact(text));
        },
      ),
      { numRuns: 200 },
    );
    for (const no of ["\0", "\xff"]) {
      const artifact = inMemory(Buffer.from(`${no} ${SECRET}${no}`, "latin1"));
      for (let offset = 3; offset < SECRET.length; offset += 5) {
        const { hex, ...page } = await readArtifactPage(artifact, { offset, length: 8 }, redact);
        expect(page.offset).toBeLessThan(3);
        const shown = page.text ?? Buffer.from(hex ?? "", "hex").toString("latin1");
        expect(shown).not.toMatch(/horse|battery|staple/u);
      }
    }
  });

  test("of an empty one is empty; past the end there is none", async () => {
    verifies("UI-1");
    const empty = await readArtifactPage(inMemory(""), { offset: 0, length: 9 }, redact);
    expect(empty).toMatchObject({ offset: 0, text: "" });
    expect(empty.next_offset).toBeUndefined();
    const past = readArtifactPage(inMemory("abc"), { offset: 4, length: 9 }, redact);
    await expect(past).rejects.toThrow(
      "offset is past the end of the artifact, which has 3 bytes.",
    );
  });

  test("of a large one is read without the rest of it", async () => {
    verifies("UI-1");
    const artifact = inMemory(Buffer.alloc(12_000_000, "0123456789\n"));
    await readArtifactPage(artifact, { offset: 6_000_000, length: 65_536 }, redact);
    expect(artifact.read_bytes).toBeLessThan(300_000);
  });
});

describe("the line of a place", () => {
  test("is counted from the beginning once, no matter how many ask in between", async () => {
    verifies("UI-1");
    const text = Array.from({ length: 300_000 }, (_, i) => `line ${i}`).join("\n");
    const artifact = inMemory(text);
    const lines = createLineCounter();
    const { signal } = new AbortController();
    const places = [0, text.indexOf("line 299999"), text.indexOf("line 150000\n"), text.length];
    const asked = places.map((place) => lines.lineAt(artifact, place, signal));
    expect(await Promise.all(asked)).toEqual([1, 300_000, 150_001, 300_000]);
    artifact.read_bytes = 0;
    expect(await lines.lineAt(artifact, text.indexOf("line 299998"), signal)).toBe(299_999);
    expect(artifact.read_bytes).toBeLessThan(1024 * 1024);
  });

  test("is not counted for a client that has disconnected", async () => {
    verifies("UI-1");
    const artifact = inMemory(Buffer.alloc(5_000_000, "x\n"));
    const gone = AbortSignal.abort();
    await expect(createLineCounter().lineAt(artifact, 4_900_000, gone)).rejects.toThrow("aborted");
    expect(artifact.read_bytes).toBeLessThan(2_000_000);
  });
});
