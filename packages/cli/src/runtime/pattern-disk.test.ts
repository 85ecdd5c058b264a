import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  checkPatterns,
  createKernel,
  defineHook,
  defineTool,
  type PatternWarning,
  type PermissionRule,
} from "@soong/core";
import { codeTools, readArtifactTool } from "@soong/tools";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { patternDisk } from "./places.ts";

const project = realpathSync(mkdtempSync(join(tmpdir(), "soong-patterns-")));

beforeAll(() => {
  mkdirSync(join(project, "secrets"));
  mkdirSync(join(project, "gehe\u00edm"));
  writeFileSync(join(project, "a.txt"), "");
  mkdirSync(join(project, "$KEPT"));
  writeFileSync(join(project, "my program"), "");
  symlinkSync("circle", join(project, "circle"));
  symlinkSync("nowhere", join(project, "dangling"));
});
afterAll(() => rmSync(project, { recursive: true }));

const wait = defineTool({
  name: "internal.wait",
  description: "Waits for a while.",
  input_schema: { type: "object" },
  handler() {},
});
const kernel = createKernel({
  tools: codeTools(),
  sources: [{ id: "artifacts", kind: "internal", tools: [readArtifactTool(), wait] }],
});
const WORLD = {
  tools: [...kernel.registry.snapshot().tools.values()],
  servers: [{ server_id: "github", tags: ["tickets"] }],
  agents: true,
  disk: patternDisk,
};
const PLACES = { roots: { project, write: [] }, home: project };

type Conditions = Partial<Omit<PermissionRule, "origin">>;

function check(rule: Conditions): PatternWarning[] {
  const rules = [{ decision: "deny", origin: { flag: "--deny x" }, ...rule } as PermissionRule];
  return checkPatterns({ rules, ...PLACES }, [], WORLD);
}

describe("a rule that can match nothing", () => {
  test.each<[Conditions, string]>([
    [{ tool: "code.run_comand" }, 'matches no tool; did you mean "code.run_command"?'],
    [{ tool: "code.readfile" }, 'matches no tool; did you mean "code.read_file"?'],
    [{ tool: "cod.*" }, 'matches no tool; did you mean "code.*"?'],
    [{ tool: "nothing.like.it" }, "matches no tool"],
    [{ tool: "mcp.githb.*" }, 'no MCP server "githb" is configured; did you mean "github"?'],
    [{ tags: ["dangeros"] }, '"dangeros", which no tool has; did you mean "dangerous"?'],
    [{ tool: "code.read_file", tags: ["dangerous"] }, '"code.read_file" matches has all of them'],
    [{ argv: ["rm -rf"] }, 'the name of the program; write argv = ["rm","-rf"]'],
    [{ argv: ["git push", "**"] }, 'write argv = ["git","push","**"]'],
    [{ tool: "code.read_file", argv: ["rm"] }, '"code.read_file" runs no commands'],
    [{ tool: "mcp.github.*", argv: ["rm"] }, '"mcp.github.*" runs no commands'],
    [{ tool: "internal.wait", path: "secrets/**" }, '"internal.wait" touches no paths'],
    [{ path: "secerts/**" }, 'did you mean "secrets"?'],
    [{ path: "/secrets/**" }, 'did you mean "secrets/**", in the project?'],
    [{ path: "/secrets" }, 'did you mean "secrets", in the project?'],
    [{ path: "/secrets/keys/*.txt" }, 'did you mean "secrets/keys/*.txt", in the project?'],
    [{ path: "a.txt/below/**" }, "a.txt is a file"],
    [{ path: "a.txt/below/**", decision: "allow" }, "a.txt is a file"],
    [{ path: "/no/such/way/at/all" }, "there is no /no"],
    [{ path: "$HOME/x" }, 'variables such as $HOME are not expanded; write "~/x"'],
    [{ path: "$HOME/x", decision: "allow" }, "are not expanded"],
    [{ path: "/home/$USER/**" }, "variables such as $USER are not expanded; write the path itself"],
    [{ path: "circle/**" }, "lead in a circle"],
  ])("is reported with what to write instead: %j", (rule, words) => {
    verifies("PERM-17");
    expect(check(rule)).toEqual([
      { kind: "never", where: "--deny x", message: expect.stringContaining(words) as string },
    ]);
  });

  test.each<[Conditions, string]>([
    [{ path: "migrations/**" }, "migrations"],
    [{ path: "~/.ssh/**" }, ".ssh"],
    [{ path: "dangling" }, "leads nowhere"],
  ])("is no warning where what it names may be made later: %j", (rule, words) => {
    verifies("PERM-17");
    expect(check(rule)).toEqual([
      { kind: "now", where: "--deny x", message: expect.stringContaining(words) as string },
    ]);
    expect(check({ ...rule, decision: "allow" })).toEqual([]);
  });

  test.each<Conditions>([
    { tool: "code.read_file" },
    { tool: "code.*" },
    { tool: "*" },
    { tool: "*.fetch" },
    { tool: "mcp.github.create_issue" },
    { tool: "mcp.*.delete" },
    { tags: ["network"] },
    { tags: ["tickets"] },
    { tags: ["write"] },
    { tool: "code.run_command", tags: ["readonly"] },
    { tool: "code.*", argv: ["rm"] },
    { argv: ["git", "commit", "-m", "two words"] },
    { argv: [join(project, "my program")] },
    { path: "secrets/**" },
    { path: "gehei\u0301m/**" },
    { tool: "mcp.github.*", path: "secrets/**" },
    { path: "**/.env*" },
    { path: "a.txt/**/x" },
    { path: "$KEPT/**" },
    { path: "secerts/**", decision: "allow" },
  ])("is reported only where that is certain: %j", (rule) => {
    verifies("PERM-17");
    expect(check(rule)).toEqual([]);
  });

  test("is not reported for tools that only a run has", () => {
    verifies("PERM-17");
    const rules = [{ tool: "agent.task_create", decision: "deny" as const }];
    expect(checkPatterns({ rules, ...PLACES }, [], { ...WORLD, agents: false })).toEqual([]);
    expect(checkPatterns({ rules, ...PLACES }, [], WORLD)).toHaveLength(1);
  });

  test.each([
    [{ tool: "code.reed_file" }, 'did you mean "code.read_file"?'],
    [{ tags: ["filesytem"] }, 'did you mean "filesystem"?'],
    [{ tool: "code.run_command", tags: ["readonly"] }, "has all of them"],
    [{ path: "$HOME/x" }, "are not expanded"],
    [{ path: "a.txt/x" }, "is a file"],
  ])("may be a hook, of a file or of code: %j", (conditions, words) => {
    verifies("PERM-17");
    const hook = defineHook({ id: "g", event: "PreToolUse", ...conditions, run() {} });
    const message = expect.stringContaining(words) as string;
    expect(checkPatterns(PLACES, [hook], WORLD)).toEqual([
      { kind: "never", where: 'hook "g"', message },
    ]);
    expect(checkPatterns(PLACES, [hook], { ...WORLD, hooksFile: "hooks.json" })).toEqual([
      { kind: "never", where: 'hooks.json, hook "g"', message },
    ]);
  });
});
