import { verifies } from "#laws";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeText, detectFormat, encodeText, type TextFormat } from "./text-format.ts";

const utf8 = (text: string): Buffer => Buffer.from(text, "utf8");
const legacy = (text: string, encoding: TextFormat["encoding"]): Uint8Array =>
  encodeText(text, { encoding, bom: false, valid: true })!;

describe("the encoding of bytes", () => {
  test("is UTF-8 where every byte says so, and of nothing at all", () => {
    verifies("CODE-1");
    const utf8Format = { encoding: "utf-8", bom: false, valid: true };
    for (const text of ["", "a", "plain\n", "größer 漢字 😀\r\n", "\ttab \x1b[31mred\x1b[0m\b\f"]) {
      expect(detectFormat(utf8(text), true), JSON.stringify(text)).toEqual(utf8Format);
    }
  });

  test("is recognised by a byte order mark", () => {
    verifies("CODE-1");
    const of = (bytes: number[]) => detectFormat(Uint8Array.from(bytes), true);
    expect(of([0xef, 0xbb, 0xbf])).toEqual({ encoding: "utf-8", bom: true, valid: true });
    expect(of([0xff, 0xfe])).toEqual({ encoding: "utf-16le", bom: true, valid: true });
    expect(of([0xfe, 0xff, 0, 0x61])).toEqual({ encoding: "utf-16be", bom: true, valid: true });
    expect(of([0xef, 0xbb, 0xbf, 0xe9])).toEqual({ encoding: "utf-8", bom: true, valid: false });
    expect(of([0xff, 0xfe, 0x3d, 0xd8])).toMatchObject({ encoding: "utf-16le", valid: false });
    expect(of([0xff, 0xfe, 0x61])).toMatchObject({ encoding: "utf-16le", valid: false });
    // UTF-32 begins like UTF-16.
    expect(of([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0]).encoding).toBe("binary");
    expect(of([0xef, 0xbb, 0xbf, 0x61, 0]).encoding).toBe("binary");
    // Two halves of neighbours are no zero unit.
    expect(of([0xff, 0xfe, 0x61, 0, 0, 0x62]).encoding).toBe("utf-16le");
  });

  test("is not spoiled by a character cut at the end of a sample, only at the end of all", () => {
    verifies("CODE-1");
    const whole = utf8("aé漢😀");
    for (let length = 1; length <= whole.length; length += 1) {
      const sample = whole.subarray(0, length);
      expect(detectFormat(sample, false), `${length}`).toEqual({
        encoding: "utf-8",
        bom: false,
        valid: true,
      });
    }
    const marked = Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), whole]);
    expect(detectFormat(marked.subarray(0, -1), false).valid).toBe(true);
    expect(detectFormat(marked.subarray(0, -1), true).valid).toBe(false);
    expect(detectFormat(Buffer.from("\ufeffa😀", "utf16le").subarray(0, -2), false).valid).toBe(
      true,
    );
    const cut = utf8(`${"ö".repeat(50)}😀`).subarray(0, -1);
    expect(detectFormat(cut, true)).toEqual({ encoding: "utf-8", bom: false, valid: false });
    expect(detectFormat(cut, false).valid).toBe(true);
  });

  test("stays UTF-8 where a few bytes are damaged", () => {
    verifies("CODE-1");
    const text = utf8("Über größere Häuser läßt sich streiten.\n");
    const damaged = Buffer.concat([text, Buffer.of(0xff, 0x0a), text]);
    expect(detectFormat(damaged, true)).toEqual({ encoding: "utf-8", bom: false, valid: false });
  });

  test.each([
    ["windows-1252", "Le café était fermé à cause de l’été, où “même” la mère coûte 5 € déjà.\n"],
    [
      "windows-1251",
      "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом.\n",
    ],
    [
      "koi8-r",
      "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом.\n",
    ],
    ["shift_jis", "これは日本語の文章です。漢字とひらがなとカタカナが混ざっています。\n"],
    ["euc-jp", "これは日本語の文章です。漢字とひらがなとカタカナが混ざっています。\n"],
    ["euc-kr", "이것은 한국어 문장입니다. 오늘은 날씨가 매우 좋습니다. 감사합니다.\n"],
    ["gb18030", "这是一个中文句子。今天的天气非常好,我们去公园散步吧。谢谢大家。\n"],
    ["big5", "這是一個中文句子。今天的天氣非常好,我們去公園散步吧。謝謝大家。\n"],
  ] as const)("is found by statistics for %s", (encoding, line) => {
    verifies("CODE-1");
    const bytes = legacy(line.repeat(8), encoding);
    const format = detectFormat(bytes, true);
    expect(format).toEqual({ encoding, bom: false, valid: true });
    expect(decodeText(bytes, format)).toBe(line.repeat(8));
    // A character cut at the end of a sample is no reason for another answer.
    expect(detectFormat(bytes.subarray(0, -3), false).encoding).toBe(encoding);
  });

  test("is what the beginning is in, though something later does not decode", () => {
    verifies("CODE-1");
    const line = "これは日本語の文章です。漢字とひらがなとカタカナが混ざっています。\n";
    const damage = Buffer.of(0xff, 0xff, 0x0a);
    const late = Buffer.concat([legacy(line.repeat(2000), "shift_jis"), damage]);
    expect(detectFormat(late, true)).toEqual({ encoding: "shift_jis", bom: false, valid: false });
    expect(detectFormat(late.subarray(0, 65_536), false)).toMatchObject({ encoding: "shift_jis" });
    // Wherever in a character the beginning is taken to end.
    for (const before of ["a", "ab"]) {
      const shifted = Buffer.concat([utf8(before), late]);
      expect(detectFormat(shifted, true).encoding).toBe("shift_jis");
    }
    const early = Buffer.concat([legacy(line.repeat(20), "shift_jis"), damage]);
    expect(detectFormat(early, true).encoding).not.toBe("shift_jis");
    // A whole character that is none is damage, wherever the sample ends.
    expect(detectFormat(Buffer.of(0x61, 0xc0, 0x80), false).encoding).toBe("windows-1252");
  });

  test("is taken for windows-1252 where statistics know nothing", () => {
    verifies("CODE-1");
    for (const bytes of [Buffer.of(0x61, 0xe9, 0x0a), Buffer.of(0x80), Buffer.of(0xfe, 0x61)]) {
      const expected = { encoding: "windows-1252", bom: false, valid: true };
      expect(detectFormat(bytes, true), bytes.toString("hex")).toEqual(expected);
    }
    const two = legacy("# 漢字\nx = 1\n", "shift_jis");
    expect(detectFormat(two, true).encoding).toBe("windows-1252");
  });

  test("is found where the first letters beyond ASCII come late", () => {
    verifies("CODE-1");
    const ascii = "plain words\n".repeat(12_000);
    const line =
      "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом.\n".repeat(
        8,
      );
    const bytes = Buffer.concat([utf8(ascii), legacy(line, "windows-1251")]);
    expect(detectFormat(bytes, true)).toMatchObject({ encoding: "windows-1251", valid: true });
    const damagedLate = Buffer.concat([utf8("größer\n"), utf8(ascii), Buffer.of(0xff)]);
    expect(detectFormat(damagedLate, true)).toEqual({
      encoding: "utf-8",
      bom: false,
      valid: false,
    });
  });

  test("gives a result for any bytes, and what it calls valid survives a round trip", () => {
    verifies("CODE-1");
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300, size: "max" }), (bytes) => {
        const format = detectFormat(bytes, true);
        const text = decodeText(bytes, format);
        if (!format.valid) return;
        expect(format.encoding).not.toBe("binary");
        const again = encodeText(text, format);
        if (again !== undefined) expect(decodeText(again, format)).toBe(text);
        if (format.encoding.startsWith("utf"))
          expect(Buffer.from(again!)).toEqual(Buffer.from(bytes));
      }),
    );
  });
});

