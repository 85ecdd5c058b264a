import { compilePolicy, type PermissionRule, type Policy, type PolicyInput } from "@soong/core";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { movePolicy as tryMove } from "./move-policy.ts";

const HERE = {
  roots: { project: "/here", write: ["/shared", "/only-here"] },
  home: "/home/worker",
  resolvePath: () => undefined,
};

function compile(rules: readonly PermissionRule[], more: Partial<PolicyInput> = {}): Policy {
  const roots = { project: "/there", write: ["/shared", "/only-there"] };
  const compiled = compilePolicy({ rules, roots, home: "/home/lead", ...more });
  if (!compiled.ok) throw new Error(compiled.problems.map(({ message }) => message).join());
  return compiled.policy;
}

function movePolicy(policy: Policy, here = HERE): Policy {
  const moved = tryMove(policy, here);
  if (!moved.ok) throw new Error(moved.problems.map(({ message }) => message).join());
  return moved.policy;
}

function listPaths({ input }: Policy): (string | undefined)[] {
  return (input.rules ?? []).map(({ path }) => path);
}

function deny(path: string): PermissionRule {
  return { tool: "code.*", path, decision: "deny" };
}

test("rules about the project of the dispatch are also about the worker's, and others stay", () => {
  verifies("PERM-12");
  const paths = ["secret", "/there/vault", "/there", "/thereafter/x", "/etc", "~/.ssh"];
  const moved = movePolicy(compile(paths.map(deny)), HERE);
  expect(moved.input.rules?.map(({ path }) => path)).toEqual([
    "secret",
    "/there/secret",
    "/there/vault",
    "/here/vault",
    "/there",
    "/here",
    "/thereafter/x",
    "/etc",
    "~/.ssh",
  ]);
  expect(moved.input.home).toBe("/home/worker");
});

test("a rule for the project of the dispatch alone is for the worker's alone", () => {
  const moved = movePolicy(compile([{ ...deny("a"), project: "/there" }]), HERE);
  expect(moved.input.rules?.[0]?.project).toBe("/here");
});

test("beside the project, only what both machines may write is written", () => {
  verifies("PERM-12");
  const { roots } = movePolicy(compile([]), HERE).input;
  expect(roots).toEqual({ project: "/here", write: ["/shared"] });
});

test("the ceilings of the dispatching run are moved, too", () => {
  verifies("PERM-12");
  const moved = movePolicy(compile([], { ceiling: compile([deny("/there/x")]) }), HERE);
  expect(moved.ceiling?.input.rules?.map(({ path }) => path)).toEqual(["/there/x", "/here/x"]);
});

test.each([
  ["~/work/vault", ["~/work/vault", "/srv/a\\[b\\]/vault"]],
  ["/home/lead", ["/home/lead", "/srv/a\\[b\\]"]],
  ["/home/*/work/*.pem", ["/home/*/work/*.pem", "/srv/a\\[b\\]/*.pem"]],
  ["/**/secret", ["/**/secret", "/srv/a\\[b\\]/**/secret"]],
  ["/home/lead/work/vault", ["/home/lead/work/vault", "/srv/a\\[b\\]/vault"]],
  ["/by/link/vault", ["/by/link/vault", "/home/lead/work/vault", "/srv/a\\[b\\]/vault"]],
  [
    "kept/x",
    ["kept/x", "/home/lead/work/kept/x", "/home/lead/work/real/x", "/srv/a\\[b\\]/real/x"],
  ],
  ["other/x", ["other/x", "/home/lead/work/other/x", "/data/x"]],
])(
  "a path that is denied as %s is denied in the worker's project, however it was named",
  (path, wanted) => {
    verifies("PERM-12");
    const there = "/home/lead/work";
    const links = {
      "/by/link/vault": `${there}/vault`,
      [`${there}/kept/x`]: `${there}/real/x`,
      [`${there}/other/x`]: "/data/x",
    };
    const policy = compile([deny(path)], { roots: { project: there, write: [] }, links });
    const here = { ...HERE, roots: { project: "/srv/a[b]", write: [] } };
    expect(new Set(listPaths(movePolicy(policy, here)))).toEqual(new Set(wanted));
  },
);

test("what is allowed in the project of the dispatch is allowed in the worker's, and nowhere else", () => {
  verifies("PERM-12");
  const allow = (path: string) => ({ ...deny(path), decision: "allow" }) as const;
  const rules = [allow("/there/a/**"), allow("/by/link/a"), { ...allow("b"), project: "/here" }];
  const policy = compile(rules, { links: { "/by/link/a": "/there/a" } });
  expect(listPaths(movePolicy(policy))).toEqual(["/here/a/**", "/by/link/a"]);
});

test("a program of the project, what is sensitive in it, and the directory for temporary files", () => {
  verifies("PERM-12");
  const rule = {
    tool: "code.run_command",
    argv: ["/there/deploy", "*"],
    decision: "deny",
  } as const;
  const given = compile([rule], { sensitive_paths: ["keys/*", "/there/pins", "*.key"] });
  const moved = movePolicy(given, { ...HERE, tmp_dir: "/tmp" } as typeof HERE);
  expect(moved.input.rules?.map(({ argv }) => argv?.[0])).toEqual([
    "/there/deploy",
    "/here/deploy",
  ]);
  expect(moved.input.sensitive_paths).toEqual(["keys/*", "/there/pins", "/here/pins", "*.key"]);
  expect(moved.input.tmp_dir).toBeUndefined();
});
