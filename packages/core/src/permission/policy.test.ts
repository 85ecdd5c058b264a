import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import {
  type Policy,
  type PolicyInput,
  compilePolicy,
  compileRecordedPolicy,
  describePolicy,
} from "./policy.ts";
import { evaluate } from "./evaluate.ts";
import type { PermissionFacts } from "./facts.ts";
import { NO_GRANTS } from "./grants.ts";

const ROOTS = { project: "/p", write: [] };

describe("a policy that is wrong", () => {
  test.each<[string, unknown, string, string]>([
    ["an unknown key", { ruels: [] }, "ruels", 'did you mean "rules"?'],
    [
      "an unknown key of a rule",
      withRule({ tool: "*", desicion: "deny" }),
      "rules[0].desicion",
      'did you mean "decision"?',
    ],
    [
      "a far-fetched key",
      withRule({ tool: "*", zzzzzzzz: 1 }),
      "rules[0].zzzzzzzz",
      "valid are tool, tags",
    ],
    [
      "no decision",
      withRule({ tool: "*", decision: undefined }),
      "rules[0].decision",
      "is missing",
    ],
    [
      "an unknown decision",
      withRule({ tool: "*", decision: "alow" }),
      "rules[0].decision",
      'did you mean "allow"?',
    ],
    ["no condition", withRule({}), "rules[0]", 'write tool = "*"'],
    ["not a rule", { rules: ["deny everything"] }, "rules[0]", "is not a rule"],
    ["rules that are no list", { rules: {} }, "rules", "not a list"],
    [
      "a name that is not canonical",
      withRule({ tool: "read_file" }),
      "rules[0].tool",
      "has no dot",
    ],
    ["a name with a space", withRule({ tool: "code. *" }), "rules[0].tool", "white space"],
    ["no tags", withRule({ tags: [] }), "rules[0].tags", "is empty"],
    ["a tag that is no text", withRule({ tags: ["a", 1] }), "rules[0].tags", "number 2"],
    ["a bad glob", withRule({ path: "src/[ab]" }), "rules[0].path", "not a wildcard"],
    ["a way up", withRule({ path: "../other" }), "rules[0].path", '".."'],
    ["a negation", withRule({ path: "!src" }), "rules[0].path", "other decision"],
    ["the home of another user", withRule({ path: "~bob/x" }), "rules[0].path", 'only "~/"'],
    ["an unknown home", withRule({ path: "~/x" }), "rules[0].path", "home directory is not known"],
    [
      "a relative path without a project",
      { rules: [{ path: "src/**", decision: "deny" }] },
      "rules[0].path",
      "no project",
    ],
    ["an argv that is text", withRule({ argv: "git status" }), "rules[0].argv", "not a list"],
    ["an argv of numbers", withRule({ argv: ["git", 1] }), "rules[0].argv", "number 2"],
    ["half a wildcard", withRule({ argv: ["rm", "-r*"] }), "rules[0].argv", "one whole item"],
    [
      "a rest in the middle",
      withRule({ argv: ["a", "**", "b"] }),
      "rules[0].argv",
      "before its end",
    ],
    ["a relative program", withRule({ argv: ["./gradlew"] }), "rules[0].argv", "absolute path"],
    ["a url for a host", withRule({ host: "https://a.org" }), "rules[0].host", "more than a host"],
    [
      "every_time on a deny",
      withRule({ tool: "*", every_time: true }),
      "rules[0].every_time",
      '"ask" only',
    ],
    [
      "every_time as text",
      withRule({ tool: "*", every_time: "yes" }),
      "rules[0].every_time",
      "not true or false",
    ],
    ["a reason that is no text", withRule({ tool: "*", reason: 1 }), "rules[0].reason", "not text"],
    [
      "a strange origin",
      withRule({ tool: "*", origin: { fiel: "x" } }),
      "rules[0].origin.fiel",
      'did you mean "file"?',
    ],
    [
      "a line that is none",
      withRule({ tool: "*", origin: { line: 1.5 } }),
      "rules[0].origin.line",
      "not a line",
    ],
    ["an unknown mode", { mode: "pln" }, "mode", 'did you mean "plan"?'],
    ["allowing all that destroys", { destructive: "allow" }, "destructive", 'one of "ask", "deny"'],
    ["an unknown network mode", { network: { mode: "of" } }, "network.mode", 'did you mean "off"?'],
    ["a list of no hosts", { network: { mode: "hosts" } }, "network.hosts", "is empty"],
    [
      "a list without effect",
      { network: { mode: "off", hosts: ["a.org"] } },
      "network.hosts",
      "no effect",
    ],
    [
      "a bad host",
      { network: { mode: "hosts", hosts: ["a.org", "a b"] } },
      "network.hosts[1]",
      "not a host",
    ],
    ["a relative project", { roots: { project: "p", write: [] } }, "roots.project", "not absolute"],
    [
      "a write root with dots",
      { roots: { project: "/p", write: ["/a/../b"] } },
      "roots.write[0]",
      '".."',
    ],
    ["a protected root with a slash", { protected_roots: ["/h/"] }, "protected_roots[0]", "slash"],
    ["a relative home", { home: "~" }, "home", "not absolute"],
    ["a bad sensitive path", { sensitive_paths: ["a{b}"] }, "sensitive_paths[0]", "not a wildcard"],
    ["a bare MCP name", { readonly_mcp: ["git"] }, "readonly_mcp[0]", "has no dot"],
    [
      "a forged ceiling",
      { ceiling: { mode: "normal", rules: [] } },
      "ceiling",
      "not a compiled policy",
    ],
    ["no policy at all", null, "", "is not a policy"],
  ])("is refused for %s", (_what, input, field, message) => {
    verifies("CONF-4", "CONF-2");
    const made = compilePolicy(input as PolicyInput);
    expect(made.ok).toBe(false);
    if (made.ok) return;
    const found = made.problems.filter((problem) => problem.field === field);
    expect(found.map((problem) => problem.message).join("\n"), JSON.stringify(made)).toContain(
      message,
    );
  });

  test("says everything that is wrong at once", () => {
    verifies("CONF-2");
    const made = compilePolicy({
      mode: "x",
      rules: [{ tool: "a", decision: "no" }],
    } as unknown as PolicyInput);
    expect(made).toMatchObject({
      ok: false,
      problems: [{ field: "mode" }, { field: "rules[0].decision" }, { field: "rules[0].tool" }],
    });
  });
});

