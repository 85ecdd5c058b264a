// The `path` of a hook is the path of a rule (PERM-15): relative to the project, `~/`, through links, any Unicode form.

import { defineHook, type Resource } from "@soong/core";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { createWorld, reader } from "./world.ts";

async function firedFor(
  path: string,
  resources: Resource[],
  links: Record<string, string> = {},
): Promise<boolean> {
  let fired = false;
  const world = await createWorld({
    tools: [reader("notes.read", 0, { prepare: () => ({ resources }) })],
    hooks: [
      defineHook({
        id: "guard",
        event: "PreToolUse",
        path,
        run() {
          fired = true;
          return { decision: "deny", reason: "guarded" };
        },
      }),
    ],
    roots: { project: "/work/project", write: [] },
    policy: { home: "/home/me" },
    resolvePath: (given) => links[given] ?? given,
  });
  const [result] = await world.execute({ id: "1", name: "notes.read", arguments: {} });
  expect(result?.status).toBe(fired ? "denied" : "succeeded");
  return fired;
}

const reading = (path: string, more: object = {}): Resource[] => [
  { kind: "path", access: "read", path, ...more },
];

describe("a hook with a path", () => {
  test.each([
    ["secrets/**", "/work/project/secrets/a"],
    ["./secrets/**", "/work/project/secrets/a"],
    ["secrets", "/work/project/secrets/deep/a"],
    ["secrets/", "/work/project/secrets/a"],
    ["~/.config/**", "/home/me/.config/x"],
    ["/etc/passwd", "/etc/passwd"],
    ["gehe\u00edm", "/work/project/gehei\u0301m/a"],
  ])("%s is shown a call on %s", async (path, touched) => {
    verifies("PERM-15", "HOOK-1");
    expect(await firedFor(path, reading(touched))).toBe(true);
  });

  test.each([
    ["secrets/**", "/work/project/src/a"],
    ["secrets/**", "/elsewhere/secrets/a"],
    ["~/.config/**", "/work/project/.config/x"],
  ])("%s is not shown a call on %s", async (path, touched) => {
    verifies("PERM-15");
    expect(await firedFor(path, reading(touched))).toBe(false);
  });

  test("is shown a call on what its own links lead to, and on any further name of a target", async () => {
    verifies("PERM-15");
    const links = { "/work/project/link": "/srv/real" };
    expect(await firedFor("link/**", reading("/srv/real/a"), links)).toBe(true);
    const named = reading("/srv/other", { also: ["/work/project/secrets/a"] });
    expect(await firedFor("secrets/**", named)).toBe(true);
  });

  test.each(["~me/x", "a//b", "../x", "a**b"])(
    "%s cannot be compiled, and says so",
    async (path) => {
      verifies("PERM-15");
      await expect(firedFor(path, reading("/x"))).rejects.toThrow('hook "guard": path ');
    },
  );

  test("that is relative needs a project to begin in", async () => {
    verifies("PERM-15");
    const hook = defineHook({ id: "guard", event: "PreToolUse", path: "secrets/**", run() {} });
    await expect(createWorld({ hooks: [hook] })).rejects.toThrow(
      'hook "guard": path is relative, and there is no project directory',
    );
  });
});
