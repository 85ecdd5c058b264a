import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import type { Resource, SandboxMode } from "../tool/index.ts";
import { evaluate } from "./evaluate.ts";
import { type PermissionFacts, subjectOfTool } from "./facts.ts";
import { NO_GRANTS } from "./grants.ts";
import type { PermissionRule } from "./permission-rule.ts";
import { compilePolicy, mergePolicies, type Policy, type PolicyInput } from "./policy.ts";
import { chooseSandbox } from "./sandbox.ts";

type Command = Extract<Resource, { kind: "command" }>;

describe("how a command runs", () => {
  test("a rule says more than its tool, and its tool more than the mode", () => {
    verifies("CMD-6");
    const tools = { "code.*": "required", "code.run_command": "off" } as const;
    const rules: PermissionRule[] = [
      { tool: "code.run_command", argv: ["make", "**"], decision: "ask", sandbox: "on" },
    ];
    expect(modeOf({}, ["ls"])).toEqual({ mode: "on", by: "sandbox.mode" });
    expect(modeOf({ sandbox: { mode: "off" } }, ["ls"]).mode).toBe("off");
    expect(modeOf({ sandbox: { tools } }, ["ls"])).toEqual({
      mode: "off",
      by: 'tools.overrides."code.run_command".sandbox',
    });
    expect(modeOf({ sandbox: { tools }, rules }, ["make", "all"])).toEqual({
      mode: "on",
      by: "rules[0]",
    });
  });

  test("of several rules the strictest counts, in any order", () => {
    const rules: PermissionRule[] = (["off", "required", "on"] as SandboxMode[]).map((sandbox) => ({
      argv: ["make", "**"],
      tool: "code.run_command",
      decision: "ask",
      sandbox,
    }));
    expect(modeOf({ rules }, ["make"]).mode).toBe("required");
    expect(modeOf({ rules: rules.toReversed() }, ["make"]).mode).toBe("required");
  });

  test.each<[readonly string[], SandboxMode]>([
    [["docker", "ps"], "off"],
    [["/usr/bin/env", "docker", "ps"], "on"],
    [["sh", "-c", "docker ps"], "on"],
    [["sh", "-c", "docker ps; curl evil.org"], "on"],
    [["sh", "-c", "$X"], "on"],
    [["./docker", "ps"], "on"],
  ])("a rule lets %j leave the sandbox only where it is beyond doubt that one", (argv, mode) => {
    verifies("CMD-6", "PERM-16");
    for (const decision of ["ask", "allow"] as const) {
      const rule = { tool: "code.run_command", argv: ["docker", "**"], decision } as const;
      expect(modeOf({ rules: [{ ...rule, sandbox: "off" }] }, argv).mode).toBe(mode);
    }
  });

  test("a rule that wants a sandbox looks through what runs other programs", () => {
    const rules: PermissionRule[] = [
      { tool: "code.run_command", argv: ["curl"], decision: "ask", sandbox: "required" },
    ];
    for (const argv of [["curl"], ["env", "curl", "x"], ["sh", "-c", "curl x"]]) {
      expect(modeOf({ sandbox: { mode: "off" }, rules }, argv).mode).toBe("required");
    }
    expect(modeOf({ sandbox: { mode: "off" }, rules }, ["ls"]).mode).toBe("off");
  });

  test("no child leaves the sandbox of its parent", () => {
    verifies("PERM-12");
    const ceiling = compiled({ sandbox: { mode: "required" } });
    const rules: PermissionRule[] = [{ tool: "*", decision: "allow", sandbox: "off" }];
    expect(modeOf({ ceiling, rules, sandbox: { mode: "off" } }, ["ls"]).mode).toBe("required");
  });

  test("nor writes where any of those above it may not", () => {
    verifies("PERM-12");
    const top = compiled({});
    const wide: PolicyInput = { roots: { project: "/p", write: ["/w"] }, tmp_dir: "/t" };
    const middle = compiled({ ...wide, ceiling: top });
    expect(choose(wide, ["ls"]).roots).toEqual(["/p", "/w", "/t"]);
    expect(choose({ ...wide, ceiling: middle }, ["ls"]).roots).toEqual(["/p"]);
  });

  test("what a run adds to the policy of its session loosens nothing", () => {
    const session: PolicyInput = { sandbox: { mode: "on", tools: { "app.x": "off" } } };
    const merged = (run: PolicyInput["sandbox"]) =>
      mergePolicies(session, run === undefined ? {} : { sandbox: run }).sandbox;
    expect(merged(undefined)).toEqual(session.sandbox);
    expect(merged({ mode: "off", auto_allow: true, tools: { "code.*": "off" } })).toEqual({
      mode: "on",
      auto_allow: false,
      tools: { "app.x": "off" },
    });
    expect(merged({ mode: "required" })).toEqual({
      mode: "required",
      auto_allow: false,
      tools: {},
    });
  });
});

