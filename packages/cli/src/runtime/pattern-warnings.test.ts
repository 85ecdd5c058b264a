import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineHook, type PermissionRule } from "@soong/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { patternWarnings, type KnownTools } from "./pattern-warnings.ts";

const project = realpathSync(mkdtempSync(join(tmpdir(), "soong-patterns-")));

beforeAll(() => {
  mkdirSync(join(project, "secrets"));
  writeFileSync(join(project, "a.txt"), "");
});
afterAll(() => rmSync(project, { recursive: true }));

const KNOWN: KnownTools = {
  names: ["code.read_file", "code.run_command", "internal.load_skill"],
  servers: ["github"],
  agents: false,
};

function warningsOf(rule: Partial<PermissionRule>, known: KnownTools = KNOWN): string[] {
  const rules = [{ decision: "deny", origin: { flag: "--deny x" }, ...rule } as PermissionRule];
  return patternWarnings({ rules, roots: { project, write: [] }, home: project }, [], known);
}

describe("a rule that can match nothing", () => {
  test.each([
    [{ tool: "code.run_comand" }, 'matches no tool; did you mean "code.run_command"?'],
    [{ tool: "code.readfile" }, 'matches no tool; did you mean "code.read_file"?'],
    [{ tool: "cod.*" }, 'matches no tool; did you mean "code.*"?'],
    [{ tool: "nothing.like.it" }, "matches no tool"],
    [{ tool: "mcp.githb.*" }, 'no MCP server "githb" is configured; did you mean "github"?'],
    [{ path: "secerts/**" }, 'did you mean "secrets"?'],
    [{ path: "a.txt/**/x" }, undefined],
    [{ path: "a.txt/below/**" }, "a.txt is a file"],
    [{ path: "/no/such/way/at/all" }, "there is no /no"],
  ])("is told with the nearest name: %j", (rule, words) => {
    verifies("PERM-17");
    const warnings = warningsOf(rule);
    if (words === undefined) expect(warnings).toEqual([]);
    else {
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toContain(words);
      expect(warnings[0]).toContain("--deny x: ");
    }
  });

  test.each([
    { tool: "code.read_file" },
    { tool: "code.*" },
    { tool: "*" },
    { tool: "*.fetch" },
    { tool: "mcp.github.create_issue" },
    { tool: "mcp.*.delete" },
    { tool: "agent.task_create" },
    { path: "secrets/**" },
    { path: "migrations/**" },
    { path: "**/.env*" },
    { path: "secerts/**", decision: "allow" as const },
  ])("is told only where that is certain: %j", (rule) => {
    verifies("PERM-17");
    expect(warningsOf(rule)).toEqual([]);
  });

  test("may be a hook, too", () => {
    verifies("PERM-17");
    const hook = defineHook({ id: "g", event: "PreToolUse", tool: "code.reed_file", run() {} });
    expect(patternWarnings({}, [hook], KNOWN)).toEqual([
      'hooks.json, hook "g": tool "code.reed_file" matches no tool; did you mean "code.read_file"?',
    ]);
  });
});
