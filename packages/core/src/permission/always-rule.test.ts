import { verifies } from "#laws";
import { describe, expect, it } from "vitest";
import { alwaysRule, type AlwaysAbout } from "./always-rule.ts";
import type { PermissionFacts } from "./facts.ts";
import type { Judgement } from "./decision.ts";
import { evaluate } from "./evaluate.ts";
import { compilePolicy } from "./policy.ts";
import { NO_GRANTS } from "./grants.ts";
import type { PermissionRule } from "./permission-rule.ts";

const BY_DEFAULT = [
  { layer: "defaults", rule: "write", verdict: "ask", reason: "", decisive: true },
] as const;

function about(more: Partial<AlwaysAbout>): AlwaysAbout {
  return { tool_name: "code.write_file", scopes: [], resources: [], chain: BY_DEFAULT, ...more };
}

function run(...argv: string[]) {
  return { kind: "command" as const, executable: "/usr/bin/npm", argv, cwd: "/project" };
}

/** A command, and what a yes to it for the session covers. */
function ofCommand(...argv: string[]) {
  const command = run(...argv);
  return { resources: [command], scopes: [{ ...command, kind: "argv" as const }] };
}

describe("the rule of an always", () => {
  it("names the tool exactly, and the directory, the command or the host", () => {
    verifies("PERM-18");
    const scopes = [{ kind: "directory", path: "/project/a*b", access: "write" }] as const;
    expect(alwaysRule(about({ scopes }))).toEqual({
      tool: "code.write_file",
      path: "/project/a\\*b/*",
      decision: "allow",
    });
    const npmTest = ofCommand("npm", "test");
    expect(alwaysRule(about({ tool_name: "code.run_command", ...npmTest }))).toEqual({
      tool: "code.run_command",
      argv: ["npm", "test"],
      exact_argv: true,
      decision: "allow",
    });
    const host = { kind: "host", host: "example.org" } as const;
    const ofServer = { kind: "server_tool", server_id: "docs", tool_name: "get" } as const;
    expect(alwaysRule(about({ tool_name: "mcp.docs.get", scopes: [host, ofServer] }))).toEqual({
      tool: "mcp.docs.get",
      host: "example.org",
      decision: "allow",
    });
  });

  it("is not offered where no rule could say just that, or where a rule asks", () => {
    verifies("PERM-18");
    const directory = { kind: "directory", path: "/project", access: "write" } as const;
    const other = { kind: "directory", path: "/other", access: "write" } as const;
    const asks = [{ ...BY_DEFAULT[0], layer: "rules" as const }];
    for (const one of [
      about({}),
      about({ scopes: [{ kind: "input", digest: "d" }] }),
      about({ scopes: [directory, other] }),
      about(ofCommand("npm", "*")),
      about({ scopes: [directory], chain: asks }),
      about(ofCommand("./npm")),
      about({ ...ofCommand("npm"), canBeWritten: () => true }),
    ]) {
      expect(alwaysRule(one)).toBeUndefined();
    }
  });

  it("is offered where a rule asks only because it is unknown what the command runs, and then suffices", () => {
    verifies("PERM-18", "PERM-16");
    const deny: PermissionRule = { argv: ["rm", "**"], decision: "deny" };
    const allowed: PermissionRule = { tool: "code.run_command", decision: "allow" };
    for (const argv of [["npm", "test"], ["make"], ["node", "x.js"], ["sh", "-c", "$x"]]) {
      for (const rules of [[deny], [deny, allowed]]) {
        const { decision, chain, scopes, reason } = judged(rules, argv);
        expect(decision).toBe("ask");
        expect(reason).toContain("what this command runs cannot be determined");
        const rule = alwaysRule({
          tool_name: "code.run_command",
          resources: [run(...argv)],
          scopes,
          chain,
        });
        expect(rule).toMatchObject({ argv, exact_argv: true, decision: "allow" });
        expect(decided([...rules, ...(rule === undefined ? [] : [rule])], argv)).toBe("allow");
      }
    }
    const ask: PermissionRule = { argv: ["npm", "**"], decision: "ask" };
    const { chain, scopes } = judged([deny, ask], ["npm", "test"]);
    expect(alwaysRule(about({ ...ofCommand("npm", "test"), chain, scopes }))).toBeUndefined();
  });

  it("allows that call and no longer command, in its project only, and no deny or ask is lifted", () => {
    verifies("PERM-18", "PERM-7");
    const rule: PermissionRule = {
      tool: "code.run_command",
      argv: ["npm", "test"],
      exact_argv: true,
      project: "/project/",
      decision: "allow",
    };
    expect(decided([rule], ["npm", "test"])).toBe("allow");
    expect(decided([rule], ["npm", "test", "--", "x"])).toBe("ask");
    expect(decided([{ ...rule, project: "/elsewhere" }], ["npm", "test"])).toBe("ask");
    const others = { tool: "code.*", argv: ["npm", "**"] };
    expect(decided([rule, { ...others, decision: "deny" }], ["npm", "test"])).toBe("deny");
    expect(decided([rule, { ...others, decision: "ask" }], ["npm", "test"])).toBe("ask");
  });
});

function decided(rules: readonly PermissionRule[], argv: string[]): string {
  return judged(rules, argv).decision;
}

function judged(rules: readonly PermissionRule[], argv: string[]): Judgement {
  const policy = compilePolicy({
    rules,
    roots: { project: "/project", write: ["/project"] },
  });
  const facts: PermissionFacts = {
    tool_name: "code.run_command",
    permission: "write",
    tags: ["code", "write", "dangerous"],
    source_kind: "code",
    source_id: "code",
    effects: { read_only: false, concurrency_safe: false, destructive: true, open_world: false },
    resources: [run(...argv)],
    hosts: [],
  };
  if (!policy.ok) throw new Error(JSON.stringify(policy));
  return evaluate(policy.policy, facts, NO_GRANTS);
}
