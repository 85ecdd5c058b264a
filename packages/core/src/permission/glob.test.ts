import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { anyCharacter } from "../../../../test/any-character.ts";
import { compileGlob, escapeGlob, globProblem, globsInside, literalPrefix } from "./glob.ts";

const numRuns = process.env["SOONG_TEST_FULL"] === "1" ? 20_000 : 2_000;

describe("globs", () => {
  test.each([
    ["/p/src/**", "/p/src/a.ts", true],
    ["/p/src/**", "/p/src/deep/er/a.ts", true],
    ["/p/src/**", "/p/src", true],
    ["/p/src/**", "/p/srcs/a.ts", false],
    ["/p/src/", "/p/src/deep/a.ts", true],
    ["/p/src/*", "/p/src/a.ts", true],
    ["/p/src/*", "/p/src/deep/a.ts", false],
    ["/p/src/*", "/p/src/.hidden", true],
    ["/p/**/a.ts", "/p/a.ts", true],
    ["/p/**/a.ts", "/p/x/y/a.ts", true],
    ["/p/**/x/**/a.ts", "/p/x/1/x/2/a.ts", true],
    ["/p/**/x/**/a.ts", "/p/1/2/a.ts", false],
    ["/p/*.t?", "/p/name.ts", true],
    ["/p/*.t?", "/p/name.tsx", false],
    ["/p/?", "/p/😀", true],
    ["/p/a*b*c", "/p/aXbYbZc", true],
    ["/p/a*b*c", "/p/aXcYb", false],
    ["/p/app/\\[id\\]/*.tsx", "/p/app/[id]/page.tsx", true],
    ["/p/\\*", "/p/anything", false],
    ["/p/\\*", "/p/*", true],
    ["/**", "/", true],
    ["/", "/any/thing", true],
    ["/p/a.ts", "/p/axts", false],
  ])("%s against %s is %s", (glob, path, expected) => {
    verifies("CONF-4");
    expect(compileGlob(glob)(path)).toBe(expected);
  });

  test.each([
    ["", "is empty"],
    ["/p//a", "empty segment"],
    ["/p/../a", '".."'],
    ["/p/./a", '"."'],
    ["/p/a**", "must be alone"],
    ["/p/[ab]", "not a wildcard"],
    ["/p/{a,b}", "not a wildcard here; for alternatives, write a rule for each"],
    ["/p/a\\", 'ends a segment in "\\"'],
    ["/p/\0", "NUL"],
  ])("the glob %j is refused, because it would not do what it seems to", (glob, why) => {
    verifies("CONF-4");
    expect(globProblem(glob)).toContain(why);
    expect(() => compileGlob(glob)).toThrow(TypeError);
  });

  test("an escaped path matches itself and nothing else", () => {
    const anyPath = fc.array(
      fc
        .string({ minLength: 1, unit: anyCharacter })
        .filter((name) => !/^\.{1,2}$|[/\0]/.test(name)),
      { minLength: 1, maxLength: 4 },
    );
    fc.assert(
      fc.property(anyPath, anyPath, (some, other) => {
        const path = `/${some.join("/")}`;
        const glob = escapeGlob(path);
        expect(literalPrefix(glob)).toEqual({ path, rest: "" });
        expect(compileGlob(glob)(path)).toBe(true);
        expect(compileGlob(glob)(`/${other.join("/")}`)).toBe(path === `/${other.join("/")}`);
      }),
      { numRuns },
    );
  });

  test("a matcher agrees with a plain regular expression", () => {
    const segment = fc.oneof(
      fc.constantFrom("**", "*", "a", "b", "?", "a*", "*b", "a?", "*a*", "a*b*"),
      fc.string({ minLength: 1, maxLength: 4, unit: fc.constantFrom("a", "b", "*", "?") }),
    );
    const anyGlob = fc
      .array(segment, { minLength: 1, maxLength: 5 })
      .map((segments) => `/${segments.join("/")}`)
      .filter((glob) => globProblem(glob) === undefined);
    const anyPath = fc
      .array(fc.string({ minLength: 1, maxLength: 4, unit: fc.constantFrom("a", "b") }), {
        minLength: 1,
        maxLength: 5,
      })
      .map((segments) => `/${segments.join("/")}`);
    fc.assert(
      fc.property(anyGlob, anyPath, (glob, path) => {
        expect(compileGlob(glob)(path)).toBe(asRegExp(glob).test(path));
      }),
      { numRuns },
    );
  });

  test("a glob made to backtrack is still answered", () => {
    verifies("SCHEMA-8");
    const glob = `/${"*a".repeat(60)}/${"**/a/".repeat(60)}b`;
    expect(compileGlob(glob)(`/${"a".repeat(3000)}/${"a/".repeat(500)}c`)).toBe(false);
  });
});

function asRegExp(glob: string): RegExp {
  const parts = glob
    .split("/")
    .slice(1)
    .map((segment) => {
      if (segment === "**") return "(?:/[^/]+)*";
      return `/${segment.replaceAll("*", "[^/]*").replaceAll("?", "[^/]")}`;
    });
  return new RegExp(`^${parts.join("")}$`, "u");
}

describe("what a glob says of the inside of a directory", () => {
  const restricts = (glob: string) => (path: string) =>
    compileGlob(glob)(path) || compileGlob(/\/(?:\*\*)?$/.test(glob) ? glob : `${glob}/**`)(path);

  test.each([
    ["/p/a/x", "/p/a", ["x"]],
    ["/p/a", "/p/a", [""]],
    ["/p", "/p/a", [""]],
    ["/p/*/x*", "/p/a", ["x*"]],
    ["/**/a/x", "/p/a", ["x", "**/a/x"]],
    ["/q/**", "/p/a", []],
    ["/pp/a/x", "/p/a", []],
  ])("%s says of %s: %j", (glob, directory, expected) => {
    verifies("PERM-12");
    expect(globsInside(glob, directory)).toEqual(expected);
  });

  test("is the same for every path in it", () => {
    verifies("PERM-12");
    const name = fc.constantFrom("a", "b", "ab");
    const names = (least: number) =>
      fc.array(name, { minLength: least, maxLength: 3 }).map((list) => `/${list.join("/")}`);
    const segment = fc.constantFrom("a", "b", "*", "a*", "?", "**");
    const glob = fc
      .array(segment, { minLength: 1, maxLength: 4 })
      .map((list) => `/${list.join("/")}`);
    fc.assert(
      fc.property(glob, names(1), names(1), (given, directory, below) => {
        const inside = globsInside(given, directory);
        const moved = inside.map((rest) => (rest === "" ? "/here" : `/here/${rest}`));
        expect(moved.some((one) => restricts(one)(`/here${below}`))).toBe(
          restricts(given)(`${directory}${below}`),
        );
      }),
      { numRuns },
    );
  });
});