describe("what is no text", () => {
  test("has NUL, or many control bytes, wherever its name may end", () => {
    verifies("CODE-1");
    const binary = (bytes: Uint8Array) => detectFormat(bytes, true).encoding === "binary";
    expect(binary(utf8(`${"text ".repeat(100)}\0`))).toBe(true);
    expect(binary(utf8("\x01\x02\x03\x04 abc"))).toBe(true);
    expect(binary(utf8("\x7f\x7f\x7f\x7f abc"))).toBe(true);
    expect(binary(utf8(`${"text ".repeat(100)}\x01\x7f`))).toBe(false);
    expect(binary(utf8("\x07\x08\t\n\x0b\f\r\x1a\x1b"))).toBe(false);
    expect(binary(utf8("\x0e\x0f\x19\x1c\x1f\x06"))).toBe(true);
    // Fewer are enough where it is not even UTF-8.
    const odd = Buffer.concat([utf8("word ".repeat(20)), Buffer.of(0xe9, 1, 2, 3)]);
    expect(binary(odd)).toBe(true);
    expect(binary(utf8("word ".repeat(20) + "é\x01\x02\x03"))).toBe(false);
  });

  test("is recognised by the beginning, as a reader who sees no more would", () => {
    verifies("CODE-1");
    const long = "words\n".repeat(20_000);
    expect(detectFormat(utf8(`${long}\0\0\0`), true)).toMatchObject({
      encoding: "utf-8",
      valid: true,
    });
    const wide = Buffer.from(`\ufeff${long}\0`, "utf16le");
    expect(detectFormat(wide, true)).toMatchObject({ encoding: "utf-16le", valid: true });
    expect(detectFormat(utf8(`${"\x01".repeat(40_000)}${long}`), true).encoding).toBe("binary");
  });

  test("decodes all the same, and is never encoded", () => {
    verifies("CODE-1");
    const format = detectFormat(Buffer.of(0, 1, 2), true);
    expect(format).toEqual({ encoding: "binary", bom: false, valid: false });
    expect(decodeText(Buffer.of(0x61, 0), format)).toBe("a\0");
    expect(encodeText("a", format)).toBeUndefined();
  });
});
