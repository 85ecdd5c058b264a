import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { utf8Length } from "@soong/schema";
import { sha256Hex, utf8Bytes } from "./digest.ts";

describe("the hash", () => {
  test.each([0, 1, 63, 4_095, 4_096, 100_000])("of %i characters is SHA-256", (length) => {
    const text = "é😀\ud800x".repeat(length).slice(0, length);
    const expected = createHash("sha256").update(text).digest("hex");
    expect(sha256Hex(text)).toBe(expected);
    expect(sha256Hex(utf8Bytes(text))).toBe(expected);
    expect(utf8Length(text)).toBe(utf8Bytes(text).length);
    expect(Buffer.from(utf8Bytes(text)).equals(Buffer.from(text))).toBe(true);
  });

  test("is the same without anything of the platform", () => {
    const text = "é😀\ud800x".repeat(5_000);
    const expected = [sha256Hex(text), Buffer.from(utf8Bytes(text)).toString("hex")];
    const { process, TextEncoder } = globalThis;
    try {
      Object.assign(globalThis, { process: undefined, TextEncoder: undefined });
      const bare = [sha256Hex(text), utf8Bytes(text)] as const;
      Object.assign(globalThis, { process, TextEncoder });
      expect([bare[0], Buffer.from(bare[1]).toString("hex")]).toEqual(expected);
    } finally {
      Object.assign(globalThis, { process, TextEncoder });
    }
  });
});
