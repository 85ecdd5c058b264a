import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { planEdits, type TextEdit } from "./plan-edits.ts";
import type { PlannedText } from "./planned-text.ts";

// The model: the same rules over a decoded string, one character after the other, without any of the
// planner's parts. It knows UTF-8 without a mark, and no explanation of a miss.

type Outcome = { after: string } | { code: string };

interface Part {
  start: number;
  end: number;
  text: string;
}

function modelOf(before: string, edits: readonly TextEdit[]): Outcome {
  const parts: Part[] = [];
  let failure: string | undefined;
  for (const edit of edits) {
    if (edit.old === edit.new) return { code: "no_change" };
  }
  for (const edit of edits) {
    let relaxed = false;
    let places = edit.old.includes("\r") ? exactly(before, edit.old, edit) : [];
    if (places.length === 0) {
      relaxed = edit.old.includes("\r\n");
      places = loosely(before, edit.old.replaceAll("\r\n", "\n"), edit);
    }
    if (places.length === 0) failure ??= "text_not_found";
    else if (places.length > 1 && edit.replace_all !== true) failure ??= "ambiguous_edit";
    else {
      const wanted = relaxed ? edit.new.replaceAll("\r\n", "\n") : edit.new;
      const made = places.map(([start, end]) => ({
        start,
        end,
        text: inStyle(before, start, end, wanted),
      }));
      if (made.every(({ start, end, text }) => before.slice(start, end) === text)) {
        failure ??= "no_change";
      }
      parts.push(...made);
    }
  }
  if (failure !== undefined) return { code: failure };
  for (const one of parts) {
    for (const other of parts) {
      if (one !== other && one.start < other.end && other.start < one.end) {
        return { code: "overlapping_edits" };
      }
    }
  }
  let after = before;
  for (const { start, end, text } of parts.toSorted((a, b) => b.start - a.start)) {
    after = after.slice(0, start) + text + after.slice(end);
  }
  return { after };
}

function exactly(before: string, old: string, edit: TextEdit): [number, number][] {
  const found: [number, number][] = [];
  for (let at = 0; at <= before.length; at += 1) {
    if (!before.startsWith(old, at)) continue;
    found.push([at, at + old.length]);
    if (edit.replace_all === true) at += old.length - 1;
  }
  return found;
}

function loosely(before: string, old: string, edit: TextEdit): [number, number][] {
  const found: [number, number][] = [];
  for (let at = 0; at <= before.length; at += 1) {
    let end: number | undefined = at;
    for (const character of old) {
      if (character === "\n") end = afterBreak(before, end);
      else if (!before.startsWith(character, end)) end = undefined;
      // The carriage return of a line break is part of that, not a character.
      else if (character === "\r" && before[end + 1] === "\n") end = undefined;
      else end += character.length;
      if (end === undefined) break;
    }
    if (end === undefined) continue;
    found.push([at, end]);
    if (edit.replace_all === true) at = end - 1;
  }
  return found;
}

function afterBreak(before: string, at: number): number | undefined {
  if (before.startsWith("\r\n", at)) return at + 2;
  return before[at] === "\n" && before[at - 1] !== "\r" ? at + 1 : undefined;
}

function inStyle(before: string, start: number, end: number, text: string): string {
  if (text.includes("\r")) return text;
  const matched = before.slice(start, end).match(/\r?\n/g) ?? [];
  const own = /\r?\n/.exec(before.slice(end))?.[0];
  const above = before.slice(0, start).match(/\r?\n/g)?.at(-1);
  // With the carriage return at the end of the place itself, the line still ends in both.
  const line = own === "\n" && before[end - 1] === "\r" && before[end] === "\n" ? "\r\n" : own;
  let count = 0;
  return text.replaceAll("\n", () => {
    const style = matched[Math.min(count, matched.length - 1)] ?? line ?? above ?? "\n";
    count += 1;
    return style;
  });
}

const piece = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("a", "b", "aa", "ab", "é", "𝄞") },
  { weight: 4, arbitrary: fc.constantFrom("\n", "\r\n") },
  { weight: 1, arbitrary: fc.constantFrom("\r", "$&", "\\") },
  // In UTF-16 their bytes hold those of a line break, across units.
  { weight: 1, arbitrary: fc.constantFrom("\u0d41\u0a00\u4100", "\u4100\u0d00\u0a41") },
);
const someText = (maxLength: number): fc.Arbitrary<string> =>
  fc.array(piece, { maxLength }).map((pieces) => pieces.join(""));

/** A text and edits most of which name something that is there, as a reader without \r would. */
const cases = fc
  .record({ before: someText(14), count: fc.integer({ min: 1, max: 4 }) })
  .chain(({ before, count }) => {
    const characters = Array.from(before);
    const cut = fc
      .tuple(fc.nat({ max: characters.length }), fc.integer({ min: 1, max: 5 }), fc.boolean())
      .map(([from, size, plain]) => {
        const text = characters.slice(from, from + size).join("");
        return plain ? text.replaceAll("\r\n", "\n") : text;
      });
    const edit = fc.record(
      {
        old: fc.oneof({ weight: 4, arbitrary: cut }, someText(3)).map((old) => old || "a"),
        new: someText(4),
        replace_all: fc.boolean(),
      },
      { requiredKeys: ["old", "new"] },
    );
    return fc.record({
      before: fc.constant(before),
      edits: fc.array(edit, { minLength: count, maxLength: count }),
    });
  });

