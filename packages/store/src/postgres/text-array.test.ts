import { expect, test } from "vitest";
import { encodeTexts } from "./text-array.ts";

test("a list of texts has its header, and each text behind its length in bytes", () => {
  const header = [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 25, 0, 0, 0, 3, 0, 0, 0, 1];
  const elements = [0, 0, 0, 2, 0xc3, 0xa9, 255, 255, 255, 255, 0, 0, 0, 0];
  expect([...encodeTexts(["é", null, ""])]).toEqual([...header, ...elements]);
});

test("a list without nulls says so", () => {
  expect(encodeTexts(["a"]).readInt32BE(4)).toBe(0);
});
