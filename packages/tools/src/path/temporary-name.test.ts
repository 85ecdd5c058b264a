import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { readTemporaryName, temporaryName } from "./temporary-file.ts";

const fileName = fc
  .string({ minLength: 1, maxLength: 255, unit: "grapheme" })
  .filter((name) => !/[/\0]/.test(name) && Buffer.byteLength(name) <= 255);

describe("a temporary name", () => {
  test("is a whole, valid and hidden name, and known as one of its target", () => {
    fc.assert(
      fc.property(fileName, (target) => {
        const name = temporaryName(target);
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
        expect(Buffer.from(name).toString()).toBe(name);
        expect(name.startsWith(".")).toBe(true);
        expect(temporaryName(target)).not.toBe(name);
        expect(readTemporaryName(name, target)).toBe("of_target");
      }),
    );
  });

  test("of another target is not taken for ours, even where a long name had to be cut", () => {
    const [a, b] = [`${"x".repeat(254)}a`, `${"x".repeat(254)}b`];
    expect(readTemporaryName(temporaryName(a), b)).toBe("of_another");
    expect(readTemporaryName(temporaryName(a), a)).toBe("of_target");
  });

  test("keeps as much of the target as fits", () => {
    expect(temporaryName("a.txt")).toMatch(/^\.a\.txt\.soong-[0-9a-f]{20}\.tmp$/);
    expect(Buffer.byteLength(temporaryName("x".repeat(255)))).toBe(255);
    expect(Buffer.byteLength(temporaryName("é".repeat(127)))).toBeGreaterThanOrEqual(254);
  });
});

test.each(["a", ".a.tmp", ".a.soong-12.tmp", "a.soong-0123456789abcdef0123.tmp", ".env"])(
  "%s is no temporary name",
  (name) => {
    expect(readTemporaryName(name, "a")).toBe("no");
  },
);