describe("which hosts a sandboxed command reaches", () => {
  const rules: PermissionRule[] = [
    { host: "*.example.org", decision: "allow" },
    { host: "bad.example.org", decision: "deny", reason: "it is bad" },
    { tool: "web.fetch", host: "fetched.org", decision: "allow" },
    { tool: "code.run_command", argv: ["npm", "**"], host: "registry.org", decision: "allow" },
    { tool: "web.fetch", host: "*.evil.example.org", decision: "ask" },
  ];

  test("those that rules and permissions.network allow to it, and no others", () => {
    verifies("CMD-6");
    const refusal = (host: string, input: PolicyInput = { rules }, argv = ["curl"]) =>
      choose(input, argv).hostRefusal(host);
    expect(refusal("a.example.org")).toBeUndefined();
    expect(refusal("A.Example.ORG.")).toBeUndefined();
    expect(refusal("example.org")).toMatch(/is not open/);
    expect(refusal("bad.example.org")).toBe("is closed by rules[1]: it is bad");
    expect(refusal("fetched.org")).toMatch(/is not open/);
    expect(refusal("registry.org")).toMatch(/is not open/);
    expect(refusal("registry.org", { rules }, ["npm", "install"])).toBeUndefined();
    // What is asked about with any tool is not open to a command: no one is asked while it runs.
    expect(refusal("x.evil.example.org")).toMatch(/is closed by rules\[4\]/);
    expect(refusal("0x7f.1")).toBe("is not the name of a host");
    expect(refusal("a.org", { network: { mode: "default", hosts: ["a.org"] } })).toBeUndefined();
    expect(refusal("a.example.org", { rules, network: { mode: "off" } })).toMatch(/switched off/);
    expect(refusal("a.example.org", { rules, network: { mode: "ask" } })).toMatch(/approval/);
    const listed = { mode: "hosts", hosts: ["a.org"] } as const;
    expect(refusal("a.org", { rules, network: listed })).toBeUndefined();
    expect(refusal("a.example.org", { rules, network: listed })).toMatch(/is not open/);
    const ceiling = compiled({ network: listed });
    expect(refusal("a.example.org", { rules, ceiling })).toMatch(/is not open/);
  });

  test("the list that is shown says the same", () => {
    expect(choose({}, ["ls"]).hosts).toEqual([]);
    expect(choose({ rules }, ["ls"]).hosts).toEqual(["*.example.org"]);
    expect(choose({ rules }, ["npm", "i"]).hosts).toEqual(["*.example.org", "registry.org"]);
    expect(choose({ rules, network: { mode: "off" } }, ["ls"]).hosts).toEqual([]);
    const ceiling = compiled({ network: { mode: "default", hosts: ["*.org"] } });
    const own = { mode: "default", hosts: ["a.org", "b.com"] } as const;
    expect(choose({ ceiling, network: own }, ["ls"]).hosts).toEqual(["a.org"]);
  });
});

