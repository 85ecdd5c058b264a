import { compilePolicy, type PermissionRule, type Policy, type PolicyInput } from "@soong/core";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { movePolicy } from "./ceiling.ts";

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

function deny(path: string): PermissionRule {
  return { tool: "code.*", path, decision: "deny" };
}

test("rules about the project of the dispatch are about the worker's, and others stay", () => {
  verifies("PERM-12");
  const paths = ["secret", "/there/vault", "/there", "/thereafter/x", "/etc", "~/.ssh"];
  const moved = movePolicy(compile(paths.map(deny)), HERE);
  expect(moved.input.rules?.map(({ path }) => path)).toEqual([
    "secret",
    "/here/vault",
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
  expect(moved.ceiling?.input.rules?.[0]?.path).toBe("/here/x");
});
