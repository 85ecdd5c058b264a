import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { foldCase, isWithin, findParent, pathProblem } from "./path.ts";

describe("canonical paths", () => {
  test.each(["/", "/p", "/p/a.ts", "/p/.hidden", "/p/..hidden", "/p/a..b", "/p/ü\n"])(
    "%j is one",
    (path) => {
      verifies("PATH-1");
      expect(pathProblem(path)).toBeUndefined();
    },
  );

  test.each([
    "",
    "p",
    "./p",
    "/p/",
    "//p",
    "/p//a",
    "/p/.",
    "/p/..",
    "/p/../q",
    "/p/./a",
    "/p\0",
    7,
    null,
  ])("%j is none", (path) => {
    verifies("PATH-1");
    expect(pathProblem(path)).toBeTypeOf("string");
  });

  test("a directory covers whole segments only", () => {
    verifies("PATH-2");
    expect(isWithin("/p", "/p")).toBe(true);
    expect(isWithin("/p", "/p/a/b")).toBe(true);
    expect(isWithin("/p", "/pp")).toBe(false);
    expect(isWithin("/p", "/")).toBe(false);
    expect(isWithin("/", "/anything")).toBe(true);
  });

  test("the parent of a top-level entry is the root", () => {
    expect([findParent("/a/b"), findParent("/a"), findParent("/")]).toEqual(["/a", "/", "/"]);
  });

  test("letters a case-insensitive disk takes for the same fold to the same", () => {
    verifies("PATH-3");
    expect(foldCase("/Home/U/.SSH")).toBe("/home/u/.ssh");
    expect(foldCase("/home/u/.\u017fsh")).toBe("/home/u/.ssh");
    expect(foldCase("/home/u/\u212aeys")).toBe("/home/u/keys");
    expect(foldCase("/e\u0301")).toBe(foldCase("/\u00c9"));
  });
});
