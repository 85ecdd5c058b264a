// Rules on argv look through what runs other programs (PERM-16).

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import type { Decision } from "./decision.ts";
import { evaluate } from "./evaluate.ts";
import type { PermissionFacts } from "./facts.ts";
import { createGrants, NO_GRANTS } from "./grants.ts";
import type { PermissionRule } from "./permission-rule.ts";
import { compilePolicy, type Policy } from "./policy.ts";
import { findScopes } from "./scopes-of-call.ts";

const numRuns = process.env["SOONG_TEST_FULL"] === "1" ? 5_000 : 300;

describe("a deny or ask on a program holds for every way to run it", () => {
  const everything = { tool: "code.run_command", decision: "allow" } as const;

  test.each([
    ["env", "rm", "a"],
    ["sh", "-c", "rm a"],
    ["sh", "-c", "cd x && rm a"],
    ["bash", "-lc", "ls; /bin/rm -f a"],
    ["xargs", "rm"],
    ["find", ".", "-exec", "rm", "{}", "+"],
    ["find", ".", "-maxdepth", "0", "-exec", "env", "-u", "+", "rm", "victim", ";"],
    ["git", "-c", "alias.x=!rm victim", "x"],
    ["timeout", "5", "nice", "-n", "3", "sudo", "-n", "rm", "a"],
    ["busybox", "rm", "a"],
    ["tar", "-xf", "a", "--to-command=rm a"],
    ["prlimit", "--nofile=9", "rm", "a"],
    ["split", "--filter=rm a", "x"],
  ])("rm in %j %j %j", (...argv) => {
    verifies("PERM-16");
    for (const decision of ["deny", "ask"] as const) {
      const rules = [everything, { argv: ["rm", "**"], decision }];
      expect(judged(rules, argv)).toBe(decision);
    }
  });

  test.each([
    ["git", "push"],
    ["git", "-C", ".", "push", "origin"],
    ["git", "--no-pager", "-c", "user.name=x", "push"],
    ["git", "--git-dir=.git", "push"],
    ["git", "-c", "alias.p=push", "p"],
    ["env", "GIT_TRACE=1", "git", "-C", "x", "push"],
    ["sh", "-c", "git -C . push"],
  ])("git push in %j %j %j", (...argv) => {
    verifies("PERM-16");
    expect(judged([everything, { argv: ["git", "push"], decision: "deny" }], argv)).toBe("deny");
  });

  test.each([
    ["git", "status"],
    ["sh", "-c", "ls && git status"],
    ["sh", "-c", "echo rm a"],
    ["timeout", "5", "git", "log"],
    ["find", ".", "-name", "rm"],
    ["grep", "rm", "a"],
  ])("and for nothing else: %j %j %j", (...argv) => {
    verifies("PERM-16");
    expect(judged([everything, { argv: ["rm", "**"], decision: "deny" }], argv)).toBe("allow");
  });

  test.each([
    ["sh", "-c", "$(cat x)"],
    ["sh", "build.sh"],
    ["python3", "x.py"],
    ["make"],
    ["git", "x"],
    ["some-program", "rm"],
    ["xargs", "env"],
    ["/p/src/ls"],
    ["sed", "p", "a", "-e", "1e rm victim"],
    ["tar", "cIf", "rm victim", "o.tar", "a"],
    ["git", "config", "core.fsmonitor", "rm victim;", "list"],
    ["git", "bisect", "view", "git", "-c", "alias.x=!rm victim #", "x"],
    ["bash", "-c", "[[ 'a[$(rm victim)]' -eq 0 ]]"],
    ["bash", "-c", "test -v 'a[$(rm victim)]'"],
    ["env", "src/ls"],
    ["sh", "-c", "src/ls"],
    ["xargs", "/tmp/cat"],
    ["tar", "cf", "o", "--use-compress-program=src/ls", "a"],
  ])("a command that runs something unknown requires approval: %j %j %j", (...argv) => {
    verifies("PERM-16");
    const rules = [
      everything,
      { argv: [argv[0] ?? "", "**"], tool: TOOL, decision: "allow" },
    ] as const;
    expect(judged([...rules, { argv: ["rm", "**"], decision: "deny" }], argv)).toBe("ask");
    expect(judged([...rules, { argv: ["rm", "**"], decision: "ask" }], argv)).toBe("ask");
    // Rules about anything else do not make it doubtful.
    expect(judged([...rules, { path: "/x/**", decision: "deny" }], argv)).not.toBe("deny");
    expect(judged([everything, { tool: "x.y", argv: ["rm"], decision: "deny" }], argv)).toBe(
      "allow",
    );
  });

  test("further arguments that are not known may be those of the rule", () => {
    verifies("PERM-16");
    const rules = [everything, { argv: ["git", "push"], decision: "deny" }] as const;
    expect(judged(rules, ["sh", "-c", "git $x"])).toBe("ask");
    expect(judged(rules, ["sh", "-c", "git push $x"])).toBe("deny");
    expect(judged(rules, ["xargs", "git", "push"])).toBe("deny");
    expect(judged(rules, ["xargs", "git"])).toBe("ask");
  });

  test("a rule that spells the command out still allows it", () => {
    verifies("PERM-16");
    const deny = { argv: ["rm", "**"], decision: "deny" } as const;
    const allow = (...argv: string[]) => ({ tool: TOOL, argv, decision: "allow" }) as const;
    expect(judged([deny, allow("make", "build")], ["make", "build"])).toBe("allow");
    expect(judged([deny, allow("make", "*")], ["make", "build"])).toBe("ask");
    expect(judged([deny, allow("make")], ["make", "build"])).toBe("ask");
    expect(judged([deny, allow("npm", "test", "**")], ["npm", "test", "--", "x"])).toBe("allow");
    expect(judged([deny, allow("npm", "**")], ["npm", "test"])).toBe("ask");
    expect(judged([deny, allow("python3", "x.py", "**")], ["python3", "x.py", "-v"])).toBe("allow");
    expect(judged([deny, allow("sh", "-c", "rm a")], ["sh", "-c", "rm a"])).toBe("deny");
  });

  test("a grant for the very same arguments answers it, even if the rule asks every time", () => {
    verifies("PERM-16");
    const rules: PermissionRule[] = [
      everything,
      { argv: ["git", "push"], decision: "ask", every_time: true },
    ];
    const facts = command(["make", "build"]);
    const policy = compiled(rules);
    const grants = createGrants();
    grants.add({
      grant_id: "g",
      tool_name: TOOL,
      scopes: findScopes(policy, facts),
      session_id: "s",
      granted_by: "me",
      granted_at: "now",
      tool_call_id: "c",
      agent_id: "a",
    });
    expect(evaluate(policy, facts, grants).decision).toBe("allow");
    expect(evaluate(policy, command(["make", "push"]), grants).decision).toBe("ask");
    expect(evaluate(policy, command(["git", "push"]), grants).decision).toBe("ask");
  });

  test("a command that is known to only read is known to run nothing", () => {
    verifies("PERM-16");
    const rules: PermissionRule[] = [everything, { argv: ["rm"], decision: "deny" }];
    const facts = command(["node", "--version"]);
    const effects = { ...facts.effects, read_only: true, destructive: false };
    expect(evaluate(compiled(rules), { ...facts, effects }, NO_GRANTS).decision).toBe("allow");
    expect(evaluate(compiled(rules), facts, NO_GRANTS).decision).toBe("ask");
  });
});

