import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import type { Effects, Resource } from "../tool/index.ts";
import type { Decision } from "./decision.ts";
import { evaluate } from "./evaluate.ts";
import type { PermissionFacts } from "./facts.ts";
import { createGrants, NO_GRANTS } from "./grants.ts";
import type { GrantScope } from "./grants.ts";
import {
  compilePolicy,
  compileRecordedPolicy,
  describePolicy,
  mergePolicies,
  type Policy,
  type PolicyInput,
} from "./policy.ts";

const READS: Effects = {
  read_only: true,
  concurrency_safe: true,
  destructive: false,
  open_world: false,
  repeatable: true,
};
const WRITES: Effects = { ...READS, read_only: false, concurrency_safe: false, repeatable: false };
const DESTROYS: Effects = { ...WRITES, destructive: true };

describe("defaults", () => {
  test.each<[string, Partial<PermissionFacts>, Decision, string]>([
    ["a read", {}, "allow", "defaults.readonly_allowed"],
    ["a write", { effects: WRITES }, "ask", "defaults.write_asks"],
    [
      "a declarative write",
      { effects: WRITES, source_kind: "declarative" },
      "ask",
      "defaults.write_asks",
    ],
    ["a dangerous read", { tags: ["dangerous"] }, "ask", "defaults.dangerous_asks"],
    ["a network read", { tags: ["network"], hosts: ["a.org"] }, "ask", "defaults.network_asks"],
    [
      "a read of a host it planned",
      { resources: [{ kind: "host", host: "a.org" }] },
      "ask",
      "defaults.network_asks",
    ],
    ["an MCP call", { source_kind: "mcp", tool_name: "mcp.git.log" }, "ask", "defaults.mcp_asks"],
    [
      "bookkeeping",
      { source_kind: "internal", effects: DESTROYS },
      "allow",
      "defaults.own_allowed",
    ],
    [
      "an agent starter",
      { source_kind: "agent", effects: WRITES },
      "allow",
      "defaults.own_allowed",
    ],
    [
      "dangerous bookkeeping",
      { source_kind: "internal", tags: ["dangerous"] },
      "ask",
      "defaults.dangerous_asks",
    ],
  ])("%s", (_what, facts, decision, rule) => {
    verifies("PERM-3", "SURF-10");
    const judged = evaluate(policy(), call(facts), NO_GRANTS);
    expect(judged.decision).toBe(decision);
    expect(decisive(judged).rule).toBe(rule);
  });

  test("an MCP tool the user marked readonly is allowed, but not on its server's word alone", () => {
    verifies("PERM-3", "MCP-6");
    const marked = policy({ readonly_mcp: ["mcp.git.*"] });
    const facts = { source_kind: "mcp", source_id: "git", tool_name: "mcp.git.log" } as const;
    expect(evaluate(marked, call(facts), NO_GRANTS).decision).toBe("allow");
    expect(evaluate(policy(), call(facts), NO_GRANTS).decision).toBe("ask");
    expect(evaluate(marked, call({ ...facts, effects: WRITES }), NO_GRANTS).decision).toBe("ask");
  });

  test("a destructive call asks, and is denied where config says so", () => {
    verifies("PERM-9");
    const strict = policy({ destructive: "deny", rules: [{ tool: "*", decision: "allow" }] });
    const judged = evaluate(strict, call({ effects: DESTROYS }), NO_GRANTS);
    expect([judged.decision, judged.code]).toEqual(["deny", "destructive_denied"]);
    expect(rulesOf(evaluate(policy(), call({ effects: DESTROYS }), NO_GRANTS))).toContain(
      "defaults.destructive_asks",
    );
    // The plan knows this very call better than the definition did.
    const harmless = call({ effects: DESTROYS, planned_destructive: false });
    expect(evaluate(strict, harmless, NO_GRANTS).decision).toBe("allow");
    const harmful = call({ effects: WRITES, planned_destructive: true });
    expect(evaluate(strict, harmful, NO_GRANTS).decision).toBe("deny");
    // Nothing is destroyed by reading.
    const read = call({ effects: READS, planned_destructive: true });
    expect(evaluate(strict, read, NO_GRANTS).decision).toBe("allow");
  });
});

