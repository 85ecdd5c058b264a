import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ageText, durationText, instantText, momentText, zoneText } from "./time.ts";
import { findSeenRows, topToShow, findWindow } from "./virtual-list.tsx";

describe("the rows in sight", () => {
  const scrolled = { top: 240, height: 100, row_height: 24, count: 1_000 };

  it("are those of which a part can be seen, and some around them", () => {
    expect(findSeenRows(scrolled)).toEqual({ first: 10, end: 15 });
    expect(findWindow(scrolled, 4)).toEqual({ first: 6, end: 19 });
    expect(findWindow({ ...scrolled, top: 0 }, 4)).toEqual({ first: 0, end: 9 });
  });

  it("are never others than there are", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -500, max: 1e6 }),
        fc.nat(2_000),
        fc.nat(10_000),
        (top, height, count) => {
          const { first, end } = findWindow({ top, height, row_height: 24, count }, 4);
          expect(first).toBeGreaterThanOrEqual(0);
          expect(end).toBeLessThanOrEqual(count);
        },
      ),
    );
  });

  it("are moved only when a row is not wholly seen", () => {
    expect(topToShow(11, scrolled)).toBeUndefined();
    expect(topToShow(3, scrolled)).toBe(72);
    expect(topToShow(20, scrolled)).toBe(404);
  });
});

describe("times", () => {
  it("are as exact as one needs them", () => {
    expect([0, 840, 3_240, 59_960, 245_000, 7_800_000, 864e6].map(durationText)).toEqual([
      "0 ms",
      "840 ms",
      "3.2 s",
      "1 min 00 s",
      "4 min 05 s",
      "2 h 10 min",
      "10 days",
    ]);
  });

  it("have their day unless it is today", () => {
    const noon = new Date(2026, 0, 2, 12, 5).getTime();
    expect(momentText(noon, noon + 1_000)).toBe("12:05");
    expect(momentText(noon, noon + 24 * 3_600_000)).toBe("2026-01-02 12:05");
    expect(momentText(Number.NaN, noon)).toBe("");
    expect(instantText(noon + 30)).toBe("2026-01-02 12:05:00.030");
    expect(instantText(Number.NaN)).toBe("");
    expect(zoneText(noon)).toMatch(/^UTC([+-]\d{1,2}(:\d\d)?)?$/);
  });
});

describe("an age", () => {
  it("is few letters, and a day once it is long ago", () => {
    const now = Date.parse("2026-03-01T12:00:00.000Z");
    const ages = [0, 59e3, 60e3, 59 * 60e3, 3_600e3, 23 * 3_600e3, 86_400e3, 5 * 86_400e3];
    expect(ages.map((age) => ageText(now - age, now))).toEqual([
      "now",
      "now",
      "1 min",
      "59 min",
      "1 h",
      "23 h",
      "1 day",
      "5 days",
    ]);
    expect(ageText(now - 40 * 86_400e3, now)).toMatch(/^2026-01-2\d$/);
    expect(ageText(Number.NaN, now)).toBe("");
  });
});
