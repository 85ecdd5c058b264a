import { expect, test } from "vitest";
import { fitZoom } from "./plan-drawing.tsx";

test("a drawing fits its place, is never enlarged for it, and stays readable", () => {
  const room = { width: 800, height: 400 };
  expect(fitZoom({ width: 400, height: 100 }, room)).toBe(1);
  expect(fitZoom({ width: 1000, height: 100 }, room)).toBe(0.8);
  expect(fitZoom({ width: 100, height: 1000 }, room)).toBe(0.4);
  expect(fitZoom({ width: 28_000, height: 100 }, room)).toBe(0.25);
});