describe("layers", () => {
  test("a deny wins over every allow, wherever each is", () => {
    verifies("PERM-2");
    const rules = [
      { tool: "code.write_file", decision: "deny", reason: "frozen for the release" },
      { tool: "code.write_file", decision: "allow" },
    ] as const;
    for (const order of [rules, rules.toReversed()]) {
      const judged = evaluate(policy({ rules: order }), write("/p/a.ts"), NO_GRANTS);
      expect(judged).toMatchObject({
        decision: "deny",
        code: "policy_denied",
        reason: "frozen for the release",
      });
    }
  });

  test("inside a layer ask beats allow, and a higher layer beats a lower one", () => {
    verifies("PERM-2");
    const allow = { tool: "code.*", decision: "allow" } as const;
    const ask = { tool: "code.write_file", path: "src/**", decision: "ask" } as const;
    const judge = (input: PolicyInput, path: string): Decision =>
      evaluate(policy(input), write(path), NO_GRANTS).decision;
    expect(judge({ rules: [allow] }, "/p/src/a.ts")).toBe("allow");
    expect(judge({ rules: [allow, ask] }, "/p/src/a.ts")).toBe("ask");
    expect(judge({ rules: [allow, ask] }, "/p/doc/a.ts")).toBe("allow");
    expect(judge({ rules: [allow] }, "/elsewhere/a.ts")).toBe("ask");
  });

  test("plan mode denies what is not readonly, even if rules allow it", () => {
    verifies("SURF-9", "PERM-2");
    const plan = policy({ mode: "plan", rules: [{ tool: "*", decision: "allow" }] });
    const judged = evaluate(plan, write("/p/a.ts"), NO_GRANTS);
    expect([judged.decision, judged.code]).toEqual(["deny", "mode_restricted"]);
    expect(evaluate(plan, call({}), NO_GRANTS).decision).toBe("allow");
    expect(evaluate(policy({ mode: "plan" }), call({}), NO_GRANTS).decision).toBe("allow");
    const internal = call({ source_kind: "internal", effects: WRITES });
    expect(evaluate(plan, internal, NO_GRANTS).decision).toBe("allow");
  });

  test("a hook can tighten and never loosen", () => {
    verifies("PERM-2", "HOOK-2");
    const hook = (decision: "ask" | "deny") => ({ hook: { decision, reason: "so", hook: "h1" } });
    expect(evaluate(policy(), call(hook("ask")), NO_GRANTS)).toMatchObject({
      decision: "ask",
      reason: "so",
    });
    expect(evaluate(policy(), call(hook("deny")), NO_GRANTS)).toMatchObject({
      decision: "deny",
      code: "hook_denied",
    });
    const denying = policy({ rules: [{ tool: "*", decision: "deny" }] });
    expect(evaluate(denying, call(hook("ask")), NO_GRANTS).decision).toBe("deny");
  });

  test("the chain names layer, rule, file and line, verdict, and what decided", () => {
    verifies("PERM-11", "PERM-1");
    const origin = { file: "config.toml", line: 12 };
    const judged = evaluate(
      policy({ rules: [{ tool: "code.*", decision: "ask", reason: "ask me", origin }] }),
      write("/p/a.ts"),
      NO_GRANTS,
    );
    expect(judged.chain).toEqual([
      expect.objectContaining({ layer: "runtime", verdict: "no_opinion" }),
      {
        layer: "rules",
        rule: "rules[0]",
        verdict: "ask",
        reason: "ask me",
        origin,
        decisive: true,
      },
      expect.objectContaining({ layer: "mode", verdict: "no_opinion" }),
      expect.objectContaining({ layer: "defaults", rule: "defaults.write_asks", verdict: "ask" }),
      expect.objectContaining({ layer: "grant", verdict: "no_opinion" }),
    ]);
  });

  test("a read without a matching rule is evaluated without building anything", () => {
    verifies("PERM-11");
    const judged = evaluate(policy(), read("/p/src/a.ts"), NO_GRANTS);
    expect(judged).toBe(evaluate(policy(), read("/p/src/b.ts"), NO_GRANTS));
    expect(Object.isFrozen(judged) && Object.isFrozen(judged.chain)).toBe(true);
    expect(judged.chain.map((entry) => entry.layer)).toEqual([
      "runtime",
      "rules",
      "mode",
      "defaults",
    ]);
    expect(decisive(judged).rule).toBe("defaults.readonly_allowed");
  });
});

