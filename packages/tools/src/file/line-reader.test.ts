import { verifies } from "#laws";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeText, type TextFormat } from "../text/text-format.ts";
import { createLineReader, type LinesRead, type LinesWanted } from "./line-reader.ts";

const numRuns = process.env["SOONG_TEST_FULL"] === "1" ? 5000 : 400;

type Ask = Partial<LinesWanted> & { chunk?: number };

function read(bytes: Uint8Array, format: TextFormat, ask: Ask): LinesRead {
  const { chunk: chunkBytes = 1024, ...rest } = ask;
  const reader = createLineReader({
    format,
    startLine: 1,
    maxLines: 1000,
    maxBytes: 64 * 1024,
    size: bytes.length,
    redact: (text) => text,
    ...rest,
  });
  // One buffer for all chunks, as when a file is read: nothing may be kept of an earlier one.
  const buffer = Buffer.alloc(chunkBytes);
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const length = Buffer.from(bytes.subarray(at, at + chunkBytes)).copy(buffer);
    if (reader.take(buffer.subarray(0, length)) === "enough") break;
    buffer.fill(0x3f);
  }
  return reader.end();
}

const UTF8: TextFormat = { encoding: "utf-8", bom: false, valid: true };
const readText = (text: string, ask: Ask = {}) => read(Buffer.from(text), UTF8, ask);

describe("lines", () => {
  test("end in LF or CRLF; a lone CR is content, and nothing behind the last feed is no line", () => {
    verifies("CODE-1");
    const cases: [string, string, number, LinesRead["lineEnding"]][] = [
      ["a", "a", 1, "none"],
      ["a\n", "a\n", 1, "lf"],
      ["a\nb", "a\nb", 2, "lf"],
      ["\n", "\n", 1, "lf"],
      ["\n\n", "\n\n", 2, "lf"],
      ["a\r\nb\r\n", "a\nb\n", 2, "crlf"],
      ["a\r\nb\n", "a\nb\n", 2, "mixed"],
      ["a\rb\n", "a\rb\n", 1, "lf"],
      ["a\r", "a\r", 1, "none"],
      ["a\r\r\nb", "a\r\nb", 2, "crlf"],
      ["\r\n\n\r", "\n\n\r", 3, "mixed"],
    ];
    for (const [raw, text, lineCount, lineEnding] of cases) {
      for (const chunk of [1, 2, 3, 1024]) {
        expect(readText(raw, { chunk }), JSON.stringify(raw)).toEqual({
          text,
          lineCount,
          totalLines: lineCount,
          cutLines: [],
          lineEnding,
          undecodable: false,
        });
      }
    }
  });

  test("that follow are announced, and none are where none follow", () => {
    verifies("CODE-1");
    expect(readText("a\nb\nc\n", { maxLines: 2 })).toMatchObject({
      text: "a\nb\n",
      nextStartLine: 3,
    });
    expect(readText("a\nb\nc\n", { maxLines: 2 }).totalLines).toBeUndefined();
    expect(readText("a\nb\n", { maxLines: 2 })).toMatchObject({ text: "a\nb\n", totalLines: 2 });
    expect(readText("a\nb\n", { maxLines: 2 }).nextStartLine).toBeUndefined();
    expect(readText("a\nb", { maxLines: 2 })).toMatchObject({ text: "a\nb", totalLines: 2 });
    expect(readText("a\nb", { maxLines: 1 })).toMatchObject({ text: "a\n", nextStartLine: 2 });
    expect(readText("a\nb\nc", { startLine: 3, maxLines: 1 })).toMatchObject({
      text: "c",
      totalLines: 3,
    });
  });

  test("past the end are none, and the reader knows how many there are", () => {
    verifies("CODE-1");
    const cases: [string, number][] = [
      ["a\nb\n", 2],
      ["a\nb", 2],
      ["\n", 1],
      ["ab", 1],
    ];
    for (const [text, totalLines] of cases) {
      for (const chunk of [1, 2, 1024]) {
        const past = readText(text, { startLine: totalLines + 1, chunk });
        expect(past, `${text}, ${chunk}`).toMatchObject({ text: "", lineCount: 0, totalLines });
        expect(readText(text, { startLine: 1e12, chunk }).totalLines).toBe(totalLines);
      }
    }
    const mark: TextFormat = { encoding: "utf-16le", bom: true, valid: true };
    for (const startLine of [1, 2]) {
      expect(read(Buffer.of(0xff, 0xfe), mark, { startLine })).toMatchObject({
        lineCount: 0,
        totalLines: 0,
      });
    }
  });
});

