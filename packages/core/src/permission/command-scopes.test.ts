// What a yes for the beginning of a command covers, tried by its enemies: wrappers, code among the arguments, options that choose
// other code, other places (PERM-5, PERM-16).

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { coveringPrefixes, findPrefix } from "./argv/index.ts";
import { evaluate } from "./evaluate.ts";
import type { CommandResource, PermissionFacts } from "./facts.ts";
import { createGrants, NO_GRANTS } from "./grants.ts";
import { compilePolicy, type Policy, type PolicyInput } from "./policy.ts";
import { scopeChoices } from "./scopes-of-call.ts";

const words = (line: string): string[] => line.split(" ");
const prefixOf = (line: string): string | undefined => {
  const argv = words(line);
  return findPrefix(argv, `/usr/bin/${argv[0]}`)?.join(" ");
};

describe("the beginning of a command", () => {
  test.each([
    ["npm test", "npm test"],
    ["npm test -- x", "npm test"],
    ["npm test -- --grep=a b", "npm test"],
    ["npm run build x", "npm run build"],
    ["pnpm test a.test.ts", "pnpm test"],
    ["cargo test parser", "cargo test"],
    // Its options are part of it.
    ["cargo test --release parser", "cargo test --release parser"],
    ["pytest tests", "pytest"],
    ["go test ./...", "go test"],
    ["node scripts/build.mjs a", "node scripts/build.mjs"],
    ["python3.11 tool.py a", "python3.11 tool.py"],
    ["git add src/a.ts", "git add"],
    ["git commit -m message", "git commit"],
  ])("of %s is %s", (line, expected) => {
    verifies("PERM-5");
    expect(prefixOf(line)).toBe(expected);
  });

  test.each(
    `sh -c x|bash script.sh|env npm test|sudo npm test|xargs npm test|timeout 5 npm test|nohup npm test|find . -exec rm {} ;
    node -e x|node --eval x|python3 -c x|python3 -m pytest|perl x.pl|npx vitest run|npm exec x|npm x y|npm install left-pad
    npm --prefix /elsewhere test|npm --prefix=x test|npm run|npm run --prefix|make test|mvn test|gradle test|docker run x
    git push|git fetch origin|git clone x|git -c a.b=c add x|git -C /x add y|git --exec-path=/x add y|git submodule foreach x
    git bisect run x|git rebase -x y|git grep -O|./npm test|bin/npm test|/p/npm test|unknown test|deno run x|bun x y
    npm test /etc/x|npm test ../x|node /tmp/x.js|npm test -- --config=/tmp/x|npm test -- ../../x|go test example.org/x@v1://y`
      .split(/\||\n\s*/)
      .map((line) => [line.trim()]),
  )("of %s is never granted", (line) => {
    verifies("PERM-5", "PERM-16");
    expect(prefixOf(line)).toBeUndefined();
  });

  test("is none of a program whose name leads to a shell or a wrapper", () => {
    verifies("PERM-16");
    for (const real of ["/bin/bash", "/usr/bin/env", "/bin/busybox"]) {
      expect(findPrefix(["npm", "test"], real)).toBeUndefined();
    }
  });
});

const PROJECT = "/p";

function policyOf(input: PolicyInput = {}): Policy {
  const made = compilePolicy({ roots: { project: PROJECT, write: [] }, ...input });
  if (!made.ok) throw new Error(JSON.stringify(made.problems));
  return made.policy;
}

function run(line: string, more: Partial<CommandResource> = {}): PermissionFacts {
  const argv = words(line);
  const [program = ""] = argv;
  const executable = program.startsWith("/") ? program : `/usr/bin/${program}`;
  return {
    tool_name: "code.run_command",
    permission: "write",
    tags: ["write", "dangerous"],
    source_kind: "code",
    source_id: "code",
    effects: { read_only: false, concurrency_safe: false, destructive: true, open_world: true },
    resources: [{ kind: "command", executable, argv, cwd: PROJECT, ...more }],
    hosts: [],
  };
}

function granted(line: string, id: "prefix" | "exact" | "program", policy = policyOf()) {
  const facts = run(line);
  const asked = evaluate(policy, facts, NO_GRANTS);
  const choice = scopeChoices(policy, facts, asked).find((one) => one.id === id);
  if (choice === undefined) throw new Error(`${id} is not offered for ${line}`);
  const grants = createGrants();
  grants.add({
    grant_id: "g",
    tool_name: facts.tool_name,
    scopes: choice.scopes,
    session_id: "s",
    granted_by: "user",
    granted_at: "2030-01-01T00:00:00.000Z",
    tool_call_id: "c",
    agent_id: "a",
  });
  return (other: PermissionFacts, under = policy) => evaluate(under, other, grants).decision;
}