describe("dangerous tools", () => {
  const run = command("/usr/bin/git", ["git", "status"]);

  test.each([
    ["a wildcard", { tool: "code.*" }],
    ["every tool", { tool: "*" }],
    ["a tag", { tags: ["dangerous"] }],
    ["an argv alone", { argv: ["git"] }],
    ["a name with a star in it", { tool: "code.run_command*" }],
  ])("%s is not an explicit yes", (_what, condition) => {
    verifies("PERM-7");
    const judged = evaluate(
      policy({ rules: [{ ...condition, decision: "allow" }] }),
      run,
      NO_GRANTS,
    );
    expect(judged.decision).toBe("ask");
    expect(judged.chain.find((entry) => entry.rule === "rules[0]")?.verdict).toBe("insufficient");
  });

  test("a rule that names the tool is, and so is a grant", () => {
    verifies("PERM-7");
    const named = policy({
      rules: [{ tool: "code.run_command", argv: ["git"], decision: "allow" }],
    });
    expect(evaluate(named, run, NO_GRANTS).decision).toBe("allow");
    const asked = evaluate(policy(), run, NO_GRANTS);
    expect(evaluate(policy(), run, granting(run.tool_name, asked.scopes))).toMatchObject({
      decision: "allow",
      grant_id: "g1",
    });
  });

  test("a command that is proven to only read needs no yes, unless the policy says so", () => {
    verifies("PERM-3", "PERM-7", "CMD-4");
    const proven = { ...run, effects: READS };
    const judged = evaluate(policy(), proven, NO_GRANTS);
    expect(judged.decision).toBe("allow");
    expect(judged.chain.find(({ decisive }) => decisive)?.rule).toBe("defaults.readonly_allowed");
    const asking = policy({ read_only_commands: "ask" });
    expect(evaluate(asking, proven, NO_GRANTS).decision).toBe("ask");
    // The stricter of a session and its run, and of a parent and its child.
    expect(evaluate(policy({ ceiling: asking }), proven, NO_GRANTS).decision).toBe("ask");
    const merged = mergePolicies({ read_only_commands: "ask" }, { read_only_commands: "allow" });
    expect(merged.read_only_commands).toBe("ask");
    // What else a dangerous tool says of itself is no proof, and a rule about commands holds.
    for (const other of [
      { ...proven, resources: [] },
      { ...proven, source_kind: "declarative" },
      { ...proven, source_kind: "mcp", trust: "vouched" },
    ] as const) {
      expect(evaluate(policy(), other, NO_GRANTS).decision).toBe("ask");
    }
    const rule = { tool: "code.run_command", argv: ["git"], decision: "ask" } as const;
    expect(evaluate(policy({ rules: [rule] }), proven, NO_GRANTS).decision).toBe("ask");
  });

  test("of a policy that was recorded before there was the setting, every command asks", () => {
    verifies("REPLAY-1", "CMD-4");
    const { read_only_commands: _later, ...old } = describePolicy(policy());
    const recorded = compileRecordedPolicy(old);
    if (!recorded.ok) throw new Error(JSON.stringify(recorded.problems));
    const proven = { ...run, effects: READS };
    expect(evaluate(recorded.policy, proven, NO_GRANTS).decision).toBe("ask");
  });

  test("a rule may let commands that only read run unasked where the policy asks", () => {
    verifies("PERM-7", "CMD-4");
    const readers = policy({
      rules: [{ tool: "code.run_command", tags: ["readonly"], decision: "allow" }],
      read_only_commands: "ask",
    });
    const tagged = { ...run, tags: ["write", "dangerous", "readonly"] };
    expect(evaluate(readers, { ...tagged, effects: READS }, NO_GRANTS).decision).toBe("allow");
    expect(evaluate(readers, { ...tagged, effects: WRITES }, NO_GRANTS).decision).toBe("ask");
  });
});

