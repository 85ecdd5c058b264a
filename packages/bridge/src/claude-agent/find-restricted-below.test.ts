import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ANY_NAME, findRestrictedBelow, readGlob } from "./find-restricted-below.ts";

const signal = new AbortController().signal;

test("in a directory that is too large to look through, every restricted path may be reached", async () => {
  const root = { kind: "path", access: "search", path: createFolder() } as const;
  const restrictedGlobs = () => ["/**/private/**"];
  const context = { restrictedBy: () => undefined, restrictedGlobs, signal };
  const found = await findRestrictedBelow({ root, pattern: ANY_NAME }, context, 2);
  expect(found).toEqual([{ ...root, may_reach: ["/**/private/**"] }]);
});

test("a path that is sensitive by the user's own list requires approval, one by the built-in list only if its lines may be shown", async () => {
  const root = { kind: "path", access: "search", path: createFolder() } as const;
  const sensitive = (by: string) => ({
    restrictedBy: (path: string) =>
      path.endsWith("/b") ? ({ kind: "sensitive", decision: "ask", by } as const) : undefined,
    restrictedGlobs: () => ["/own/**"],
    signal,
  });
  const walked = { root, pattern: ANY_NAME };
  expect(await findRestrictedBelow(walked, sensitive(".env"))).toEqual([root]);
  const shown = [{ ...root, sensitive: true, reason: `the call may show "${root.path}/b"` }];
  const lines = { ...walked, showsContent: true };
  expect(await findRestrictedBelow(lines, sensitive(".env"))).toEqual(shown);
  expect(await findRestrictedBelow(walked, sensitive("/own/**"))).toEqual(shown);
});

test("what other packages ship is not looked at for sensitive files", async () => {
  const root = { kind: "path", access: "search", path: createFolder() } as const;
  mkdirSync(join(root.path, "a/node_modules/b"), { recursive: true });
  const context = {
    restrictedBy: (path: string) =>
      path.includes("node_modules/b")
        ? ({ kind: "sensitive", decision: "ask", by: ".env" } as const)
        : undefined,
    restrictedGlobs: () => [],
    signal,
  };
  const walked = { root, pattern: ANY_NAME, showsContent: true };
  expect(await findRestrictedBelow(walked, context)).toEqual([root]);
});

test("a glob that leads up after a wildcard may lead anywhere", () => {
  expect(readGlob("src/*/../../../etc/x")).toEqual({ start: "/", pattern: ANY_NAME });
  expect(readGlob("../private/*.ts").start).toBe("../private");
});

function createFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "claude-below-")));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const name of ["a", "b", "c"]) mkdirSync(join(folder, name));
  return folder;
}
