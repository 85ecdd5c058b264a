import { expect, test } from "vitest";
import { defineHook, type AnyHook, type Hook } from "@soong/core";
import { verifies } from "#laws";
import { findMissingGuard, listGuards } from "./guards.ts";

const LEAD = { project: "/lead/p", home: "/home/lead" };
const WORKER = { project: "/srv/w", home: "/root" };

function hook(about: Partial<Hook<"PreToolUse">>): AnyHook {
  return defineHook({ id: "guard", event: "PreToolUse", run() {}, ...about });
}

test("hooks that can stop a call or change its result are guards, and others are not", () => {
  verifies("HOOK-1", "DIST-1");
  const events = ["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"] as const;
  const hooks = events.map((event) => ({ id: event, event, run() {} }));
  expect(listGuards(hooks, {}).map(({ id }) => id)).toEqual([
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
  ]);
});

test.each([
  ["relative", "secret/**", "secret/**", true],
  ["absolute in each project", "/lead/p/secret/**", "/srv/w/secret/**", true],
  ["relative here, absolute there", "secret/**", "/srv/w/secret/**", true],
  [
    "absolute in the project of the dispatch alone",
    "/lead/p/secret/**",
    "/lead/p/secret/**",
    false,
  ],
  ["outside of both", "/etc/**", "/etc/**", true],
  ["of the home of each", "~/.ssh/**", "~/.ssh/**", true],
  ["absolute in the home of each", "/home/lead/x", "/root/x", true],
  ["above one project only", "/lead/**", "/lead/**", false],
  ["above both", "/**", "/**", true],
  ["another place", "secret/**", "public/**", false],
  ["another depth", "*.env", "src/*.env", false],
])("a guard of a path that is %s", (_how, there, here, isSame) => {
  verifies("HOOK-1", "PERM-12", "DIST-1");
  const wanted = listGuards([hook({ path: there })], LEAD);
  const own = listGuards([hook({ path: here })], WORKER);
  // As a database may return it: in another order.
  const moved = JSON.parse(
    JSON.stringify(wanted, ["paths", "event", "id", "0", "1"]),
  ) as typeof wanted;
  const why = findMissingGuard(moved, own);
  if (isSame) expect(why).toBe(undefined);
  else
    expect(why).toContain(
      "the hook guard of the dispatching home can stop or change calls, and differs on this worker (paths).",
    );
});

test("a path through a link means where it leads", () => {
  verifies("HOOK-1", "PERM-12");
  const resolvePath = (path: string) => path.replace("/home/lead/link", "/lead/p");
  const [guard] = listGuards([hook({ path: "/home/lead/link/secret/**" })], {
    ...LEAD,
    resolvePath,
  });
  expect(guard?.paths).toEqual(["./secret/**", "~/link/secret/**"]);
});

test("what differs is named, and the order of tags is no difference", () => {
  verifies("HOOK-1", "DIST-1");
  const wanted = listGuards([hook({ tags: ["write", "network"], tool: "code.*" })], LEAD);
  const same = listGuards([hook({ tags: ["network", "write"], tool: "code.*" })], WORKER);
  expect(findMissingGuard(wanted, same)).toBe(undefined);
  const own = listGuards(
    [hook({ tags: ["write"], tool: "code.*", on_failure: "continue" })],
    WORKER,
  );
  expect(findMissingGuard(wanted, own)).toContain("differs on this worker (tags, on_failure)");
  expect(findMissingGuard(wanted, [])).toContain("is missing on this worker. Give all machines");
});