describe("a grant for it", () => {
  test("covers what begins so, and asks about everything that could be something else", () => {
    verifies("PERM-5", "PERM-16");
    const decide = granted("npm test", "prefix");
    for (const line of ["npm test", "npm test -- x", "npm test a.test.ts", "npm test -- --bail"]) {
      expect(decide(run(line)), line).toBe("allow");
    }
    for (const line of [
      "npm test --prefix /elsewhere",
      "npm test --prefix=elsewhere",
      "npm --prefix /elsewhere test",
      "npm test --script-shell x",
      "npm test -- --config=/tmp/x",
      "npm test -- ../x",
      "npm test ~/x",
      "npm test NODE_OPTIONS=x",
      "npm tests",
      "npm run test",
      "npm",
      "pnpm test",
      "env npm test",
      "/usr/bin/npm test",
    ]) {
      expect(decide(run(line)), line).toBe("ask");
    }
    const elsewhere = { cwd: "/p/sub" };
    expect(decide(run("npm test", elsewhere))).toBe("ask");
    expect(decide(run("npm test", { executable: "/usr/local/bin/npm" }))).toBe("ask");
    // A program of the project, or one that leads there, may have become any other.
    expect(decide(run("npm test", { executable: "/p/bin/npm" }))).toBe("ask");
    expect(decide(run("npm test -- x", { may_reach: ["/p/secrets/k"] }))).toBe("ask");
    expect(decide(run("npm test -- x", { config_runs: { why: "hooks", foreign: false } }))).toBe(
      "ask",
    );
  });

  test("of git covers no option that runs something else", () => {
    verifies("PERM-16");
    const decide = granted("git commit -m a", "prefix");
    expect(decide(run("git commit --amend -m b"))).toBe("allow");
    for (const line of [
      "git -c core.editor=x commit",
      "git -C /x commit",
      "git commit --template=/x",
    ])
      expect(decide(run(line)), line).toBe("ask");
  });

  test("a sensitive target needs a yes of its own", () => {
    verifies("PERM-5", "PATH-3");
    const decide = granted("npm test", "prefix");
    const facts = run("npm test -- .env");
    const env = { kind: "path", access: "read", path: "/p/.env" } as const;
    expect(decide({ ...facts, resources: [...facts.resources, env] })).toBe("ask");
  });

  test("answers no rule and no hook that asks: their user has to see the arguments", () => {
    verifies("PERM-2", "PERM-16");
    const decide = granted("npm test", "prefix");
    const denies = policyOf({
      rules: [{ tool: "code.run_command", argv: ["git", "push"], decision: "deny" }],
    });
    expect(decide(run("npm test -- x"), denies)).toBe("ask");
    expect(
      scopeChoices(denies, run("npm test"), evaluate(denies, run("npm test"), NO_GRANTS)),
    ).toEqual([]);
    const hook = { decision: "ask", reason: "look", hook: "h" } as const;
    expect(decide({ ...run("npm test"), hook })).toBe("ask");
    const child = policyOf({ ceiling: denies });
    expect(decide(run("npm test -- x"), child)).toBe("ask");
    expect(decide(run("npm test -- x"), policyOf({ ceiling: policyOf() }))).toBe("allow");
    const forbids = policyOf({ rules: [{ tool: "code.run_command", decision: "deny" }] });
    expect(decide(run("npm test -- x"), forbids)).toBe("deny");
  });

  test("a plain program may be granted with these arguments alone", () => {
    verifies("PERM-5");
    const exactly = granted("rm a", "exact");
    expect([exactly(run("rm a")), exactly(run("rm b"))]).toEqual(["allow", "ask"]);
    const any = granted("rm a", "program");
    expect([any(run("rm a")), any(run("rm b"))]).toEqual(["allow", "allow"]);
  });
});

test("a covered command begins with the granted words and names nothing outside", () => {
  verifies("PERM-5", "PERM-16");
  const word = fc.constantFrom(
    ..."-- -x --prefix --prefix=/e /e ../e ~/e a a/b -c x=y --config a=../b -C/x @f https://e ext::sh test".split(
      " ",
    ),
  );
  let covered = 0;
  fc.assert(
    fc.property(
      fc.constantFrom(
        "npm test",
        "cargo test",
        "git add",
        "pytest",
        "node a.js",
        "env npm",
        "sh a",
      ),
      fc.array(word, { maxLength: 6 }),
      (start, rest) => {
        const argv = [...words(start), ...rest];
        for (const prefix of coveringPrefixes(argv, `/usr/bin/${argv[0]}`)) {
          covered += 1;
          expect(argv.slice(0, prefix.length)).toEqual(prefix);
          expect(start).not.toMatch(/^(?:env|sh)/);
          const after = argv.slice(prefix.length);
          expect(after.filter((one) => /^[/~]|\.\.|:\/\/|::|^\w+=|[=C]\//.test(one))).toEqual([]);
          const end = argv.indexOf("--");
          const before = argv.slice(
            prefix.length,
            end === -1 ? undefined : Math.max(end, prefix.length),
          );
          if (argv[0] !== "git") expect(before.filter((one) => /^[-@]/.test(one))).toEqual([]);
        }
      },
    ),
    { numRuns: 2000 },
  );
  expect(covered).toBeGreaterThan(100);
});