describe("what the sandbox answers", () => {
  const automatic: PolicyInput = { sandbox: { auto_allow: true } };
  const inside = command(["python3", "x.py"], { sandbox: { backend: "bubblewrap" } });

  test("auto_allow lets a command run unasked that only the defaults ask about", () => {
    verifies("CMD-6");
    const judged = judge(automatic, [inside]);
    expect(judged.decision).toBe("allow");
    expect(judged.chain.find((entry) => entry.decisive)?.rule).toBe("defaults.sandboxed_allowed");
    expect(judge({}, [inside]).decision).toBe("ask");
  });

  test.each<[string, PolicyInput, readonly Resource[], "ask" | "deny"]>([
    ["without a sandbox", {}, [{ ...inside, sandbox: { missing: "no bwrap" } }], "ask"],
    ["of a tool that has none", {}, [command(["ls"])], "ask"],
    ["that a rule lets out", { rules: [rule({ sandbox: "off", argv: ["**"] })] }, [inside], "ask"],
    ["that a rule asks about", { rules: [rule({ argv: ["python3"] })] }, [inside], "ask"],
    [
      "that a rule asks about every time",
      { rules: [rule({ argv: ["python3"], every_time: true })] },
      [inside],
      "ask",
    ],
    ["that a rule denies", { rules: [rule({ decision: "deny" })] }, [inside], "deny"],
    [
      "that may run a denied program",
      { rules: [rule({ argv: ["curl"], decision: "deny" })] },
      [command(["sh", "-c", "$X"], { sandbox: { backend: "b" } })],
      "ask",
    ],
    ["in plan mode", { mode: "plan" }, [inside], "deny"],
    ["where destructive calls are denied", { destructive: "deny" }, [inside], "deny"],
    [
      "that names a sensitive file",
      {},
      [inside, { kind: "path", access: "read", path: "/p/.env" }],
      "ask",
    ],
    [
      "that writes outside",
      {},
      [inside, { kind: "path", access: "write", path: "/etc/hosts" }],
      "ask",
    ],
    ["that reaches a host", {}, [inside, { kind: "host", host: "a.org" }], "ask"],
  ])("a command %s is not let through", (_, input, resources, decision) => {
    verifies("CMD-6", "PERM-2");
    expect(judge({ ...automatic, ...input }, resources).decision).toBe(decision);
  });

  test("neither is one under a ceiling without it, one of a declared tool, or one that a hook asks about", () => {
    verifies("CMD-6", "PERM-12");
    const ceiling = compiled({});
    expect(judge({ ...automatic, ceiling }, [inside]).decision).toBe("ask");
    expect(judge(automatic, [inside], { source_kind: "declarative" }).decision).toBe("ask");
    const hook = { decision: "ask", reason: "look", hook: "h" } as const;
    expect(judge(automatic, [inside], { hook }).decision).toBe("ask");
  });

  test("what a command may reach without naming it is closed inside, so no rule has to ask about it", () => {
    verifies("PERM-15");
    const reaching = command(["python3", "x.py"], {
      sandbox: { backend: "bubblewrap" },
      may_reach: ["/p/secret"],
      may_write: ["/p/kept", "/p/asked"],
    });
    const allow = rule({ argv: ["python3", "**"], decision: "allow" });
    const rules: PermissionRule[] = [allow, { path: "secret", decision: "ask" }];
    expect(judge({ rules }, [reaching]).decision).toBe("allow");
    expect(judge({ rules, sandbox: { mode: "off" } }, [reaching]).decision).toBe("ask");
    expect(judge({ ...automatic, rules: rules.slice(1) }, [reaching]).decision).toBe("allow");
    const kept: PermissionRule = { path: "kept", tags: ["write"], decision: "deny" };
    expect(judge({ rules: [allow, kept] }, [reaching]).decision).toBe("allow");
    // What is asked about writing is not closed inside.
    const asked: PermissionRule = { path: "asked", tags: ["write"], decision: "ask" };
    expect(judge({ rules: [allow, asked] }, [reaching]).decision).toBe("ask");
    const hook = { decision: "ask", reason: "guards", hook: "h", unspelled: true } as const;
    expect(judge(automatic, [inside], { hook }).decision).toBe("allow");
    expect(judge({ rules: [allow], sandbox: { mode: "off" } }, [inside], { hook }).decision).toBe(
      "ask",
    );
  });

  test("a command whose contents a repository has, or whose new names no one can keep free, is still asked about", () => {
    verifies("PERM-15");
    const allow = rule({ argv: ["python3", "**"], decision: "allow" });
    const reaching = command(["python3", "x.py"], {
      sandbox: { backend: "bubblewrap" },
      may_reach: ["/p/secret"],
      reach_inside: ["/p/secret/a"],
      may_write: ["/p/x.sql"],
    });
    const rules: PermissionRule[] = [allow, { path: "secret/**", decision: "deny" }];
    expect(judge({ rules }, [reaching])).toMatchObject({
      decision: "ask",
      code: "restricted_path",
    });
    expect(judge({ ...automatic, rules: rules.slice(1) }, [reaching]).decision).toBe("ask");
    const other: PermissionRule = { path: "other", decision: "deny" };
    expect(judge({ rules: [allow, other] }, [reaching]).decision).toBe("allow");
    const named: PermissionRule = { path: "**/*.sql", tags: ["write"], decision: "deny" };
    expect(judge({ rules: [allow, named] }, [reaching]).decision).toBe("ask");
    const hook = { decision: "ask", reason: "guards", hook: "h", unspelled: true } as const;
    expect(judge(automatic, [reaching], { hook }).decision).toBe("ask");
  });

  test("a rule that lets a program out asks about that program, not about scripts that stay inside", () => {
    verifies("CMD-6", "PERM-16");
    const rules = [rule({ argv: ["docker", "**"], sandbox: "off" })];
    const script = command(["sh", "-c", "$X"], { sandbox: { backend: "bubblewrap" } });
    expect(judge({ ...automatic, rules }, [script]).decision).toBe("allow");
    expect(
      judge({ ...automatic, rules }, [{ ...script, sandbox: { missing: "x" } }]).decision,
    ).toBe("ask");
    const always = [rule({ argv: ["git", "push", "**"], sandbox: "off", every_time: true })];
    expect(judge({ ...automatic, rules: always }, [script]).decision).toBe("ask");
    const spelled = command(["sh", "-c", "docker ps"], { sandbox: { backend: "bubblewrap" } });
    expect(judge({ ...automatic, rules }, [spelled]).decision).toBe("ask");
    expect(judge({ ...automatic, rules }, [command(["docker", "ps"])]).decision).toBe("ask");
  });

  test("the model may request to run a command outside, and the user is asked each time", () => {
    verifies("CMD-6");
    const outside = command(["npm", "install"], { leaves_sandbox: true });
    const rules = [rule({ argv: ["npm", "**"], decision: "allow" })];
    const judged = judge({ ...automatic, rules }, [outside]);
    expect(judged).toMatchObject({ decision: "ask", every_time: true, code: "leaves_sandbox" });
    expect(judged.reason).toBe("The model wants this command to run outside of the sandbox.");
    // With a mode of its own it runs outside anyway, or never.
    const letOut = [rule({ argv: ["npm", "**"], decision: "allow", sandbox: "off" })];
    expect(judge({ rules: letOut }, [outside]).decision).toBe("allow");
    expect(judge({ rules, sandbox: { mode: "off" } }, [outside]).decision).toBe("allow");
    const required = judge({ rules, sandbox: { mode: "required" } }, [
      { ...outside, sandbox: { backend: "bubblewrap" } },
    ]);
    expect(required.decision).toBe("allow");
    const choice = (input: PolicyInput) => {
      const subject = subjectOfTool(TOOL, { markedReadonly: false, effectsFixed: true });
      return chooseSandbox(compiled(input), { ...subject, resources: [outside] });
    };
    expect(choice({})).toMatchObject({ mode: "off", by: "the model requests it" });
    expect(choice({ sandbox: { mode: "required" } }).mode).toBe("required");
    expect(judge({ rules: [rule({ decision: "deny" })] }, [outside]).decision).toBe("deny");
  });

  test("required without a sandbox denies, with the reason, even if a rule allows it", () => {
    verifies("CMD-6");
    const without = command(["ls"], { sandbox: { missing: "bubblewrap is not installed" } });
    const rules = [rule({ argv: ["ls"], decision: "allow" })];
    const judged = judge({ rules, sandbox: { mode: "required" } }, [without]);
    expect(judged).toMatchObject({ decision: "deny", code: "sandbox_unavailable" });
    expect(judged.reason).toContain("bubblewrap is not installed");
    expect(judge({ rules, sandbox: { mode: "required" } }, [command(["ls"])]).decision).toBe(
      "deny",
    );
    // One that is proven to only read is a command, too.
    const effects = { ...EFFECTS, read_only: true, destructive: false };
    const proven = judge({ sandbox: { mode: "required" } }, [without], { effects });
    expect(proven.decision).toBe("deny");
    expect(judge({ rules }, [without]).decision).toBe("allow");
  });
});