describe("an allow on a program covers no argument that runs another one", () => {
  test.each([
    ["git", "-c", "core.pager=x", "log"],
    ["git", "-c", "alias.x=!x", "x"],
    ["git", "--exec-path=/x", "status"],
    ["git", "--git-dir=/x", "status"],
    ["git", "-C", "/elsewhere", "status"],
    ["git", "-C", "../elsewhere", "status"],
    ["git", "x"],
    ["git", "fetch", "--upload-pack", "x"],
    ["git", "rebase", "--exec", "x"],
    ["git", "bisect", "run", "x"],
    ["git", "submodule", "foreach", "x"],
    ["git", "difftool", "--extcmd", "x"],
    ["git", "config", "core.fsmonitor", "x"],
    ["find", ".", "-exec", "ls", ";"],
    ["env", "ls"],
    ["timeout", "5", "ls"],
    ["xargs", "ls"],
    ["tar", "--to-command=x", "-xf", "a"],
    ["prlimit", "ls"],
  ])("%j %j %j %j", (...argv) => {
    verifies("PERM-16");
    const [program = ""] = argv;
    const allow = (pattern: string[]) =>
      [{ tool: TOOL, argv: pattern, decision: "allow" }] as const;
    expect(judged(allow([program, "**"]), argv)).toBe("ask");
    expect(judged(allow([program]), argv)).toBe("ask");
    expect(judged(allow(argv), argv)).toBe("allow");
    const { chain } = evaluate(compiled(allow([program, "**"])), command(argv), NO_GRANTS);
    const entry = chain.find(({ rule }) => rule === "rules[0]");
    expect(entry?.verdict).toBe("insufficient");
    expect(entry?.reason).toContain("wildcard");
  });

  test.each([
    ["git", "status"],
    ["git", "-C", "packages/core", "status"],
    ["git", "-c", "color.ui=never", "log"],
    ["git", "commit", "-m", "-c alias"],
    ["find", ".", "-name", "x"],
    ["tar", "-xf", "a"],
    ["sh", "-c", "ls"],
    ["npm", "test"],
    ["some-program", "x"],
  ])("%j %j %j is covered", (...argv) => {
    verifies("PERM-16");
    const rules = [{ tool: TOOL, argv: [argv[0] ?? "", "**"], decision: "allow" }] as const;
    expect(judged(rules, argv)).toBe("allow");
  });
});

