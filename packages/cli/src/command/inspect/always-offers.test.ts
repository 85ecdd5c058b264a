import type { PermissionRequest } from "@soong/core";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import { listAlwaysOffers } from "./always-offers.ts";

const rule = {
  tool: "code.run_command",
  argv: ["npm", "test"],
  exact_argv: true,
  decision: "allow",
} as const;
const prefix = {
  tool: "code.run_command",
  argv: ["npm", "test", "**"],
  decision: "allow",
} as const;

test("always is offered as the very lines, for the project and for every one, each with its scope", () => {
  verifies("PERM-18");
  const offers = listAlwaysOffers(
    {
      scopes: [],
      always_rule: rule,
      scope_choices: [
        { id: "exact", scopes: [], session_scope: "this", always_rule: rule },
        { id: "prefix", scopes: [], session_scope: "so", always_rule: prefix },
      ],
    },
    "/p",
  );
  expect(offers.map(({ scope }) => scope)).toEqual([undefined, "prefix"]);
  expect(offers[1]?.project).toBe(
    '[[permissions.rules]]\ntool = "code.run_command"\nargv = ["npm", "test", "**"]\nproject = "/p"\ndecision = "allow"',
  );
  expect(offers[1]?.everywhere).not.toContain("project");
});

test("a choice that is not the default is named, and what is no rule is not offered", () => {
  verifies("PERM-18");
  const choices = (always_rule: unknown) =>
    ({
      scopes: [],
      scope_choices: [
        { id: "exact", scopes: [], session_scope: "this" },
        { id: "prefix", scopes: [], session_scope: "so", always_rule },
      ],
    }) as Pick<PermissionRequest, "scopes" | "scope_choices">;
  expect(listAlwaysOffers(choices(prefix), "/p")).toMatchObject([{ scope: "prefix" }]);
  expect(listAlwaysOffers(choices(null), "/p")).toEqual([]);
  expect(listAlwaysOffers(choices("allow"), "/p")).toEqual([]);
});