describe("the path boundary", () => {
  test("what belongs to the runtime is never written, with any rules and grants", () => {
    verifies("PERM-14");
    const rules = [{ tool: "code.write_file", decision: "allow" }] as const;
    const open = policy({ rules, roots: { project: "/h", write: ["/h/.soong-agent"] } });
    for (const path of ["/h/.soong-agent", "/h/.soong-agent/hooks.json", "/h"]) {
      const facts = write(path);
      const judged = evaluate(open, facts, granting(facts.tool_name, allScopes(path)));
      expect([judged.decision, judged.code], path).toEqual(["deny", "protected_path"]);
    }
    expect(evaluate(open, write("/h/.soong-agents/x"), NO_GRANTS).decision).toBe("allow");
    const own = evaluate(open, read("/h/.soong-agent/config.toml"), NO_GRANTS);
    expect([own.decision, own.code]).toEqual(["ask", "sensitive_path"]);
    const folded = policy({ rules, case_insensitive_paths: true });
    expect(evaluate(folded, write("/H/.Soong-Agent/x"), NO_GRANTS).decision).toBe("deny");
  });

  test.each([
    "/p/.git/hooks/pre-commit",
    "/p/.git/config",
    "/p/sub/.git/HEAD",
    "/p/.husky/pre-push",
    "/p/.opencode/plugin/x.ts",
    "/p/opencode.json",
    "/p/.claude/skills/x/SKILL.md",
    "/p/.gemini/commands/x.toml",
    "/p/x.code-workspace",
    "/p/.hg/hgrc",
    "/p/.vscode/tasks.json",
    "/p/.VSCode/settings.json",
    "/p/.envrc",
    "/p/.npmrc",
    "/p/.pre-commit-config.yaml",
    "/p/.bashrc",
    "/p/a/.profile",
    "/p/.mcp.json",
    "/p/mise.toml",
    "/p/.cargo/config.toml",
    "/p/.yarn/releases/yarn-4.0.0.cjs",
    "/p/bunfig.toml",
  ])(
    "writing %s, which other programs run automatically, requires approval even if a rule allows it",
    (path) => {
      verifies("PATH-6");
      const open = policy({
        rules: [
          { path: "**", decision: "allow" },
          { tool: "code.write_file", path: "**", decision: "allow" },
        ],
      });
      const judged = evaluate(open, write(path), NO_GRANTS);
      expect(judged.decision).toBe("ask");
      expect(judged.chain.map(({ rule }) => rule)).toContain("runtime.runs_by_itself");
      expect(judged.scopes).toEqual([{ kind: "path", access: "write", path }]);
    },
  );

  test.each(["/p/package.json", "/p/Makefile", "/p/.github/workflows/a.yml", "/p/.gitignore"])(
    "writing %s is as ordinary as any write",
    (path) => {
      verifies("PATH-6");
      const open = policy({ rules: [{ path: "**", decision: "allow" }] });
      expect(evaluate(open, write(path), NO_GRANTS).decision).toBe("allow");
    },
  );

  test("writing outside the project and the write roots asks, in spite of an allow", () => {
    verifies("PATH-2");
    const rules = [{ tool: "code.write_file", decision: "allow" }] as const;
    const judge = (path: string, input: PolicyInput = {}) =>
      evaluate(policy({ rules, ...input }), write(path), NO_GRANTS);
    expect(judge("/elsewhere/x")).toMatchObject({
      decision: "ask",
      code: "write_outside_allowed_roots",
      scopes: [{ kind: "path", path: "/elsewhere/x", access: "write" }],
    });
    expect(judge("/pp/x").decision).toBe("ask");
    expect(judge("/p/x").decision).toBe("allow");
    expect(judge("/w/x").decision).toBe("allow");
    expect(judge("/tmp/x").decision).toBe("ask");
    expect(judge("/tmp/x", { tmp_dir: "/tmp" }).decision).toBe("allow");
  });

  test("a yes to a target outside covers exactly that target", () => {
    verifies("PATH-2");
    const first = write("/elsewhere/x");
    const grants = granting(first.tool_name, evaluate(policy(), first, NO_GRANTS).scopes);
    expect(evaluate(policy(), first, grants).decision).toBe("allow");
    expect(evaluate(policy(), write("/elsewhere/y"), grants).decision).toBe("ask");
    expect(evaluate(policy(), write("/elsewhere"), grants).decision).toBe("ask");
  });

  test.each(["read", "list", "search", "write"] as const)(
    "to %s a sensitive path asks, and no allow for a path covers it",
    (access) => {
      verifies("PATH-3", "PERM-3");
      const rules = [{ tool: "*", path: "/**", decision: "allow" }] as const;
      for (const path of ["/p/.env", "/h/.ssh/config", "/p/vault/x"]) {
        const facts = call({
          resources: [{ kind: "path", access, path }],
          effects: access === "write" ? WRITES : READS,
        });
        const judged = evaluate(policy({ rules, sensitive_paths: ["vault"] }), facts, NO_GRANTS);
        expect(judged.decision, path).toBe("ask");
        expect(rulesOf(judged), path).toContain("runtime.sensitive_path");
      }
    },
  );

  test("what a tool itself found sensitive asks, too, and only a grant for it covers it", () => {
    verifies("PATH-3");
    const facts = call({
      resources: [{ kind: "path", access: "read", path: "/p/link", sensitive: true }],
    });
    expect(evaluate(policy(), facts, NO_GRANTS)).toMatchObject({
      decision: "ask",
      code: "sensitive_path",
      scopes: [{ kind: "path", path: "/p/link", access: "read" }],
    });
  });

  test("outside the project reading and listing are fine, searching asks", () => {
    verifies("PATH-5");
    const judge = (access: "read" | "list" | "search", path: string): Decision =>
      evaluate(policy(), call({ resources: [{ kind: "path", access, path }] }), NO_GRANTS).decision;
    expect(judge("read", "/usr/include/stdio.h")).toBe("allow");
    expect(judge("list", "/usr/include")).toBe("allow");
    expect(judge("search", "/usr/include")).toBe("ask");
    expect(judge("search", "/p/src")).toBe("allow");
  });

  test.each<[string, unknown]>([
    ["dots", { kind: "path", access: "write", path: "/p/../etc/passwd" }],
    ["a relative path", { kind: "path", access: "read", path: "a.ts" }],
    ["a NUL", { kind: "path", access: "read", path: "/p/a\0.ts" }],
    ["no access", { kind: "path", path: "/p/a.ts" }],
    ["an unresolved program", { kind: "command", executable: "git", argv: ["git"], cwd: "/p" }],
    ["a relative cwd", { kind: "command", executable: "/bin/git", argv: ["git"], cwd: "." }],
    ["no argv", { kind: "command", executable: "/bin/git", argv: [], cwd: "/p" }],
    ["an unheard-of kind", { kind: "socket" }],
    ["nothing", null],
  ])("%s cannot be judged and is refused", (_what, resource) => {
    verifies("PATH-1", "PERM-2");
    const open = policy({ rules: [{ tool: "*", decision: "allow" }] });
    const judged = evaluate(open, call({ resources: [resource as Resource] }), NO_GRANTS);
    expect([judged.decision, judged.code]).toEqual(["deny", "path_not_canonical"]);
  });

  test("many targets of one kind make one entry", () => {
    verifies("PERM-11");
    const resources = Array.from({ length: 500 }, (_, index) => ({
      kind: "path" as const,
      access: "write" as const,
      path: `/elsewhere/${index}`,
    }));
    const judged = evaluate(policy(), call({ effects: WRITES, resources }), NO_GRANTS);
    expect(judged.chain.filter((entry) => entry.layer === "runtime")).toHaveLength(1);
    expect(judged.reason).toContain("499 more");
    expect(judged.scopes).toHaveLength(500);
  });
});