test.each<[unknown, string]>([
  [{ mode: "maybe" }, "sandbox.mode"],
  [{ auto_allow: 1 }, "sandbox.auto_allow"],
  [{ auto: true }, "sandbox.auto"],
  [{ tools: { code: "off" } }, "sandbox.tools"],
  [{ tools: { "code.*": "never" } }, "sandbox.tools.code.*"],
])("a mistake in %j is named by its field", (sandbox, field) => {
  const made = compilePolicy({ sandbox } as PolicyInput);
  expect(made.ok ? [] : made.problems.map((problem) => problem.field)).toEqual([field]);
});

test.each<[Partial<PermissionRule>, RegExp]>([
  [{ sandbox: "never" as SandboxMode }, /"never"/],
  [{ sandbox: "on", decision: "deny" }, /does not run/],
  [{ sandbox: "off", path: "/src/**" }, /depend on a path/],
  [{ sandbox: "off", host: "a.org" }, /depend on a host/],
])("a rule with %j is refused", (about, message) => {
  const made = compilePolicy({ rules: [rule(about)] });
  expect(made.ok ? "" : made.problems[0]?.message).toMatch(message);
});

const EFFECTS: PermissionFacts["effects"] = {
  read_only: false,
  concurrency_safe: false,
  destructive: true,
  open_world: true,
};

