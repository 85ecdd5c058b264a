import { verifies } from "#laws";
import fc from "fast-check";
import { expect, test } from "vitest";
import { countLineFeeds } from "./file-text.ts";

const byte = fc.oneof(fc.constantFrom(0x0a, 0x0b, 0x09, 0x8a, 0x00, 0xff, 0x80), fc.nat(0xff));

test("line feeds are counted right, beside anything and at any offset", () => {
  verifies("CODE-1");
  fc.assert(
    fc.property(
      fc.array(byte, { maxLength: 200, size: "max" }),
      fc.nat(5),
      fc.nat(5),
      (bytes, before, after) => {
        // Line feeds around a view do not count.
        const around = Buffer.concat([
          Buffer.alloc(before, 0x0a),
          Uint8Array.from(bytes),
          Buffer.alloc(after, 0x0a),
        ]);
        const memory = new Uint8Array(around).buffer;
        const view = Buffer.from(memory, before, bytes.length);
        expect(countLineFeeds(view)).toBe(bytes.filter((each) => each === 0x0a).length);
      },
    ),
  );
});

test("none are lost among very many, or among very many others", () => {
  verifies("CODE-1");
  for (const length of [1007, 1008, 1009, 4096, 100_003]) {
    expect(countLineFeeds(Buffer.alloc(length, 0x0a))).toBe(length);
    expect(countLineFeeds(Buffer.alloc(length, 0xff))).toBe(0);
    expect(countLineFeeds(Buffer.alloc(length, 0x8a))).toBe(0);
  }
});