describe("rules about targets", () => {
  const paths = (...given: string[]): PermissionFacts =>
    call({
      tool_name: "code.write_file",
      effects: WRITES,
      resources: given.map((path) => ({ kind: "path", access: "write", path })),
    });

  test("an allow needs every path to match, a deny any one", () => {
    verifies("CONF-4");
    const judge = (decision: Decision, facts: PermissionFacts): Decision =>
      evaluate(policy({ rules: [{ path: "src/**", decision }] }), facts, NO_GRANTS).decision;
    expect(judge("allow", paths("/p/src/a", "/p/src/b"))).toBe("allow");
    expect(judge("allow", paths("/p/src/a", "/p/doc/b"))).toBe("ask");
    expect(judge("allow", paths())).toBe("ask");
    expect(judge("deny", paths("/p/src/a", "/p/doc/b"))).toBe("deny");
    expect(judge("deny", paths("/p/doc/b"))).toBe("ask");
  });

  test("an allow for a place does not cover programs and hosts it says nothing of", () => {
    verifies("CONF-4");
    const judge = (rule: object, facts: Partial<PermissionFacts>): Decision => {
      const rules = [{ path: "src/**", decision: "allow" as const, ...rule }];
      const given = { ...paths("/p/src/a"), tool_name: "net.upload", ...facts };
      return evaluate(policy({ rules }), given, NO_GRANTS).decision;
    };
    expect(judge({}, {})).toBe("allow");
    expect(judge({}, { tags: ["network"], hosts: ["a.org"] })).toBe("ask");
    expect(judge({ tool: "*" }, { tags: ["network"], hosts: "unknown" })).toBe("ask");
    expect(judge({ host: "a.org" }, { tags: ["network"], hosts: ["a.org"] })).toBe("allow");
    // A rule that names the tool is about this tool.
    expect(judge({ tool: "net.*" }, { tags: ["network"], hosts: ["a.org"] })).toBe("allow");
  });

  test("to deny a directory is to deny what is in it; to allow one is not", () => {
    verifies("CONF-4");
    const judge = (path: string, decision: Decision): Decision =>
      evaluate(policy({ rules: [{ path, decision }] }), paths("/p/gen/a/b"), NO_GRANTS).decision;
    expect(judge("gen", "deny")).toBe("deny");
    expect(judge("/p/gen/", "deny")).toBe("deny");
    expect(judge("gen", "allow")).toBe("ask");
    expect(judge("gen/", "allow")).toBe("allow");
    expect(judge("ge", "deny")).toBe("ask");
  });

  test.each<[string[], string, string[], boolean]>([
    [["git"], "/usr/bin/git", ["git", "status"], true],
    [["git", "status"], "/usr/bin/git", ["git", "status", "-s"], true],
    [["git", "status"], "/usr/bin/git", ["git"], false],
    [["git", "status", "*"], "/usr/bin/git", ["git", "status"], false],
    [["git", "*", "--stat"], "/usr/bin/git", ["git", "diff", "--stat"], true],
    [["git", "status", "**"], "/usr/bin/git", ["git", "status"], true],
    [["git"], "/p/git", ["./git", "status"], false],
    [["git"], "/p/bin/git", ["git", "status"], false],
    [["git"], "/w/git", ["git", "status"], false],
    [["git"], "/usr/bin/git", ["/usr/bin/git", "status"], false],
    [["/usr/bin/git"], "/usr/bin/git", ["/usr/bin/git", "status"], true],
    [["/usr/bin/git"], "/usr/bin/git", ["git", "status"], false],
    [["*"], "/p/x", ["./x"], false],
    [["*"], "/opt/x", ["../opt/x"], false],
    [["**"], "/p/x", ["./x"], false],
    [["**"], "/bin/ls", ["ls"], true],
  ])("allowing %j: %s as %j is %s", (argv, executable, given, allowed) => {
    verifies("CONF-4", "PERM-7");
    const rules = [{ tool: "code.run_command", argv, decision: "allow" }] as const;
    const judged = evaluate(policy({ rules }), command(executable, given), NO_GRANTS);
    expect(judged.decision).toBe(allowed ? "allow" : "ask");
  });

  test.each<[string[], string, string[]]>([
    [["rm"], "/bin/rm", ["rm", "-rf"]],
    [["rm"], "/bin/rm", ["/bin/rm"]],
    [["rm"], "/p/rm", ["./rm"]],
    [["rm"], "/bin/busybox", ["rm"]],
    [["rm"], "/bin/rm", ["innocent"]],
    [["/bin/rm"], "/bin/rm", ["rm"]],
    [["*", "-rf"], "/bin/rm", ["rm", "-rf"]],
  ])("denying %j: %s as %j is denied", (argv, executable, given) => {
    verifies("CONF-4");
    const rules = [{ argv, decision: "deny" }] as const;
    expect(evaluate(policy({ rules }), command(executable, given), NO_GRANTS).decision).toBe(
      "deny",
    );
  });

  test("tags must all be there, and those of effect and source need not be written", () => {
    verifies("CONF-4", "SURF-9");
    const judge = (tags: string[], facts: PermissionFacts): Decision =>
      evaluate(policy({ rules: [{ tags, decision: "deny" }] }), facts, NO_GRANTS).decision;
    const facts = call({ tags: ["filesystem", "custom"], effects: WRITES });
    expect(judge(["filesystem", "custom"], facts)).toBe("deny");
    expect(judge(["filesystem", "other"], facts)).toBe("ask");
    expect(judge(["write"], facts)).toBe("deny");
    expect(judge(["readonly"], facts)).toBe("ask");
    expect(judge(["code"], facts)).toBe("deny");
  });
});