describe("a compiled policy", () => {
  test("needs nothing to start", () => {
    verifies("CONF-2");
    expect(compilePolicy({}).ok).toBe(true);
  });

  test("does not change when what it was made from does", () => {
    verifies("PERM-9");
    const rule = { tool: "code.*", decision: "deny" as "deny" | "allow" };
    const rules = [rule];
    const policy = compiled({ rules });
    const before = JSON.stringify(describePolicy(policy));
    rule.decision = "allow";
    rules.pop();
    expect(JSON.stringify(describePolicy(policy))).toBe(before);
    expect(evaluate(policy, aRead, NO_GRANTS).decision).toBe("deny");
    expect(Object.isFrozen(policy) && Object.isFrozen(policy.rules)).toBe(true);
    expect(() => Object.assign(policy, { mode: "normal" })).toThrow(TypeError);
    expect(() => Object.assign(policy.input.rules?.[0] ?? {}, { decision: "allow" })).toThrow(
      TypeError,
    );
  });

  test("is a record that says everything, defaults included", () => {
    verifies("PERM-9");
    const ceiling = compiled({ mode: "plan" });
    const rule = {
      tool: "code.*",
      path: "src/**",
      decision: "allow",
      origin: { flag: "--allow" },
    } as const;
    const record = describePolicy(compiled({ rules: [rule], home: "/h", ceiling }));
    expect(record).toMatchObject({
      mode: "normal",
      destructive: "ask",
      network: { mode: "default", hosts: [] },
      rules: [rule],
      roots: ROOTS,
      tmp_dir: null,
      home: "/h",
      case_insensitive_paths: false,
      ceiling: { mode: "plan", ceiling: null },
    });
    expect(Object.keys(record)).toEqual(Object.keys(describePolicy(ceiling)));
    expect(record["built_in_sensitive_paths"]).toContain("~/.ssh");
  });

  test("that was recorded wrongly is refused as any other", () => {
    verifies("PERM-9");
    const record = describePolicy(compiled({ ceiling: compiled({}) }));
    expect(compileRecordedPolicy({ ...record, mode: "none" }).ok).toBe(false);
    expect(compileRecordedPolicy({ ...record, ceiling: { mode: "none" } }).ok).toBe(false);
    expect(compileRecordedPolicy(record).ok).toBe(true);
  });
});

const aRead: PermissionFacts = {
  tool_name: "code.read_file",
  permission: "readonly",
  tags: [],
  source_kind: "code",
  source_id: "code",
  effects: { read_only: true, concurrency_safe: true, destructive: false, open_world: false },
  resources: [],
  hosts: [],
};

function compiled(input: PolicyInput): Policy {
  const made = compilePolicy({ roots: ROOTS, ...input });
  if (!made.ok) throw new Error(JSON.stringify(made.problems));
  return made.policy;
}

function withRule(rule: object): object {
  return { roots: ROOTS, rules: [{ decision: "deny", ...rule }] };
}