describe("a long line", () => {
  test("is cut to 4096 bytes on a character border, and said to be", () => {
    verifies("CODE-1");
    for (const [character, size] of [
      ["a", 1],
      ["é", 2],
      ["漢", 3],
      ["😀", 4],
    ] as const) {
      const fitting = character.repeat(Math.floor(4096 / size));
      for (const chunk of [7, 1024, 5000, 1 << 20]) {
        const text = `x\n${fitting}\n${fitting}${character}\r\nend`;
        const result = readText(text, { chunk });
        expect(result.text).toBe(`x\n${fitting}\n${fitting}\nend`);
        expect(result).toMatchObject({ cutLines: [3], totalLines: 4, undecodable: false });
      }
      // Shifted by a byte no character is broken either.
      const shifted = readText(`a${fitting}${character}`);
      expect(Buffer.byteLength(shifted.text)).toBeLessThanOrEqual(4096);
      expect(shifted.text).toMatch(/^a(é|漢|😀|a)*$/u);
    }
  });

  test("is cut however long it is, and the line behind it is found", () => {
    verifies("CODE-1");
    for (const length of [8192, 32 * 1024 - 1, 32 * 1024, 32 * 1024 + 1, 300_000]) {
      for (const end of ["\n", "\r\n"]) {
        const result = readText(`${"é".repeat(length)}${end}next${end}`, { chunk: 4096 });
        expect(result.text).toBe(`${"é".repeat(2048)}\nnext\n`);
        expect(result).toMatchObject({ cutLines: [1], totalLines: 2 });
        expect(result.lineEnding).toBe(end === "\n" ? "lf" : "crlf");
      }
    }
  });

  test("is measured as it is returned, in UTF-8", () => {
    verifies("CODE-1");
    const wide: TextFormat = { encoding: "utf-16be", bom: true, valid: true };
    const text = `${"漢".repeat(1365)}ab\n${"a".repeat(4096)}\n${"a".repeat(40_000)}\n`;
    const result = read(encodeText(text, wide)!, wide, { chunk: 1024 });
    expect(result.text).toBe(`${"漢".repeat(1365)}a\n${"a".repeat(4096)}\n${"a".repeat(4096)}\n`);
    expect(result.cutLines).toEqual([1, 3]);
    const old: TextFormat = { encoding: "windows-1252", bom: false, valid: true };
    expect(read(Buffer.alloc(4096, 0xe9), old, {}).text).toBe("é".repeat(2048));
    const damaged = read(Buffer.alloc(4096, 0xff), UTF8, {});
    expect(damaged.text).toBe("\ufffd".repeat(1365));
    expect(damaged).toMatchObject({ cutLines: [1], undecodable: true });
  });

  test("is not cut within a secret, nor within what the text behind the cut makes one", () => {
    verifies("CODE-1", "REDACT-1");
    const secret = "hunter-two-and-a-half";
    const redact = (text: string) => text.replaceAll(secret, "[redacted:X]");
    for (const shown of [0, 1, 10, 20, 21]) {
      const before = "é".repeat(2000) + "a".repeat(96 - shown);
      for (const rest of ["", "b".repeat(100_000)]) {
        const result = readText(`${before}${secret}${rest}b\n`, { redact });
        const expected = shown === 21 ? before + secret : before;
        expect(result.text, `${shown}`).toBe(`${expected}\n`);
        expect(result.cutLines).toEqual([1]);
      }
    }
    // A secret wholly inside is for anyone who redacts the result.
    expect(readText(`${secret}${"a".repeat(5000)}`, { redact }).text).toContain(secret);
    const two = readText(`${secret} ${"a".repeat(4060)}${secret}${secret}`, { redact }).text;
    expect(two).toMatch(/^\[redacted:X\] a+$/);
    // Half a pair is no character.
    const mark = { redact: (text: string) => text.replaceAll("😀SECRET", "😁") };
    expect(readText(`${"a".repeat(4090)}😀SECRET`, mark).text).toBe("a".repeat(4090));
  });
});