describe("network", () => {
  const fetches = (hosts: readonly string[] | "unknown"): PermissionFacts =>
    call({ tool_name: "net.fetch", tags: ["network"], hosts });
  const listed = { mode: "hosts", hosts: ["example.org", "*.example.org"] } as const;

  test("off denies every tool that uses it", () => {
    verifies("PERM-10");
    const off = policy({ network: { mode: "off" }, rules: [{ tool: "*", decision: "allow" }] });
    expect(evaluate(off, fetches(["example.org"]), NO_GRANTS)).toMatchObject({
      decision: "deny",
      code: "network_off",
    });
    const planned = call({ resources: [{ kind: "host", host: "a.org" }] });
    expect(evaluate(off, planned, NO_GRANTS).decision).toBe("deny");
    expect(evaluate(off, call({}), NO_GRANTS).decision).toBe("allow");
  });

  test("ask asks each time: no rule and no grant settles it", () => {
    verifies("PERM-10", "PERM-2");
    const asking = policy({ network: { mode: "ask" }, rules: [{ tool: "*", decision: "allow" }] });
    const everything = { covers: () => someGrant("net.fetch", []) };
    const judged = evaluate(asking, fetches(["example.org"]), everything);
    expect(judged).toMatchObject({ decision: "ask", every_time: true, scopes: [] });
    expect(judged.chain.at(-1)).toMatchObject({ layer: "grant", verdict: "insufficient" });
  });

  test("a list allows what is on it and denies the rest, the unknown included", () => {
    verifies("PERM-10");
    const judge = (hosts: readonly string[] | "unknown"): [Decision, string | undefined] => {
      const { decision, code } = evaluate(policy({ network: listed }), fetches(hosts), NO_GRANTS);
      return [decision, code];
    };
    expect(judge(["example.org", "API.example.org."])).toEqual(["allow", undefined]);
    for (const hosts of [["example.org", "evil.org"], ["2130706433"], [], "unknown"] as const) {
      expect(judge(hosts)).toEqual(["deny", "host_not_allowed"]);
    }
    const both = {
      ...fetches("unknown"),
      resources: [{ kind: "host", host: "example.org" }] as const,
    };
    expect(evaluate(policy({ network: listed }), both, NO_GRANTS).decision).toBe("deny");
  });

  test("a list beside the default spares the question for what is on it", () => {
    verifies("PERM-10", "PERM-3");
    const input = { network: { mode: "default", hosts: ["example.org"] } } as const;
    expect(evaluate(policy(input), fetches(["example.org"]), NO_GRANTS).decision).toBe("allow");
    expect(evaluate(policy(input), fetches(["other.org"]), NO_GRANTS).decision).toBe("ask");
  });

  test("a listed host does not excuse the rest of a call", () => {
    verifies("PERM-10");
    const facts = { ...fetches(["example.org"]), effects: WRITES };
    expect(evaluate(policy({ network: listed }), facts, NO_GRANTS).decision).toBe("ask");
  });

  test("a rule about a host holds for every host it allows, and asks where a denied one may hide", () => {
    verifies("PERM-10", "CONF-4");
    const judge = (decision: Decision, hosts: readonly string[] | "unknown"): Decision => {
      const rules = [
        { tool: "net.*", decision: "allow" },
        { host: "*.evil.org", decision },
      ] as const;
      const input = decision === "allow" ? { rules: rules.slice(1) } : { rules };
      return evaluate(policy(input), fetches(hosts), NO_GRANTS).decision;
    };
    expect(judge("deny", ["a.org", "x.evil.org"])).toBe("deny");
    expect(judge("deny", ["a.org"])).toBe("allow");
    expect(judge("deny", "unknown")).toBe("ask");
    expect(judge("allow", ["x.evil.org"])).toBe("allow");
    expect(judge("allow", ["x.evil.org", "a.org"])).toBe("ask");
    expect(judge("allow", "unknown")).toBe("ask");
  });
});

