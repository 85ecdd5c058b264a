import { verifies } from "#laws";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  decodesWhole,
  decodeText,
  encodeText,
  type TextFormat,
  LEGACY_ENCODINGS,
} from "./text-format.ts";

const numRuns = process.env["SOONG_TEST_FULL"] === "1" ? 3000 : 300;
const character = fc.oneof(
  fc.constantFrom("a", "é", "漢", "😀", "\ufeff", "\ufffd", "\r", "\n", "\0"),
  fc.integer({ min: 0, max: 0xd7ff }).map((code) => String.fromCodePoint(code)),
  fc.integer({ min: 0xe000, max: 0x10ffff }).map((code) => String.fromCodePoint(code)),
);
const format = (encoding: TextFormat["encoding"], bom = false): TextFormat => ({
  encoding,
  bom,
  valid: true,
});

test("a text in Unicode comes back as it was, with its mark", () => {
  verifies("EDIT-4", "CODE-1");
  const text = fc.string({ unit: character });
  const unicode = fc.constantFrom("utf-8" as const, "utf-16le" as const, "utf-16be" as const);
  fc.assert(
    fc.property(text, unicode, fc.boolean(), (text, encoding, bom) => {
      const bytes = encodeText(text, format(encoding, bom));
      expect(bytes).toBeDefined();
      expect(decodeText(bytes!, format(encoding, bom))).toBe(text);
      expect(decodesWhole(bytes!, format(encoding, bom), true)).toBe(true);
    }),
    { numRuns },
  );
  expect(Buffer.from(encodeText("a", format("utf-16be", true))!)).toEqual(
    Buffer.of(0xfe, 0xff, 0, 0x61),
  );
  expect(Buffer.from(encodeText("a", format("utf-8", true))!)).toEqual(
    Buffer.of(0xef, 0xbb, 0xbf, 0x61),
  );
});

test("a mark in the middle of a text is content", () => {
  verifies("EDIT-4");
  for (const encoding of ["utf-8", "utf-16le", "utf-16be"] as const) {
    const bytes = encodeText("\ufeffa", format(encoding))!;
    expect(decodeText(bytes, format(encoding)), encoding).toBe("\ufeffa");
    expect(decodeText(bytes, format(encoding, true)), encoding).toBe("a");
  }
});

test.each(LEGACY_ENCODINGS)(
  "%s holds what its decoder knows, and says no to the rest",
  (encoding) => {
    verifies("EDIT-4");
    const bytes = fc.uint8Array({ maxLength: 60, size: "max" });
    fc.assert(
      fc.property(bytes, (bytes) => {
        const text = decodeText(bytes, format(encoding));
        const again = encodeText(text, format(encoding));
        if (again !== undefined) expect(decodeText(again, format(encoding))).toBe(text);
      }),
      { numRuns },
    );
    const known = fc
      .uint8Array({ minLength: 1, maxLength: 2 })
      .map((bytes) => decodeText(bytes, format(encoding)).replaceAll("\ufffd", ""));
    fc.assert(
      fc.property(fc.array(known, { maxLength: 20, size: "max" }), (parts) => {
        const encoded = encodeText(parts.join(""), format(encoding));
        expect(encoded).toBeDefined();
        expect(decodeText(encoded!, format(encoding))).toBe(parts.join(""));
      }),
      { numRuns },
    );
    const ascii = Array.from({ length: 0x5f }, (_, code) => String.fromCharCode(0x20 + code)).join(
      "",
    );
    const plain = `\t\r\n${ascii}`;
    expect(Buffer.from(encodeText(plain, format(encoding))!).toString("latin1")).toBe(plain);
    expect(encodeText("😀", format(encoding))).toBeUndefined();
    expect(encodeText("\ufffd", format(encoding))).toBeUndefined();
  },
);

test("every single-byte code comes back as the same byte", () => {
  verifies("EDIT-4");
  for (const encoding of LEGACY_ENCODINGS.slice(0, 13)) {
    const own = format(encoding);
    let known = 0;
    for (let byte = 0; byte <= 0xff; byte += 1) {
      const text = decodeText(Uint8Array.of(byte), own);
      if (text === "\ufffd") continue;
      known += 1;
      expect([...encodeText(text, own)!], `${encoding} ${byte}`).toEqual([byte]);
    }
    expect(known, encoding).toBeGreaterThan(0xff - 50);
  }
});

test("windows-1252 has its euro and its quotes, and a meaning for each byte", () => {
  verifies("EDIT-4", "CODE-1");
  const own = format("windows-1252");
  const text = decodeText(Uint8Array.of(0x80, 0x93, 0xe9, 0x94, 0x81, 0x9f), own);
  expect(text).toBe("€“é”\u0081Ÿ");
  expect([...encodeText(text, own)!]).toEqual([0x80, 0x93, 0xe9, 0x94, 0x81, 0x9f]);
  expect(encodeText("漢", own)).toBeUndefined();
  expect(encodeText("\u0080", own)).toBeUndefined();
});

test("of several codes for one character the first is written, which is the common one", () => {
  verifies("EDIT-4");
  expect([...encodeText("∵", format("shift_jis"))!]).toEqual([0x81, 0xe6]);
});

test("half a character is in no encoding", () => {
  verifies("EDIT-4");
  for (const encoding of ["utf-8", "utf-16le", "utf-16be", "windows-1252", "gb18030"] as const) {
    expect(encodeText("a\ud83d", format(encoding)), encoding).toBeUndefined();
    expect(encodeText("\ude00a", format(encoding)), encoding).toBeUndefined();
  }
});
