import { describe, expect, it } from "vitest";
import { createKeys } from "./keys.ts";

describe("the keys of the page", () => {
  it("act alone and in sequences", () => {
    const { keys, acted } = keysWith("t", "g s", "g t");
    expect(keys.press("t", 0)).toBe(true);
    expect(keys.press("g", 100)).toBe(true);
    keys.press("t", 200);
    keys.press("g", 300);
    keys.press("s", 400);
    expect(acted).toEqual(["t", "g t", "g s"]);
  });

  it("mean nothing when they are not bound", () => {
    const { keys, acted } = keysWith("g s");
    expect(keys.press("x", 0)).toBe(false);
    expect(keys.press("constructor", 0)).toBe(false);
    keys.press("g", 10);
    expect(keys.press("x", 20)).toBe(false);
    expect(keys.press("s", 30)).toBe(false);
    expect(acted).toEqual([]);
  });

  it("know whether the next one is the second of a sequence", () => {
    const { keys } = keysWith("g s");
    expect(keys.isBegun(0)).toBe(false);
    keys.press("g", 0);
    expect(keys.isBegun(1_000)).toBe(true);
    expect(keys.isBegun(5_000)).toBe(false);
    keys.press("s", 1_000);
    expect(keys.isBegun(1_001)).toBe(false);
  });

  it("forget the beginning of a sequence after a while", () => {
    const { keys, acted } = keysWith("g s", "s");
    keys.press("g", 0);
    keys.press("s", 5_000);
    expect(acted).toEqual(["s"]);
  });

  it("act for the last binding, until that is gone", () => {
    const { keys, acted } = keysWith("Escape");
    const end = keys.bind({ Escape: () => acted.push("inner") });
    keys.press("Escape", 0);
    end();
    end();
    keys.press("Escape", 1);
    expect(acted).toEqual(["inner", "Escape"]);
  });
});

function keysWith(...names: readonly string[]) {
  const keys = createKeys();
  const acted: string[] = [];
  keys.bind(Object.fromEntries(names.map((name) => [name, () => void acted.push(name)])));
  return { keys, acted };
}