describe("a session grant", () => {
  test.each(["ls", "cat", "grep", "rm", "mkdir"])("for %s covers any arguments", (program) => {
    verifies("PERM-16", "PERM-5");
    const [scope] = findScopes(compiled([]), command([program, "x"]));
    expect(scope?.kind).toBe("executable");
  });

  test.each([
    ["prlimit", "/usr/bin/prlimit"],
    ["split", "/usr/bin/split"],
    ["sort", "/usr/bin/sort"],
    ["git", "/usr/bin/git"],
    ["python3", "/usr/bin/python3.11"],
    ["some-program", "/opt/some-program"],
    ["ls", "/opt/multi"],
    ["./ls", "/usr/bin/env"],
    ["ls.sh", "/usr/bin/ls.sh"],
    ["rm", "/bin/busybox.static"],
    ["gcc-12", "/usr/bin/gcc-12"],
    ["CMD.EXE", "C:\\Windows\\System32\\CMD.EXE"],
  ])("for %s (%s) covers the whole argv", (given, executable) => {
    verifies("PERM-16", "PERM-5");
    const facts = {
      ...command([given, "x"]),
      resources: [{ kind: "command", executable, argv: [given, "x"], cwd: "/p" }],
    } as PermissionFacts;
    const scopes = findScopes(compiled([]), facts);
    expect(scopes.every(({ kind }) => kind === "argv")).toBe(true);
  });
});