test("a page ends at a line border within its bytes, and has one line at least", () => {
  verifies("CODE-1");
  const text = "12345678\n".repeat(10);
  expect(readText(text, { maxBytes: 27 })).toMatchObject({ lineCount: 3, nextStartLine: 4 });
  expect(readText(text, { maxBytes: 26 })).toMatchObject({ lineCount: 2, nextStartLine: 3 });
  expect(readText(text, { maxBytes: 90 })).toMatchObject({ lineCount: 10, totalLines: 10 });
  expect(readText("12345678\n1234567", { maxBytes: 16 })).toMatchObject({ totalLines: 2 });
  expect(readText("12345678\n12345678", { maxBytes: 16 })).toMatchObject({ nextStartLine: 2 });
  expect(readText("a".repeat(100), { maxBytes: 64 })).toMatchObject({
    lineCount: 1,
    cutLines: [1],
  });
  expect(readText(`${"a".repeat(100)}\nb`, { maxBytes: 64 }).text).toBe(`${"a".repeat(63)}\n`);
});

test("bytes that do not decode are said to be, where they are shown", () => {
  verifies("CODE-1");
  const bytes = Buffer.concat([Buffer.from("a\n"), Buffer.of(0xff, 0x0a), Buffer.from("\ufffd\n")]);
  expect(read(bytes, UTF8, {})).toMatchObject({ text: "a\n\ufffd\n\ufffd\n", undecodable: true });
  expect(read(bytes, UTF8, { maxLines: 1 }).undecodable).toBe(false);
  // The very character that replaces them may be written in a file.
  expect(read(bytes, UTF8, { startLine: 3 }).undecodable).toBe(false);
  const behindTheCut = Buffer.concat([Buffer.alloc(5000, 0x61), Buffer.of(0xff)]);
  expect(read(behindTheCut, UTF8, {}).undecodable).toBe(false);
  const wide: TextFormat = { encoding: "utf-16le", bom: true, valid: true };
  const odd = Buffer.of(0xff, 0xfe, 0x61, 0, 0x0a, 0, 0x62);
  expect(read(odd, wide, {})).toMatchObject({
    text: "a\n\ufffd",
    undecodable: true,
    totalLines: 2,
  });
  expect(read(odd, wide, { startLine: 3 }).totalLines).toBe(2);
  // A stray byte at the end makes no line feed of the one before it.
  expect(read(Buffer.of(0xff, 0xfe, 0x61, 0x0a, 0), wide, { startLine: 9 }).totalLines).toBe(1);
});

test("half of one UTF-16 unit and half of the next are no line feed and no return", () => {
  verifies("CODE-1");
  for (const encoding of ["utf-16le", "utf-16be"] as const) {
    const format: TextFormat = { encoding, bom: true, valid: true };
    const text = "\u0a00\u0100\u0a0a\u000a\u0d00\u010d\u000d\u000a\u0a0d\u0d0a\u00a0\u0a00";
    for (const chunk of [2, 4, 1024]) {
      expect(read(encodeText(text, format)!, format, { chunk }).text).toBe(
        text.replace("\r\n", "\n"),
      );
      const second = read(encodeText(text, format)!, format, { chunk, startLine: 2, maxLines: 1 });
      expect(second.text).toBe("\u0d00\u010d\n");
      expect(read(encodeText(text, format)!, format, { chunk, startLine: 9 }).totalLines).toBe(3);
    }
  }
});

