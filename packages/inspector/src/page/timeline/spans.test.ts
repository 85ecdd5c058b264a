import { expect, test } from "vitest";
import { sumPhases } from "./spans.tsx";

test("phases add up what was spent in each, in the order of a call's life", () => {
  const phases = sumPhases(
    [
      ["arriving", 0, 10],
      ["waiting", 10, 110],
      ["queued", 110, 115],
      ["waiting", 115, 215],
      ["executing", 215, null],
    ],
    1215,
  );
  expect(phases.map(({ kind, ms, is_open }) => [kind, ms, is_open])).toEqual([
    ["arriving", 10, false],
    ["queued", 5, false],
    ["waiting", 200, false],
    ["executing", 1000, true],
  ]);
});

test("a clock that was set back makes no phase negative", () => {
  expect(sumPhases([["executing", 100, 40]], 0)[0]?.ms).toBe(0);
});
