// A config that denies some program and allows another (PERM-16): what is spelled out is not asked about, and a yes holds.

import { expect, onTestFinished, test } from "vitest";
import type { PermissionRule } from "@soong/core";
import { verifies } from "#laws";
import { createWorkbench } from "./workbench.ts";

const DENY: PermissionRule = { argv: ["rm", "**"], decision: "deny" };
const npmTest = { argv: ["npm", "test"] };

async function open(rules: readonly PermissionRule[]) {
  const bench = await createWorkbench({
    rules: [DENY, ...rules],
    ask: async () => ({ decision: "allow_for_session" }),
  });
  onTestFinished(() => bench.close());
  await bench.write("package.json", '{ "scripts": { "test": "true" } }\n');
  return bench;
}

test("a rule that allows npm test is enough beside a deny on rm", async () => {
  verifies("PERM-16");
  const allow: PermissionRule = { tool: "code.run_command", ...npmTest, decision: "allow" };
  const bench = await open([allow]);
  expect((await bench.call("code.run_command", npmTest)).status).toBe("succeeded");
  expect(bench.asked).toEqual([]);
  expect(await bench.call("code.run_command", { argv: ["rm", "x"] })).toMatchObject({
    status: "denied",
  });
});

test("a yes for the session holds for npm test, and the question says why it was put and offers a rule", async () => {
  verifies("PERM-16", "PERM-5", "PERM-18");
  const bench = await open([{ tool: "code.run_command", decision: "allow" }]);
  for (let time = 0; time < 2; time += 1) {
    expect((await bench.call("code.run_command", npmTest)).status).toBe("succeeded");
  }
  expect(bench.asked).toHaveLength(1);
  expect(bench.asked[0]?.reason).toContain("what this command runs cannot be determined");
  expect(bench.asked[0]).toMatchObject({ always_rule: { ...npmTest, decision: "allow" } });
});

test("a rule on npm test covers neither options that choose another package nor another directory, unless it ends with **", async () => {
  verifies("PERM-16");
  const allow = (argv: string[]): PermissionRule => ({
    tool: "code.run_command",
    argv,
    decision: "allow",
  });
  const bench = await open([allow(["npm", "test"]), allow(["make", "**"]), allow(["ls"])]);
  await bench.write("other/package.json", '{ "scripts": { "test": "true" } }\n');
  const decided = async (argv: string[], cwd?: string) => {
    const given = { argv, ...(cwd === undefined ? {} : { cwd }) };
    return (await bench.run.explain({ name: "code.run_command", arguments: given })).outcome;
  };
  expect(await decided(["npm", "test"])).toBe("allow");
  expect(await decided(["npm", "test"], ".")).toBe("allow");
  expect(await decided(["npm", "test", "--prefix", "other"])).toBe("ask");
  expect(await decided(["npm", "test", "--script-shell=./sh"])).toBe("ask");
  expect(await decided(["npm", "test", "--", "--watch"])).toBe("ask");
  expect(await decided(["npm", "test"], "other")).toBe("ask");
  expect(await decided(["ls", "-l"])).toBe("allow");
  const wide = await createWorkbench({ rules: [allow(["npm", "test", "--", "**"])] });
  onTestFinished(() => wide.close());
  const outcome = async (argv: string[]) =>
    (await wide.run.explain({ name: "code.run_command", arguments: { argv } })).outcome;
  expect(await outcome(["npm", "test", "--", "--watch"])).toBe("allow");
  expect(await outcome(["npm", "test", "--prefix", "other"])).toBe("ask");
});

test("always is not offered for npm test in another directory, where its rule would not hold", async () => {
  verifies("PERM-18");
  const bench = await open([{ tool: "code.run_command", decision: "allow" }]);
  await bench.write("other/package.json", '{ "scripts": { "test": "true" } }\n');
  await bench.call("code.run_command", { ...npmTest, cwd: "other" });
  expect(bench.asked).toHaveLength(1);
  expect(bench.asked[0]).not.toHaveProperty("always_rule");
});