test("however a denied program is wrapped, it is never allowed", () => {
  verifies("PERM-16", "PERM-2");
  const wrap = fc.constantFrom<(argv: string[]) => string[]>(
    (argv) => ["env", ...argv],
    (argv) => ["env", "-u", "X", "LANG=C", ...argv],
    (argv) => ["timeout", "-k", "1", "5", ...argv],
    (argv) => ["nohup", ...argv],
    (argv) => ["sudo", "-u", "me", ...argv],
    (argv) => ["xargs", "-n", "1", ...argv],
    (argv) => ["find", ".", "-exec", ...argv, ";"],
    (argv) => ["sh", "-c", quoted(argv)],
    (argv) => ["bash", "-ec", `cd x && ${quoted(argv)} | cat`],
    (argv) => ["bash", "-c", `echo $(${quoted(argv)})`],
    (argv) => ["git", "-c", `alias.x=!${quoted(argv)}`, "x"],
    (argv) => ["git", "bisect", "run", ...argv],
    (argv) => ["busybox", ...argv],
    (argv) => ["watch", "-n", "2", quoted(argv)],
    (argv) => ["tar", "-xf", "a", `--to-command=${quoted(argv)}`],
    (argv) => ["some-unknown-wrapper", "--flag", ...argv],
  );
  const inner = fc.constantFrom<string[]>(["rm", "a"], ["/bin/rm", "-rf", "a b"], ["rm", "it's"]);
  let denied = 0;
  fc.assert(
    fc.property(inner, fc.array(wrap, { maxLength: 5 }), fc.boolean(), (argv, wraps, named) => {
      const whole = wraps.reduce<string[]>((command, around) => around(command), argv);
      const rules: PermissionRule[] = [
        { argv: ["rm", "**"], decision: "deny" },
        named
          ? { tool: TOOL, decision: "allow" }
          : { tool: TOOL, argv: [whole[0] ?? "", "**"], decision: "allow" },
      ];
      const decision = judged(rules, whole);
      expect(decision).not.toBe("allow");
      if (decision === "deny") denied += 1;
      // An unknown wrapper is the only one of these that cannot be looked through.
      if (!whole.join(" ").includes("some-unknown-wrapper")) expect(decision).toBe("deny");
    }),
    { numRuns },
  );
  expect(denied).toBeGreaterThan(numRuns / 4);
});

test("any arguments are read to an end", () => {
  verifies("PERM-16");
  const word = fc.oneof(
    fc.constantFrom(
      "git",
      "env",
      "sh",
      "-c",
      "find",
      "-exec",
      "xargs",
      "$(",
      "`",
      "'",
      '"',
      "{}",
      ";",
      "(",
      "<<E",
    ),
    fc.string(),
  );
  const rules: PermissionRule[] = [{ argv: ["rm", "**"], decision: "deny" }];
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 12 }), (words) => {
      expect(["ask", "deny"]).toContain(judged(rules, ["sh", "-c", words.join(" ")]));
      expect(["ask", "deny"]).toContain(judged(rules, ["env", ...words]));
    }),
    { numRuns },
  );
});

const TOOL = "code.run_command";

test("with / as the project, a program of the system that no one here can change is allowed by its name", () => {
  verifies("PERM-16");
  const rules = [{ tool: TOOL, argv: ["git", "**"], decision: "allow" as const }];
  const result = compilePolicy({ rules, roots: { project: "/", write: [] }, home: "/h" });
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  const facts = command(["git", "commit"]);
  const resources = [
    { ...facts.resources[0], fixed_program: true },
  ] as PermissionFacts["resources"];
  expect(evaluate(result.policy, facts, NO_GRANTS).decision).toBe("ask");
  expect(evaluate(result.policy, { ...facts, resources }, NO_GRANTS).decision).toBe("allow");
});

function judged(rules: readonly PermissionRule[], argv: readonly string[]): Decision {
  return evaluate(compiled(rules), command(argv), NO_GRANTS).decision;
}

function compiled(rules: readonly PermissionRule[]): Policy {
  const result = compilePolicy({ rules, roots: { project: "/p", write: [] }, home: "/h" });
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.policy;
}

function command(argv: readonly string[]): PermissionFacts {
  const [given = ""] = argv;
  const executable = given.startsWith("/") ? given : `/usr/bin/${given}`;
  return {
    tool_name: TOOL,
    permission: "write",
    tags: ["dangerous"],
    source_kind: "code",
    source_id: "code",
    effects: { read_only: false, concurrency_safe: false, destructive: true, open_world: true },
    resources: [{ kind: "command", executable, argv: [...argv], cwd: "/p" }],
    hosts: [],
  };
}

function quoted(argv: readonly string[]): string {
  return argv.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(" ");
}