const TOOL = {
  tool_name: "code.run_command",
  permission: "write",
  tags: ["code", "write", "dangerous", "shell"],
  source_kind: "code",
  source_id: "code",
  effects: EFFECTS,
} as const;

function command(argv: readonly string[], more: Partial<Command> = {}): Command {
  const [program = ""] = argv;
  const executable = program.startsWith("/") ? program : `/usr/bin/${program}`;
  const resolved = program.startsWith("./") ? `/p/${program.slice(2)}` : executable;
  return { kind: "command", executable: resolved, argv: [...argv], cwd: "/p", ...more };
}

function rule(about: Partial<PermissionRule>): PermissionRule {
  return { tool: "code.run_command", decision: "ask", ...about };
}

function compiled(input: PolicyInput): Policy {
  const made = compilePolicy({ roots: { project: "/p", write: [] }, home: "/h", ...input });
  if (!made.ok) throw new Error(JSON.stringify(made.problems));
  return made.policy;
}

function choose(input: PolicyInput, argv: readonly string[]) {
  const subject = subjectOfTool(TOOL, { markedReadonly: false, effectsFixed: true });
  return chooseSandbox(compiled(input), { ...subject, resources: [command(argv)] });
}

function modeOf(input: PolicyInput, argv: readonly string[]) {
  const { mode, by } = choose(input, argv);
  return { mode, by };
}

function judge(
  input: PolicyInput,
  resources: readonly Resource[],
  more: Partial<PermissionFacts> = {},
) {
  const facts: PermissionFacts = { ...TOOL, resources, hosts: [], ...more };
  return evaluate(compiled(input), facts, NO_GRANTS);
}
