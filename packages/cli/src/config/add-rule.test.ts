import { chmod, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { lstatSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PermissionRule } from "@soong/core";
import { verifies } from "#laws";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  addRule,
  addRules,
  ConfigChanged,
  planRules,
  readRule,
  readRuleLine,
  ruleLine,
} from "./add-rule.ts";
import { loadConfig } from "./load-config.ts";
import { ConfigError } from "./parse-config.ts";

let home: string;
let file: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "soong-add-rule-"));
  file = join(home, "config.toml");
});
afterEach(() => rm(home, { recursive: true, force: true }));

const RULE: PermissionRule = {
  tool: "code.run_command",
  argv: ["/usr/bin/npm", 'a "b" \\ \u0001\u007f é'],
  exact_argv: true,
  project: "/project",
  decision: "allow",
};

async function rules(): Promise<object[]> {
  const { values } = await loadConfig({ home });
  return values.permissions.rules.map(({ origin: _origin, ...rule }) => rule);
}

describe("a rule that is kept", () => {
  it.each([
    ["", ""],
    ["# mine\n\n[model]\nretries = 3   # often\n", "\n"],
    ["[[permissions.rules]]\r\ntool = 'code.*'\r\ndecision = 'ask'", "\r\n\r\n"],
  ])("goes to the end of %j, and the rest stays as it is", async (before, gap) => {
    verifies("PERM-18");
    await writeFile(file, before, { mode: 0o600 });
    expect(await addRule(home, RULE)).toBe(file);
    const text = await readFile(file, "utf8");
    expect(text.startsWith(`${before}${gap}[[permissions.rules]]`)).toBe(true);
    expect((await rules()).at(-1)).toEqual(RULE);
    expect(lstatSync(file).mode & 0o777).toBe(0o600);
    expect(await readdir(home)).toEqual(["config.toml"]);
  });

  it("makes a config where there is none, and follows the user's own link", async () => {
    verifies("PERM-18");
    await addRule(home, RULE);
    expect(await rules()).toEqual([RULE]);
    const target = join(home, "dotfile.toml");
    await writeFile(target, "", { mode: 0o600 });
    await rm(file);
    await symlink(target, file);
    await addRule(home, RULE);
    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(await rules()).toEqual([RULE]);
  });

  it("is refused where the config would not be sound, and nothing is written", async () => {
    verifies("PERM-18");
    for (const before of ["[permissions]\nrules = []\n", "[model\n", "nonsense = 1\n"]) {
      await writeFile(file, before, { mode: 0o600 });
      await expect(addRule(home, RULE)).rejects.toThrow("config.toml");
      expect(await readFile(file, "utf8")).toBe(before);
    }
    await writeFile(file, "", { mode: 0o600 });
    const bad = { ...RULE, tool: "no dot" };
    await expect(addRule(home, bad)).rejects.toThrow("config.toml");
    expect(await readFile(file, "utf8")).toBe("");
  });

  it("is not lost when several are added at once", async () => {
    verifies("PERM-18");
    const tools = Array.from({ length: 10 }, (_, index) => `code.tool_${index}`);
    await Promise.all(tools.map((tool) => addRule(home, { tool, decision: "allow" })));
    const kept = (await rules()).map((rule) => (rule as PermissionRule).tool);
    expect(new Set(kept)).toEqual(new Set(tools));
  });

  it("can be changed as a line, and only into another rule that allows", () => {
    verifies("PERM-18");
    expect(readRuleLine(ruleLine(RULE))).toEqual(RULE);
    expect(readRuleLine('{ tool = "code.*", decision = "deny" }')).toContain("allow");
    expect(readRuleLine('{ tool = "code.*", decison = "allow" }')).toContain("decision");
    expect(readRuleLine("tool")).toEqual(expect.any(String));
    expect(readRuleLine(`${ruleLine(RULE)}, ${ruleLine(RULE)}`)).toContain("one table");
  });
});

describe("a rule that is planned", () => {
  it("is written only if the file is still what it was, and never to a read-only one", async () => {
    verifies("PERM-18");
    await writeFile(file, "# mine\n", { mode: 0o600 });
    const planned = await planRules(home, [RULE]);
    expect(planned).toMatchObject({ file, before: "# mine\n", line: 3 });
    expect(planned.after.startsWith("# mine\n\n[[permissions.rules]]\n")).toBe(true);
    await writeFile(file, "# mine, changed\n");
    const isSame = (now: { after: string }) => now.after === planned.after;
    await expect(addRules(home, [RULE], isSame)).rejects.toThrow(ConfigChanged);
    expect(await readFile(file, "utf8")).toBe("# mine, changed\n");
    await writeFile(file, "# mine\n");
    await chmod(file, 0o400);
    await expect(addRule(home, RULE)).rejects.toThrow("is read-only; run chmod u+w");
    await chmod(file, 0o600);
    await addRules(home, [RULE], isSame);
    expect(await readFile(file, "utf8")).toBe(planned.after);
  });

  it("is read with or without its heading, alone, and with the lines of what was typed", () => {
    verifies("CONF-4");
    const lines = 'tool = "code.*"\ndecision = "deny"';
    expect(readRule(lines)).toEqual({ tool: "code.*", decision: "deny" });
    expect(readRule(`[[permissions.rules]]\n${lines}`)).toEqual(readRule(lines));
    expect(() => readRule(`${lines}\n[sandbox]\nmode = "off"`)).toThrow("nothing else");
    expect(() => readRule(`${lines}\n[[permissions.rules]]\n${lines}`)).toThrow("the rule");
    expect(() => readRule("")).toThrow(ConfigError);
    const [problem] = problemsOf(`${lines}\ndecison = "deny"`);
    expect(problem).toMatchObject({ line: 3 });
    const [mistyped] = problemsOf('tool = "no dot"\ndecision = "deny"');
    expect(mistyped).toMatchObject({ line: 1, field: "permissions.rules[0].tool" });
  });

  function problemsOf(text: string) {
    try {
      readRule(text);
    } catch (error) {
      return (error as ConfigError).problems;
    }
    return [];
  }
});