describe("grants", () => {
  test("satisfy an ask for the same tool and the same directory, not below it, not for another tool", () => {
    verifies("PERM-5", "PERM-2");
    const first = write("/p/src/a.ts");
    const { scopes } = evaluate(policy(), first, NO_GRANTS);
    expect(scopes).toEqual([{ kind: "directory", path: "/p/src", access: "write" }]);
    const grants = granting(first.tool_name, scopes);
    const judged = evaluate(policy(), write("/p/src/b.ts"), grants);
    expect(judged).toMatchObject({ decision: "allow", grant_id: "g1", every_time: false });
    expect(judged.chain.at(-1)).toMatchObject({ verdict: "satisfied", decisive: true });
    expect(evaluate(policy(), write("/p/src/deep/b.ts"), grants).decision).toBe("ask");
    expect(evaluate(policy(), write("/p/src/.env"), grants).decision).toBe("ask");
    const other = { ...write("/p/src/b.ts"), tool_name: "code.edit_file" };
    expect(evaluate(policy(), other, grants).decision).toBe("ask");
  });

  test("for reading do not let a tool write", () => {
    verifies("PERM-5");
    const asking = policy({ rules: [{ tool: "fs.touch", decision: "ask" }] });
    const reading = { ...read("/p/src/a.ts"), tool_name: "fs.touch" };
    const grants = granting("fs.touch", evaluate(asking, reading, NO_GRANTS).scopes);
    expect(evaluate(asking, reading, grants).decision).toBe("allow");
    expect(
      evaluate(asking, { ...write("/p/src/a.ts"), tool_name: "fs.touch" }, grants).decision,
    ).toBe("ask");
  });

  test("do not satisfy a rule that asks every time, nor lift any deny", () => {
    verifies("PERM-2");
    const everything = { covers: () => someGrant("code.write_file", []) };
    const facts = write("/p/a.ts");
    const each = policy({ rules: [{ tool: "code.*", decision: "ask", every_time: true }] });
    expect(evaluate(each, facts, everything)).toMatchObject({ decision: "ask", every_time: true });
    // Also where a higher layer is what asks.
    expect(evaluate(each, write("/elsewhere/x"), everything).decision).toBe("ask");
    const denying = policy({ rules: [{ tool: "code.*", decision: "deny" }] });
    expect(evaluate(denying, facts, everything).decision).toBe("deny");
    const hooked = { ...facts, hook: { decision: "deny", reason: "no", hook: "h" } } as const;
    expect(evaluate(policy(), hooked, everything).decision).toBe("deny");
  });

  test("cannot be given to a call whose target has no name", () => {
    verifies("PERM-5");
    const nameless = call({ effects: WRITES });
    expect(evaluate(policy(), nameless, createGrants()).scopes).toEqual([]);
    const failing = call({
      effects: WRITES,
      input_digest: () => {
        throw new Error("no digest");
      },
    });
    expect(evaluate(policy(), failing, NO_GRANTS)).toMatchObject({ decision: "ask", scopes: [] });
  });
});

