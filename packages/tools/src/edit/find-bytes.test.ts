import fc from "fast-check";
import { expect, test } from "vitest";
import { bytesFinder } from "./find-places.ts";

function all(bytes: Buffer, wanted: Buffer): number[] {
  const next = bytesFinder(bytes, wanted);
  const found: number[] = [];
  for (let at = next(0); at !== -1; at = next(at + 1)) found.push(at);
  return found;
}

function naive(bytes: Buffer, wanted: Buffer): number[] {
  const found: number[] = [];
  for (let at = 0; at + wanted.length <= bytes.length; at += 1) {
    if (bytes.subarray(at, at + wanted.length).equals(wanted)) found.push(at);
  }
  return found;
}

test("every place is found, with any repetition", () => {
  const repeated = fc
    .tuple(fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 5 }), fc.nat({ max: 400 }))
    .map(([unit, times]) => unit.repeat(times));
  const text = fc
    .array(fc.oneof(repeated, fc.string({ maxLength: 40 })), { maxLength: 8 })
    .map((parts) => Buffer.from(parts.join("")));
  fc.assert(
    fc.property(text, fc.nat(), fc.nat({ max: 120 }), fc.boolean(), (bytes, start, size, alter) => {
      const from = bytes.length === 0 ? 0 : start % bytes.length;
      const wanted = Buffer.from(bytes.subarray(from, from + size + 1));
      if (alter && wanted.length > 0) wanted[wanted.length >> 1] = 0x21;
      fc.pre(wanted.length > 0);
      expect(all(bytes, wanted)).toEqual(naive(bytes, wanted));
    }),
    { numRuns: 400 },
  );
});

test("a piece that misleads at every byte does not hide the place", () => {
  const bytes = Buffer.concat([Buffer.alloc(5000, "a"), Buffer.from("b"), Buffer.alloc(5000, "a")]);
  const wanted = Buffer.concat([Buffer.alloc(60, "a"), Buffer.from("b")]);
  expect(all(bytes, wanted)).toEqual([4940]);
  expect(all(bytes, Buffer.alloc(4990, "a"))).toEqual(naive(bytes, Buffer.alloc(4990, "a")));
  const blocks = Buffer.from(`${"a".repeat(99)}b`.repeat(60));
  expect(all(blocks, Buffer.alloc(100, "a"))).toEqual([]);
  expect(all(Buffer.concat([blocks, Buffer.alloc(101, "a")]), Buffer.alloc(100, "a"))).toEqual([
    6000, 6001,
  ]);
});

test("what is found step by step is what is there", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 34, maxLength: 44 });
  fc.assert(
    fc.property(letters, letters, fc.nat({ max: 40 }), (start, rest, cut) => {
      const wanted = Buffer.from(`ab${start}`);
      // The beginning of it over and over, until the piece is given up.
      const misleading = `${wanted.toString().slice(0, -1)}!`.repeat(1001);
      const near = wanted.toString().slice(0, cut) + wanted.toString();
      const bytes = Buffer.from(`${misleading}${near}${near}${rest}${wanted.toString()}`);
      expect(all(bytes, wanted)).toEqual(naive(bytes, wanted));
    }),
    { numRuns: 30 },
  );
  // Falling back past a repetition inside the text.
  const wanted = Buffer.from(`${"ab".repeat(16)}aab${"ab".repeat(16)}c`);
  const near = `${"ab".repeat(16)}aab${"ab".repeat(16)}`;
  const bytes = Buffer.from(`${`${near}!`.repeat(1001)}${near}aab${"ab".repeat(16)}c`);
  expect(all(bytes, wanted)).toEqual(naive(bytes, wanted));
  expect(all(bytes, wanted)).toHaveLength(1);
});

test("repetition in both texts costs no more than their length", () => {
  const bytes = Buffer.alloc(3_000_000, "a");
  const wanted = Buffer.alloc(20_001, "a");
  wanted[10_000] = 0x62;
  expect(all(bytes, wanted)).toEqual([]);
  const broken = Buffer.from(`${"a".repeat(20_000)}b`.repeat(150));
  expect(all(broken, Buffer.alloc(20_001, "a"))).toEqual([]);
});