const RUNS = process.env.SOONG_TEST_FULL === "1" ? 20_000 : 1000;

function outcomeOf(planned: PlannedText, decode: (bytes: Buffer) => string): Outcome {
  return planned.ok ? { after: decode(Buffer.from(planned.after)) } : { code: planned.error.code };
}

test("the planner agrees with the plain model of its rules", () => {
  verifies("EDIT-2");
  const seen = new Map<string, number>();
  fc.assert(
    fc.property(cases, ({ before, edits }) => {
      const planned = planEdits(Buffer.from(before), edits, { create: false });
      const outcome = outcomeOf(planned, String);
      expect(outcome).toEqual(modelOf(before, edits));
      const kind = "code" in outcome ? outcome.code : "planned";
      seen.set(kind, (seen.get(kind) ?? 0) + 1);
    }),
    { numRuns: RUNS * 2 },
  );
  // The draws reach every outcome there is.
  expect([...seen.keys()].toSorted()).toEqual([
    "ambiguous_edit",
    "no_change",
    "overlapping_edits",
    "planned",
    "text_not_found",
  ]);
});

test("UTF-16 and marked UTF-8 files are edited as the same text in UTF-8 is", () => {
  verifies("EDIT-4");
  const marked = (bytes: Buffer, encoding: BufferEncoding): string => {
    expect(bytes.toString(encoding)[0]).toBe("\ufeff");
    return bytes.toString(encoding).slice(1);
  };
  fc.assert(
    fc.property(cases, ({ before, edits }) => {
      const plain = outcomeOf(planEdits(Buffer.from(before), edits, { create: false }), String);
      const wide = Buffer.from(`\ufeff${before}`, "utf16le");
      const options = { create: false };
      const little = outcomeOf(planEdits(wide, edits, options), (b) => marked(b, "utf16le"));
      const big = outcomeOf(planEdits(Buffer.from(wide).swap16(), edits, options), (b) =>
        marked(b.swap16(), "utf16le"),
      );
      const utf8 = outcomeOf(planEdits(Buffer.from(`\ufeff${before}`), edits, options), (b) =>
        marked(b, "utf8"),
      );
      expect({ little, big, utf8 }).toEqual({ little: plain, big: plain, utf8: plain });
    }),
    { numRuns: RUNS / 2 },
  );
});

test("the order of the edits does not matter", () => {
  verifies("EDIT-2");
  fc.assert(
    fc.property(cases, fc.nat(), ({ before, edits }, turn) => {
      const from = turn % edits.length;
      const turned = [...edits.slice(from), ...edits.slice(0, from)].toReversed();
      const one = planEdits(Buffer.from(before), edits, { create: false });
      const other = planEdits(Buffer.from(before), turned, { create: false });
      expect(other.ok).toBe(one.ok);
      if (one.ok) expect(other).toEqual(one);
    }),
    { numRuns: RUNS / 2 },
  );
});

test("of any bytes, those outside the spans stay and the spans make up the rest", () => {
  verifies("EDIT-4");
  const bytes = fc
    .array(
      fc.oneof(
        { weight: 6, arbitrary: piece.map((text) => Buffer.from(text)) },
        { weight: 2, arbitrary: fc.integer({ min: 1, max: 255 }).map((byte) => Buffer.of(byte)) },
        { weight: 1, arbitrary: fc.uint8Array({ maxLength: 3 }).map((some) => Buffer.from(some)) },
      ),
      { maxLength: 30 },
    )
    .map((parts) => Buffer.concat(parts));
  const edit = fc.record({
    old: piece,
    new: someText(3),
    replace_all: fc.constantFrom(true, true, false),
  });
  let planned = 0;
  fc.assert(
    fc.property(bytes, fc.array(edit, { minLength: 1, maxLength: 2 }), (before, edits) => {
      const copy = Buffer.from(before);
      const result = planEdits(before, edits, { create: false });
      expect(before.equals(copy)).toBe(true);
      if (!result.ok) return;
      planned += 1;
      const after = Buffer.from(result.after);
      let read = 0;
      let written = 0;
      for (const { start, end, text } of result.spans) {
        expect(start).toBeGreaterThanOrEqual(read);
        expect(end).toBeGreaterThan(start);
        const kept = before.subarray(read, start);
        expect(after.subarray(written, written + kept.length).equals(kept)).toBe(true);
        written += kept.length;
        expect(after.subarray(written, written + text.length).equals(text)).toBe(true);
        written += text.length;
        read = end;
      }
      expect(after.subarray(written).equals(before.subarray(read))).toBe(true);
    }),
    { numRuns: RUNS },
  );
  expect(planned).toBeGreaterThan(RUNS / 10);
});