describe("a ceiling", () => {
  test("is the parent's policy AND the child's own", () => {
    verifies("PERM-12");
    const allowing = { rules: [{ tool: "code.write_file", decision: "allow" }] } as const;
    const denying = {
      rules: [{ tool: "code.*", decision: "deny", reason: "parent says no" }],
    } as const;
    const facts = write("/p/a.ts");
    const under = (parent: PolicyInput, child: PolicyInput) =>
      evaluate(policy({ ...child, ceiling: policy(parent) }), facts, NO_GRANTS);
    expect(under(allowing, allowing).decision).toBe("allow");
    expect(under({}, allowing).decision).toBe("ask");
    expect(under(allowing, {}).decision).toBe("ask");
    expect(under(allowing, denying).decision).toBe("deny");
    const judged = under(denying, allowing);
    expect(judged).toMatchObject({ decision: "deny", reason: "parent says no" });
    expect(decisive(judged)).toMatchObject({ layer: "ceiling", rule: "rules/rules[0]" });
    expect(rulesOf(judged)).toContain("rules[0]");
  });

  test("reaches through generations, and its every_time holds", () => {
    verifies("PERM-12");
    const allowing = { rules: [{ tool: "code.write_file", decision: "allow" }] } as const;
    const each = {
      rules: [{ tool: "code.write_file", decision: "ask", every_time: true }],
    } as const;
    const child = policy({ ...allowing, ceiling: policy({ ...allowing, ceiling: policy(each) }) });
    const everything = { covers: () => someGrant("code.write_file", []) };
    const judged = evaluate(child, write("/p/a.ts"), everything);
    expect(judged).toMatchObject({ decision: "ask", every_time: true });
    expect(rulesOf(judged)).toContain("ceiling/rules/rules[0]");
  });

  test("in plan mode keeps the child in plan mode", () => {
    verifies("SURF-9", "PERM-12");
    const child = policy({ ceiling: policy({ mode: "plan" }) });
    expect(evaluate(child, write("/p/a.ts"), NO_GRANTS)).toMatchObject({
      decision: "deny",
      code: "mode_restricted",
    });
  });

  test("narrows a grant to one path where the parent finds the target outside", () => {
    verifies("PERM-12", "PATH-2");
    const child = policy({ ceiling: policy({ roots: { project: "/p/src", write: [] } }) });
    expect(evaluate(child, write("/p/doc/a"), NO_GRANTS).scopes).toEqual([
      { kind: "path", path: "/p/doc/a", access: "write" },
    ]);
  });
});

test("nothing in a target can take effect in a sentence shown to the user", () => {
  verifies("PERM-6");
  const judged = evaluate(policy(), write("/x/\u001b[2J\n\u202egnp"), NO_GRANTS);
  expect(judged.reason).toContain("\\u001b[2J\\n\\u202egnp");
});

function policy(input: PolicyInput = {}): Policy {
  const made = compilePolicy({
    roots: { project: "/p", write: ["/w"] },
    protected_roots: ["/h/.soong-agent"],
    home: "/h",
    ...input,
  });
  if (!made.ok) throw new Error(JSON.stringify(made.problems));
  return made.policy;
}

function call(facts: Partial<PermissionFacts>): PermissionFacts {
  return {
    tool_name: "code.some_tool",
    permission: "write",
    tags: [],
    source_kind: "code",
    source_id: "code",
    effects: READS,
    resources: [],
    hosts: [],
    ...facts,
  };
}

function read(path: string): PermissionFacts {
  return call({ tool_name: "code.read_file", resources: [{ kind: "path", access: "read", path }] });
}

function write(path: string): PermissionFacts {
  return call({
    tool_name: "code.write_file",
    effects: WRITES,
    resources: [{ kind: "path", access: "write", path }],
  });
}

function command(executable: string, argv: string[]): PermissionFacts {
  return call({
    tool_name: "code.run_command",
    tags: ["write", "dangerous"],
    effects: DESTROYS,
    resources: [{ kind: "command", executable, argv, cwd: "/p" }],
  });
}

function granting(toolName: string, scopes: readonly GrantScope[]) {
  const grants = createGrants();
  grants.add(someGrant(toolName, scopes));
  return grants;
}

function someGrant(tool_name: string, scopes: readonly GrantScope[]) {
  return {
    grant_id: "g1",
    tool_name,
    scopes,
    session_id: "s1",
    granted_by: "user",
    granted_at: "2030-01-01T00:00:00.000Z",
    tool_call_id: "c1",
    agent_id: "a1",
  };
}

function allScopes(path: string): GrantScope[] {
  return [
    { kind: "path", path, access: "write" },
    { kind: "directory", path, access: "write" },
    { kind: "directory", path: path.slice(0, path.lastIndexOf("/")) || "/", access: "write" },
  ];
}

function decisive(judged: ReturnType<typeof evaluate>) {
  const entries = judged.chain.filter((entry) => entry.decisive === true);
  expect(entries).toHaveLength(1);
  return entries[0]!;
}

function rulesOf(judged: ReturnType<typeof evaluate>): string[] {
  return judged.chain.map((entry) => entry.rule);
}
