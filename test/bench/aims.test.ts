// The aims of the bench: what counts as met, missed and not measured, and that every one names what is measured.
// The figures themselves are no test: `npm run bench -- --gate` has them.

import { describe, expect, it } from "vitest";
import { benchmarks } from "../../bench/benchmarks/index.mjs";
import { compareWithAims, describeAims, readAims } from "../../bench/gate.mjs";

const aim = { aim: "a call", benchmark: "call", row: "ours" };

function verdictsOf(figure: number): string[] {
  const rows = [{ name: "ours", value: figure, unit: "µs" }];
  const aims = [
    { ...aim, most: 2 },
    { ...aim, least: 2 },
  ];
  return compareWithAims(aims, [{ id: "call", rows }]).map(({ verdict }) => verdict);
}

describe("an aim", () => {
  it("is met on its bound and on the right side of it", () => {
    expect(verdictsOf(1)).toEqual(["met", "MISSED"]);
    expect(verdictsOf(2)).toEqual(["met", "met"]);
    expect(verdictsOf(3)).toEqual(["MISSED", "met"]);
  });

  it("against another row takes the median of the ratios of each round", () => {
    const rows = [
      { name: "ours", value: 20, series: [10, 20, 300] },
      { name: "theirs", value: 20, series: [10, 10, 100] },
    ];
    const [compared] = compareWithAims(
      [{ ...aim, against: "theirs", most: 2 }],
      [{ id: "call", rows }],
    );
    expect(compared).toMatchObject({ verdict: "met", figure: 2, unit: "×" });
  });

  it("of a table names a subject and a metric", () => {
    const of = (metric: string, median: number) => ({
      subject: "ours",
      metric,
      unit: "µs",
      series: [median],
      rounds: 1,
      median,
      min: median,
      quartiles: [median, median] as [number, number],
    });
    const results = [{ id: "call", rows: [of("us", 9), of("cpu", 1)] }];
    const [compared] = compareWithAims([{ ...aim, metric: "cpu", most: 2 }], results);
    expect(compared).toMatchObject({ verdict: "met", figure: 1, unit: "µs" });
  });

  it("is not measured when its benchmark did not run, and missed when that gave no figure", () => {
    const aims = [{ ...aim, most: 2 }];
    expect(compareWithAims(aims, [])).toMatchObject([{ verdict: "not measured" }]);
    expect(compareWithAims(aims, [{ id: "call" }])).toMatchObject([{ verdict: "MISSED" }]);
    const others = [{ name: "another", value: 1 }];
    expect(compareWithAims(aims, [{ id: "call", rows: others }])).toMatchObject([
      { verdict: "MISSED" },
    ]);
    const text = [{ name: "ours", value: "slow" }];
    expect(compareWithAims(aims, [{ id: "call", rows: text }])).toMatchObject([
      { verdict: "MISSED" },
    ]);
  });

  it("is printed with its figure and its bound", () => {
    const aims = [
      { ...aim, most: 2 },
      { ...aim, benchmark: "other", least: 3 },
    ];
    const results = [{ id: "call", rows: [{ name: "ours", value: 2.5, unit: "µs" }] }];
    const printed = describeAims(compareWithAims(aims, results));
    expect(printed).toContain("MISSED        call: a call: 2.50 µs, at most 2");
    expect(printed).toContain("not measured  other: a call: at least 3");
    expect(printed).toContain("0 met, 1 missed, 1 not measured");
  });
});

describe("aims.json", () => {
  it.each(readAims())(
    "$benchmark: $aim",
    ({ benchmark: id, row, metric, against, most, least }) => {
      expect([most, least].filter((bound) => bound !== undefined)).toHaveLength(1);
      const benchmark = benchmarks.find((one) => one.id === id);
      const rows = against === undefined ? [row] : [row, against];
      if (benchmark && "subjects" in benchmark) {
        expect(benchmark.subjects).toEqual(expect.arrayContaining(rows));
        expect(benchmark.metrics.map((one) => one.id)).toContain(metric);
      } else expect(benchmark?.rows).toEqual(expect.arrayContaining(rows));
    },
  );
});