describe("page after page", () => {
  const character = fc.constantFrom("a", "b", "é", "漢", "😀", "\r", " ", "\u0a0d", "\ufeff");
  const line = fc.oneof(
    { weight: 6, arbitrary: fc.string({ unit: character, maxLength: 12 }) },
    { weight: 1, arbitrary: fc.string({ unit: character, minLength: 3, maxLength: 5 }) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(character, fc.constantFrom(1300, 1366, 2049, 4095, 4096, 4097, 9000))
        .map(([unit, times]) => unit.repeat(times)),
    },
  );
  const file = fc.record({
    lines: fc.array(fc.tuple(line, fc.constantFrom("\n", "\r\n")), { maxLength: 30 }),
    last: fc.oneof(fc.constant(""), line),
    encoding: fc.constantFrom("utf-8" as const, "utf-16le" as const, "utf-16be" as const),
    bom: fc.boolean(),
  });
  const limits = fc.record({
    chunk: fc.constantFrom(4, 6, 8, 10, 16, 64, 1000, 1 << 16),
    maxLines: fc.integer({ min: 1, max: 12 }),
    maxBytes: fc.constantFrom(8, 20, 60, 5000, 9000, 64 * 1024),
    startLine: fc.integer({ min: 1, max: 8 }),
  });

  test("no line is lost, repeated, or different from a plain reading of the file", () => {
    verifies("CODE-1");
    fc.assert(
      fc.property(file, limits, ({ lines, last, encoding, bom }, limits) => {
        const format: TextFormat = { encoding, bom: bom || encoding !== "utf-8", valid: true };
        const text = lines.map(([line, end]) => line + end).join("") + last;
        const bytes = encodeText(text, format)!;
        const { maxLines, maxBytes } = limits;
        const expected = plainLines(text, Math.min(4096, maxBytes - 1));

        let startLine = limits.startLine;
        const seen: string[] = [];
        const cut: number[] = [];
        let total: number | undefined;
        while (total === undefined) {
          const page = read(bytes, format, { ...limits, startLine });
          if (page.lineCount === 0) expect(startLine).toBeGreaterThan(page.totalLines ?? Infinity);
          expect(page.lineCount).toBeLessThanOrEqual(maxLines);
          expect(Buffer.byteLength(page.text)).toBeLessThanOrEqual(maxBytes);
          expect(page.text.match(/[^\n]*\n|[^\n]+$/g)?.length ?? 0).toBe(page.lineCount);
          const isFull = page.lineCount === maxLines;
          const following = expected[startLine - 1 + page.lineCount];
          if (page.nextStartLine !== undefined && !isFull) {
            // It stopped for its bytes only where the next line would have been too much.
            const more = Buffer.byteLength(page.text) + Buffer.byteLength(following!.shown);
            expect(more).toBeGreaterThan(maxBytes);
          }
          seen.push(page.text);
          cut.push(...page.cutLines);
          total = page.totalLines;
          startLine = page.nextStartLine ?? startLine;
        }
        const wanted = expected.slice(limits.startLine - 1);
        expect(total).toBe(expected.length);
        expect(seen.join("")).toBe(wanted.map(({ shown }) => shown).join(""));
        const cutExpected = expected.flatMap(({ isCut }, index) => (isCut ? [index + 1] : []));
        expect(cut).toEqual(cutExpected.filter((number) => number >= limits.startLine));
      }),
      { numRuns },
    );
  });

  /** What a reader without any limit of memory would do. */
  function plainLines(text: string, maxLineBytes: number): { shown: string; isCut: boolean }[] {
    const raw = text.split("\n");
    const last = raw.pop() ?? "";
    const lines = raw.map((line) => ({
      line: line.endsWith("\r") ? line.slice(0, -1) : line,
      end: "\n",
    }));
    if (last !== "") lines.push({ line: last, end: "" });
    return lines.map(({ line, end }) => {
      let kept = "";
      let bytes = 0;
      for (const character of line) {
        bytes += Buffer.byteLength(character);
        if (bytes > maxLineBytes) break;
        kept += character;
      }
      return { shown: kept + end, isCut: kept !== line };
    });
  }
});
