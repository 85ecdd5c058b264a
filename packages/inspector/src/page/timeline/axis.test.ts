import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Lane } from "../../wire/session-records.ts";
import { measureExtent, moveExtent, placeTime, sinceText, placeTicks, zoomExtent } from "./axis.ts";
import { placeBars, measureLane, spansText } from "./spans.tsx";

describe("the axis of time", () => {
  it("reaches from the first moment to the last, and to now for what continues", () => {
    const ended = lane([["executing", 100, 200]]);
    const open = lane([
      ["queued", 50, 60],
      ["executing", 60, null],
    ]);
    expect(measureExtent([ended], [], 9_999)).toEqual({ from: 100, to: 203 });
    const extent = measureExtent([ended, open], [], 1_050)!;
    expect(extent.from).toBe(50);
    expect(extent.to).toBeGreaterThan(1_050);
    expect(measureExtent([], [], 5)).toBeUndefined();
  });

  it("has few marks, at round times since the beginning", () => {
    const labels = (to: number) => placeTicks({ from: 0, to }, 0, 5).map(({ label }) => label);
    expect(labels(1_000)).toEqual(["0:00.0", "0:00.2", "0:00.4", "0:00.6", "0:00.8", "0:01.0"]);
    expect(labels(60_000)).toEqual(["0:00", "0:15", "0:30", "0:45", "1:00"]);
    expect(labels(7_200_000)).toEqual(["0:00", "30:00", "1:00:00", "1:30:00", "2:00:00"]);
  });

  it("has no more marks than there is space for, and all of them in sight", () => {
    const time = fc.double({ min: 0, max: 2e12, noNaN: true });
    const length = fc.double({ min: 1, max: 1e11, noNaN: true });
    fc.assert(
      fc.property(
        time,
        length,
        time,
        fc.integer({ min: 1, max: 12 }),
        (from, length, origin, most) => {
          const extent = { from, to: from + length };
          const ticks = placeTicks(extent, origin, most);
          expect(ticks.length).toBeLessThanOrEqual(most + 1);
          for (const { time } of ticks) {
            expect(time).toBeGreaterThanOrEqual(extent.from - 1);
            expect(time).toBeLessThanOrEqual(extent.to + 1);
          }
        },
      ),
    );
  });

  it("has none while nothing is known", () => {
    expect(placeTicks({ from: 0, to: 1_000 }, Infinity, 5)).toEqual([]);
  });

  it("is as exact as its step", () => {
    expect(sinceText(3_250, 50)).toBe("0:03.25");
    expect(sinceText(3_251, 1)).toBe("0:03.251");
    expect(sinceText(-1_500, 100)).toBe("−0:01.5");
    expect(sinceText(3_725_000, 1_000)).toBe("1:02:05");
  });

  it("keeps the moment under the pointer where it is while one looks closer", () => {
    const whole = { from: 0, to: 1_000 };
    const closer = zoomExtent(whole, 0.5, 200, whole);
    expect(closer.to - closer.from).toBe(500);
    expect(placeTime(closer, 200)).toBeCloseTo(placeTime(whole, 200));
  });

  it("never leaves the whole", () => {
    const whole = { from: 100, to: 1_100 };
    const within = {
      from: fc.integer({ min: 100, max: 600 }),
      length: fc.integer({ min: 10, max: 500 }),
    };
    fc.assert(
      fc.property(
        within.from,
        within.length,
        fc.double({ min: 0.01, max: 100, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: -5_000, max: 5_000 }),
        (from, length, factor, part, by) => {
          const extent = { from, to: from + length };
          for (const next of [
            zoomExtent(extent, factor, from + length * part, whole),
            moveExtent(extent, by, whole),
          ]) {
            expect(next.from).toBeGreaterThanOrEqual(whole.from - 1e-6);
            expect(next.to).toBeLessThanOrEqual(whole.to + 1e-6);
            expect(next.to).toBeGreaterThan(next.from);
          }
        },
      ),
    );
  });
});

describe("the bars of a call", () => {
  const extent = { from: 0, to: 100 };

  it("are where they were, and continue until now", () => {
    const bars = placeBars(
      [
        ["queued", 10, 20],
        ["executing", 20, null],
      ],
      extent,
      50,
    );
    expect(bars).toEqual([
      { kind: "queued", left: 10, width: 10 },
      { kind: "executing", left: 20, width: 30 },
    ]);
  });

  it("are cut at the edges, and those outside are omitted", () => {
    expect(placeBars([["waiting", -50, 250]], extent, 0)).toEqual([
      { kind: "waiting", left: 0, width: 100 },
    ]);
    expect(
      placeBars(
        [
          ["queued", -9, -5],
          ["executing", 101, 120],
        ],
        extent,
        0,
      ),
    ).toEqual([]);
  });

  it("say in words what they show, each kind once", () => {
    const one = lane([
      ["waiting", 0, 30],
      ["executing", 30, 40],
      ["waiting", 40, null],
    ]);
    expect(spansText(one, 50)).toBe("waiting for the user 40 ms, executing 10 ms");
    expect(measureLane(one, 50)).toBe(50);
    expect(measureLane(lane([]), 50)).toBe(0);
  });
});

function lane(spans: Lane["spans"]): Lane {
  return {
    tool_call_id: "c",
    run_id: "r",
    agent_id: "a",
    tool_name: "t",
    seq: 1,
    state: "executing",
    spans,
  };
}
