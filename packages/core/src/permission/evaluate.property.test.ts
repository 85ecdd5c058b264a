// PERM-2 over random policies and calls: the evaluator beside a restatement of the law that shares no
// code with it, and the properties that must hold for all rules.

import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { anyCharacter } from "../../../../test/any-character.ts";
import type { JsonObject } from "@soong/schema";
import type { Resource } from "../tool/index.ts";
import type { Decision } from "./decision.ts";
import {
  type Policy,
  type PolicyInput,
  compilePolicy,
  compileRecordedPolicy,
  describePolicy,
} from "./policy.ts";
import { evaluate } from "./evaluate.ts";
import type { PermissionFacts } from "./facts.ts";
import { createGrants, NO_GRANTS } from "./grants.ts";
import type { PermissionRule } from "./permission-rule.ts";
import { findScopes, scopeChoices } from "./scopes-of-call.ts";
import { staticVerdict } from "./static-verdict.ts";

const numRuns = process.env["SOONG_TEST_FULL"] === "1" ? 20_000 : 500;

test("the evaluator decides as the law says, for any policy and any call", () => {
  verifies("PERM-2", "PERM-3", "PERM-7", "PERM-9", "PERM-10", "PERM-14");
  const seen = new Set<string>();
  fc.assert(
    fc.property(anyPolicy(), anyCall(), (input, facts) => {
      const expected = decisionByTheLaw(input, facts);
      const judged = evaluate(compiled(input), facts, NO_GRANTS);
      expect(judged.decision).toBe(expected);
      seen.add(expected);
      const decisive = judged.chain.filter((entry) => entry.decisive === true);
      expect(decisive).toHaveLength(1);
      expect(decisive[0]).toMatchObject({ verdict: expected, reason: judged.reason });
    }),
    { numRuns: numRuns * 4 },
  );
  expect([...seen].toSorted()).toEqual(["allow", "ask", "deny"]);
});

test("adding a deny rule never ends in allow where there was none, and denies where it matches", () => {
  verifies("PERM-2");
  let matched = 0;
  fc.assert(
    fc.property(
      anyPolicy(),
      anyRule("deny"),
      anyCall(),
      fc.boolean(),
      (input, deny, facts, granted) => {
        const rules = input.rules ?? [];
        const before = evaluate(
          compiled(input),
          facts,
          granted ? everyGrant(input, facts) : NO_GRANTS,
        );
        for (const place of [0, rules.length]) {
          const policy = compiled({ ...input, rules: rules.toSpliced(place, 0, deny) });
          const after = evaluate(policy, facts, granted ? everyGrant(input, facts) : NO_GRANTS);
          expect(strictness(after.decision)).toBeGreaterThanOrEqual(strictness(before.decision));
          const entry = after.chain.find(({ rule }) => rule === `rules[${place}]`);
          if (entry?.verdict !== "deny") continue;
          matched += 1;
          expect(after.decision).toBe("deny");
        }
      },
    ),
    { numRuns },
  );
  expect(matched).toBeGreaterThan(0);
});

test("grants never change a deny, and only ever turn an ask into allow", () => {
  verifies("PERM-2", "PERM-5");
  fc.assert(
    fc.property(anyPolicy(), anyCall(), (input, facts) => {
      const policy = compiled(input);
      const without = evaluate(policy, facts, NO_GRANTS);
      const granted = evaluate(policy, facts, everyGrant(input, facts));
      if (without.decision !== "ask") expect(granted).toEqual(without);
      else if (without.every_time || without.scopes.length === 0)
        expect(granted.decision).toBe("ask");
      else expect(granted.decision).toBe("allow");
    }),
    { numRuns },
  );
});

test("a hook never loosens, and its deny always holds", () => {
  verifies("PERM-2", "HOOK-2");
  fc.assert(
    fc.property(
      anyPolicy(),
      anyCall(),
      fc.constantFrom("ask", "deny"),
      (input, facts, decision) => {
        const policy = compiled(input);
        const { hook: _none, ...unhooked } = facts;
        const before = evaluate(policy, unhooked, NO_GRANTS).decision;
        const hook = { decision, reason: "because", hook: "h" } as const;
        const after = evaluate(policy, { ...unhooked, hook }, NO_GRANTS).decision;
        expect(strictness(after)).toBe(Math.max(strictness(before), strictness(decision)));
      },
    ),
    { numRuns },
  );
});

test("under a ceiling the stricter of the two policies holds", () => {
  verifies("PERM-12");
  fc.assert(
    fc.property(anyPolicy(), anyPolicy(), anyCall(), (parent, other, facts) => {
      const ceiling = compiled(parent);
      // The session of both says how commands run.
      const child = { ...other, sandbox: parent.sandbox };
      const alone = evaluate(compiled(child), facts, NO_GRANTS);
      const above = evaluate(ceiling, facts, NO_GRANTS);
      const both = evaluate(compiled({ ...child, ceiling }), facts, NO_GRANTS);
      const expected = Math.max(strictness(alone.decision), strictness(above.decision));
      expect(strictness(both.decision)).toBe(expected);
      if (both.decision === "ask")
        expect(both.every_time).toBe(alone.every_time || above.every_time);
    }),
    { numRuns },
  );
});

test("the order of rules does not matter", () => {
  verifies("PERM-2");
  const policyAndOrder = anyPolicy().chain((input) => {
    const rules = [...(input.rules ?? [])];
    return fc.tuple(
      fc.constant(input),
      fc.shuffledSubarray(rules, { minLength: rules.length, maxLength: rules.length }),
    );
  });
  fc.assert(
    fc.property(policyAndOrder, anyCall(), ([input, rules], facts) => {
      const one = evaluate(compiled(input), facts, NO_GRANTS);
      const other = evaluate(compiled({ ...input, rules }), facts, NO_GRANTS);
      expect([other.decision, other.code, other.every_time, other.scopes]).toEqual([
        one.decision,
        one.code,
        one.every_time,
        one.scopes,
      ]);
    }),
    { numRuns },
  );
});

test("plan mode is never looser than normal mode", () => {
  verifies("SURF-9");
  fc.assert(
    fc.property(anyPolicy(), anyCall(), (input, facts) => {
      const normal = evaluate(compiled({ ...input, mode: "normal" }), facts, NO_GRANTS).decision;
      const plan = evaluate(compiled({ ...input, mode: "plan" }), facts, NO_GRANTS).decision;
      expect(strictness(plan)).toBeGreaterThanOrEqual(strictness(normal));
    }),
    { numRuns },
  );
});

test("accepting edits allows edits inside the project and nothing else, and lifts no deny", () => {
  verifies("PERM-2", "SURF-9");
  let accepted = 0;
  fc.assert(
    fc.property(anyPolicy(), anyCall(), (input, facts) => {
      const normal = evaluate(compiled({ ...input, mode: "normal" }), facts, NO_GRANTS).decision;
      const policy = compiled({ ...input, mode: "accept_edits" });
      const { decision, chain } = evaluate(policy, facts, NO_GRANTS);
      if (decision === normal) return;
      accepted += 1;
      expect([normal, decision]).toEqual(["ask", "allow"]);
      expect(chain.find((entry) => entry.decisive)?.rule).toBe("mode.accept_edits");
      expect(facts.tool_name).toMatch(/^code\.(?:edit|write)_file$/);
      for (const resource of facts.resources) {
        if (resource.kind !== "path") throw new Error(`accepted a ${resource.kind}`);
        expect(resource.path).toMatch(/^\/[pw](?:\/|$)/);
        expect(SENSITIVE).not.toContain(resource.path);
      }
    }),
    { numRuns: numRuns * 4 },
  );
  expect(accepted).toBeGreaterThan(0);
});

test("commands that run in a sandbox unasked are those that only the defaults asked about", () => {
  verifies("PERM-2", "CMD-6");
  let allowed = 0;
  fc.assert(
    fc.property(anyPolicy(), anyCall(), (input, facts) => {
      const { mode } = input.sandbox!;
      const judged = (auto_allow: boolean) =>
        evaluate(compiled({ ...input, sandbox: { mode, auto_allow } }), facts, NO_GRANTS);
      const [without, automatic] = [judged(false), judged(true)];
      if (automatic.decision === without.decision) return;
      allowed += 1;
      expect([without.decision, automatic.decision]).toEqual(["ask", "allow"]);
      expect(without.chain.find((entry) => entry.decisive)?.layer).toBe("defaults");
      expect(without.every_time).toBe(false);
      expect(facts.hook).toBeUndefined();
    }),
    { numRuns: numRuns * 4 },
  );
  expect(allowed).toBeGreaterThan(0);
});

test("a dangerous tool is never allowed without a rule that names it or the user's yes, but for a proven command", () => {
  verifies("PERM-7", "CMD-4");
  fc.assert(
    fc.property(anyPolicy(), anyCall(), (input, call) => {
      const facts = { ...call, tags: [...call.tags, "dangerous"] };
      const unnamed = (input.rules ?? []).filter((rule) => rule.tool !== facts.tool_name);
      const sandbox = { ...input.sandbox, auto_allow: false };
      const judged = evaluate(compiled({ ...input, sandbox, rules: unnamed }), facts, NO_GRANTS);
      const isProven =
        input.read_only_commands === "allow" &&
        facts.source_kind === "code" &&
        facts.effects.read_only &&
        facts.resources.some(({ kind }) => kind === "command");
      if (!isProven) expect(judged.decision).not.toBe("allow");
    }),
    { numRuns },
  );
});

test("what the surface omits, no call of it would have been let through", () => {
  verifies("SURF-3");
  let denied = 0;
  fc.assert(
    fc.property(anyPolicy(), anyCall(), (input, facts) => {
      const policy = compiled(input);
      const { planned_destructive: _plan, ...unplanned } = facts;
      const { verdict } = staticVerdict(policy, { ...facts, effects_fixed: true });
      if (verdict !== "denied") return;
      denied += 1;
      expect(evaluate(policy, unplanned, everyGrant(input, facts)).decision).toBe("deny");
    }),
    { numRuns },
  );
  expect(denied).toBeGreaterThan(0);
});

test("a recorded policy judges as the one that was recorded", () => {
  verifies("PERM-9", "REPLAY-1");
  fc.assert(
    fc.property(anyPolicy(), fc.option(anyPolicy()), anyCall(), (input, parent, facts) => {
      const policy = compiled(parent === null ? input : { ...input, ceiling: compiled(parent) });
      const record = JSON.parse(JSON.stringify(describePolicy(policy))) as JsonObject;
      const again = compileRecordedPolicy(record);
      if (!again.ok) throw new Error(JSON.stringify(again.problems));
      expect(evaluate(again.policy, facts, NO_GRANTS)).toEqual(evaluate(policy, facts, NO_GRANTS));
      expect(JSON.stringify(describePolicy(again.policy))).toBe(JSON.stringify(record));
    }),
    { numRuns },
  );
});

test("anything a tool claims to touch is evaluated, and never throws", () => {
  verifies("PERM-2");
  const junk = fc.oneof(
    fc.anything(),
    fc.record({
      kind: fc.constantFrom("path", "command", "host", "other"),
      access: fc.oneof(fc.anything(), fc.constant("write")),
      path: fc.oneof(
        fc.anything(),
        fc.string({ unit: anyCharacter }).map((name) => `/${name}`),
      ),
      executable: fc.oneof(fc.anything(), fc.constant("/bin/ls")),
      argv: fc.oneof(fc.anything(), fc.array(fc.anything()), fc.array(fc.string())),
      cwd: fc.oneof(fc.anything(), fc.constant("/p")),
      host: fc.anything(),
    }),
  );
  const anyJunkCall = fc.tuple(
    anyCall(),
    fc.array(junk, { minLength: 1, maxLength: 4 }),
    fc.oneof(fc.constant("unknown"), fc.array(fc.anything())),
  );
  fc.assert(
    fc.property(anyPolicy(), anyJunkCall, (input, [call, resources, hosts]) => {
      const facts = { ...call, resources, hosts } as unknown as PermissionFacts;
      const { decision } = evaluate(compiled(input), facts, createGrants());
      expect(["allow", "ask", "deny"]).toContain(decision);
    }),
    { numRuns },
  );
});

// PERM-2, PERM-3, PERM-7, PERM-10 and PERM-14 once more, as plainly as they can be said.
function decisionByTheLaw(input: PolicyInput, facts: PermissionFacts): Decision {
  const said: Record<string, Set<Decision>> = {
    runtime: new Set(),
    rules: new Set(),
    mode: new Set(),
    defaults: new Set(),
  };
  const own = facts.source_kind === "internal" || facts.source_kind === "agent";
  const marked = (input.readonly_mcp ?? []).some((name) => likeName(name, facts.tool_name));
  const readOnly = own || (facts.effects.read_only && (facts.source_kind !== "mcp" || marked));
  const destructive = !readOnly && (facts.planned_destructive ?? facts.effects.destructive);
  const good = facts.resources.filter((resource) => JUDGEABLE.get(resource) !== false);
  const isProven =
    readOnly &&
    facts.source_kind === "code" &&
    input.read_only_commands !== "ask" &&
    good.some((resource) => resource.kind === "command");
  const dangerous = facts.tags.includes("dangerous") && !isProven;
  const planned = good.flatMap((resource) => (resource.kind === "host" ? [resource.host] : []));
  const network = facts.tags.includes("network") || facts.hosts === "unknown" || planned.length > 0;
  const hosts = [...planned, ...(facts.hosts === "unknown" ? [] : facts.hosts)];
  const unknown =
    facts.hosts === "unknown" || hosts.includes(ODD_HOST) || (network && hosts.length === 0);
  const known = hosts.filter((host) => host !== ODD_HOST);

  if (good.length < facts.resources.length) said.runtime!.add("deny");
  for (const resource of good) {
    if (resource.kind !== "path") continue;
    const { path, access } = resource;
    const covered = (root: string): boolean => path === root || path.startsWith(`${root}/`);
    if (access === "write" && (covered("/h/.soong") || path === "/h")) said.runtime!.add("deny");
    if (access === "write" && !covered("/p") && !covered("/w")) said.runtime!.add("ask");
    if (access === "search" && !covered("/p")) said.runtime!.add("ask");
    if (SENSITIVE.includes(path) || covered("/h/.soong") || resource.sensitive === true)
      said.runtime!.add("ask");
  }

  for (const rule of input.rules ?? []) {
    const every = rule.decision === "allow";
    const of = <T>(items: T[], fits: (item: T) => boolean): boolean =>
      every ? items.length > 0 && items.every(fits) : items.some(fits);
    const named = (name: string): boolean => rule.tool === undefined || likeName(rule.tool, name);
    const hasTag = (tag: string): boolean => {
      if (tag === "readonly") return readOnly || (!every && facts.tags.includes(tag));
      if (tag === "write" && !every && rule.path !== undefined) return !readOnly;
      if (tag === "write") return !readOnly || facts.tags.includes(tag);
      return facts.tags.includes(tag) || facts.source_kind === tag;
    };
    const { tags = [] } = rule;
    const ofCall = named(facts.tool_name) && tags.every(hasTag);
    // PERM-15: to restrict reading a path is to restrict all that shows what is in it.
    const ofReading =
      !every &&
      rule.path !== undefined &&
      named("code.read_file") &&
      tags.every((tag) => ["code", "readonly", "filesystem"].includes(tag));
    if (!ofCall && !ofReading) continue;
    const shown = good.filter(
      (one) => ofCall || (one.kind === "path" && ["read", "search"].includes(one.access)),
    );
    const paths = shown.flatMap((resource) => (resource.kind === "path" ? [resource.path] : []));
    if (rule.path !== undefined && !of(paths, (path) => likePath(rule.path!, path, every)))
      continue;
    const commands = good.flatMap((resource) => (resource.kind === "command" ? [resource] : []));
    if (rule.argv !== undefined && !of(commands, (one) => likeArgv(rule.argv!, one, every)))
      continue;
    let verdict: Decision = rule.decision;
    if (rule.host !== undefined) {
      const hit = of(known, (host) => likeHost(rule.host!, host));
      if (every ? unknown || !hit : !hit && !unknown) continue;
      if (!every && !hit) verdict = "ask";
    }
    if (verdict === "allow" && dangerous && rule.tool !== facts.tool_name) continue;
    const says = [rule.path, rule.argv, rule.host].map((condition) => condition !== undefined);
    const has = [paths.length > 0, commands.length > 0, network];
    const anywhere = rule.tool === undefined || rule.tool === "*";
    if (verdict === "allow" && anywhere && says.includes(true)) {
      if (has.some((kind, index) => kind && says[index] !== true)) continue;
    }
    said.rules!.add(verdict);
  }
  if (destructive && input.destructive === "deny") said.rules!.add("deny");
  const list = input.network?.hosts ?? [];
  const listed = !unknown && known.every((host) => list.some((item) => likeHost(item, host)));
  if (network && input.network?.mode === "off") said.rules!.add("deny");
  if (network && input.network?.mode === "ask") said.rules!.add("ask");
  if (network && input.network?.mode === "hosts" && !listed) said.rules!.add("deny");

  if (input.mode === "plan" && !readOnly) said.mode!.add("deny");
  const isEdit = ["code.edit_file", "code.write_file"].includes(facts.tool_name);
  if (input.mode === "accept_edits" && isEdit && facts.source_kind === "code") {
    const isInside = facts.resources.every(
      (one) => one.kind === "path" && /^\/(?:p|w)(?:\/|$)/.test(one.path) && good.includes(one),
    );
    const isPlain = !destructive && !dangerous && !network && facts.resources.length > 0;
    if (isPlain && isInside) said.mode!.add("allow");
  }

  const commands = good.filter((one) => one.kind === "command");
  const hasSandbox = commands.every((one) => "backend" in (one.sandbox ?? {}));
  const { mode: sandbox, auto_allow } = input.sandbox!;
  const isSandboxed = commands.length > 0 && sandbox !== "off" && hasSandbox;
  if (commands.length > 0 && sandbox === "required" && !hasSandbox) said.runtime!.add("deny");
  const isAutomatic =
    isSandboxed &&
    auto_allow === true &&
    facts.source_kind === "code" &&
    !network &&
    good.length === facts.resources.length;
  const spared = list.length > 0 && listed;
  const asks = own ? dangerous : dangerous || !readOnly || destructive || (network && !spared);
  said.defaults!.add(asks && !isAutomatic ? "ask" : "allow");

  const layers = [said.runtime!, said.rules!, said.mode!, said.defaults!];
  if (facts.hook?.decision === "deny" || layers.some((layer) => layer.has("deny"))) return "deny";
  const decided = layers.find((layer) => layer.size > 0)!.has("ask") ? "ask" : "allow";
  return facts.hook === undefined ? decided : "ask";
}

function likeName(pattern: string, name: string): boolean {
  return new RegExp(`^${pattern.replaceAll(".", "\\.").replaceAll("*", ".*")}$`).test(name);
}

function likePath(pattern: string, path: string, every: boolean): boolean {
  const absolute = pattern.startsWith("/") ? pattern : `/p/${pattern}`;
  const source = absolute
    .split("/")
    .slice(1)
    .map((part) =>
      part === "**" ? "(?:/[^/]+)*" : `/${part.replaceAll(".", "\\.").replaceAll("*", "[^/]*")}`,
    )
    .join("");
  const below = every ? "" : "(?:/.*)?";
  return new RegExp(`^${source}${below}$`).test(path);
}

function likeHost(pattern: string, host: string): boolean {
  if (pattern === "*") return true;
  return pattern.startsWith("*.")
    ? host.endsWith(pattern.slice(1)) && host !== "127.0.0.1"
    : pattern === host;
}

function likeArgv(
  pattern: readonly string[],
  command: Extract<Resource, { kind: "command" }>,
  every: boolean,
): boolean {
  const items = pattern.filter((item) => item !== "**");
  const word = items[0] ?? "*";
  const given = command.argv[0]!;
  const inWritable = /^\/(?:p|w)\//.test(command.executable);
  const strictly = word.startsWith("/")
    ? given === word
    : !given.includes("/") && !inWritable && (word === "*" || word === given);
  const loosely =
    word === "*" ||
    [given, command.executable].some((name) => name === word || name.endsWith(`/${word}`));
  const rest = items.slice(1).every((item, index) => {
    const actual = command.argv[index + 1];
    return actual !== undefined && (item === "*" || item === actual);
  });
  return (every ? strictly : loosely) && rest;
}

const ODD_HOST = "not a host";
const TOOLS = [
  "code.read_file",
  "code.write_file",
  "code.edit_file",
  "code.run_command",
  "net.fetch",
  "mcp.git.log",
];
const SENSITIVE = ["/p/.env", "/p/secrets/k.pem", "/h/.ssh/id_rsa"];
const PATHS = [
  ...SENSITIVE,
  "/p",
  "/p/src",
  "/p/src/a.ts",
  "/p/src/deep/b.ts",
  "/p/secrets/plain",
  "/pp/x",
  "/w/out.txt",
  "/etc/passwd",
  "/h",
  "/h/.soong",
  "/h/.soong/config.toml",
  "/h/.soongs/x",
];
const COMMANDS: Extract<Resource, { kind: "command" }>[] = [
  { kind: "command", executable: "/usr/bin/git", argv: ["git", "status"], cwd: "/p" },
  { kind: "command", executable: "/usr/bin/git", argv: ["/usr/bin/git", "push"], cwd: "/p" },
  { kind: "command", executable: "/p/git", argv: ["./git", "status"], cwd: "/p" },
  { kind: "command", executable: "/p/bin/git", argv: ["git", "status", "-s"], cwd: "/p" },
  { kind: "command", executable: "/bin/busybox", argv: ["rm", "-rf", "x"], cwd: "/p/src" },
  { kind: "command", executable: "/bin/rm", argv: ["rm"], cwd: "/p" },
];
const BROKEN = [
  { kind: "path", access: "write", path: "/p/../etc/passwd" },
  { kind: "path", access: "read", path: "relative" },
  { kind: "command", executable: "git", argv: ["git"], cwd: "/p" },
] as Resource[];
const JUDGEABLE = new Map(BROKEN.map((resource) => [resource, false]));

function anyCall(): fc.Arbitrary<PermissionFacts> {
  const host = fc.constantFrom("example.org", "api.example.org", "127.0.0.1", "evil.org", ODD_HOST);
  const resource: fc.Arbitrary<Resource> = fc.oneof(
    { weight: 6, arbitrary: anyPathResource() },
    { weight: 4, arbitrary: anyCommand() },
    { weight: 2, arbitrary: host.map((name) => ({ kind: "host" as const, host: name })) },
    { weight: 1, arbitrary: fc.constantFrom(...BROKEN) },
  );
  return fc
    .record({
      tool_name: fc.constantFrom(...TOOLS),
      permission: fc.constantFrom("readonly" as const, "write" as const),
      tags: fc.subarray(["dangerous", "network", "filesystem", "readonly", "write"], {
        maxLength: 2,
      }),
      source_kind: fc.constantFrom("code", "code", "declarative", "mcp", "internal", "agent"),
      source_id: fc.constantFrom("git", "code"),
      effects: fc.record({
        read_only: fc.boolean(),
        concurrency_safe: fc.boolean(),
        destructive: fc.boolean(),
        open_world: fc.boolean(),
      }),
      resources: fc.array(resource, { maxLength: 3 }),
      hosts: fc.oneof(
        fc.constant([]),
        fc.constant("unknown" as const),
        fc.array(host, { maxLength: 2 }),
      ),
      planned_destructive: fc.constantFrom(undefined, undefined, true, false),
      hook: fc.constantFrom(undefined, undefined, undefined, "ask" as const, "deny" as const),
      input_digest: fc.constantFrom(undefined, () => "sha256:1"),
    })
    .map(({ planned_destructive, hook, input_digest, ...facts }) => ({
      ...facts,
      ...(planned_destructive === undefined ? {} : { planned_destructive }),
      ...(hook === undefined ? {} : { hook: { decision: hook, reason: "hooked", hook: "h" } }),
      ...(input_digest === undefined ? {} : { input_digest }),
    }));
}

function anyCommand(): fc.Arbitrary<Resource> {
  return fc
    .constantFrom(...COMMANDS)
    .chain((command) =>
      fc.constantFrom<Resource>(
        command,
        { ...command, sandbox: { backend: "bubblewrap" } },
        { ...command, sandbox: { backend: "bubblewrap" } },
        { ...command, sandbox: { missing: "bubblewrap is not installed" } },
      ),
    );
}

function anyPathResource(): fc.Arbitrary<Resource> {
  return fc
    .record({
      access: fc.constantFrom(
        "read" as const,
        "list" as const,
        "search" as const,
        "write" as const,
      ),
      path: fc.constantFrom(...PATHS),
      sensitive: fc.constantFrom(undefined, undefined, undefined, undefined, true),
    })
    .map(({ sensitive, ...rest }) => ({
      kind: "path" as const,
      ...rest,
      ...(sensitive === undefined ? {} : { sensitive }),
    }));
}

function anyRule(decision?: Decision): fc.Arbitrary<PermissionRule> {
  const maybe = <T>(...values: T[]) =>
    fc.option(fc.constantFrom(...values), { nil: undefined, freq: 3 });
  return fc
    .record({
      tool: fc.option(fc.constantFrom("*", "code.*", "*.fetch", "mcp.*.log", ...TOOLS), {
        nil: undefined,
        freq: 5,
      }),
      tags: maybe(
        ["dangerous"],
        ["network"],
        ["readonly"],
        ["write"],
        ["mcp"],
        ["filesystem", "write"],
      ),
      path: maybe("src/**", "src/*", "secrets", "**/*.ts", "/etc/**", ".env", "**", "/h/**", "src"),
      argv: maybe(
        ["git"],
        ["git", "status"],
        ["git", "*"],
        ["**"],
        ["*"],
        ["/usr/bin/git", "**"],
        ["rm", "-rf"],
      ),
      host: maybe("example.org", "*.example.org", "*", "127.0.0.1"),
      decision:
        decision === undefined
          ? fc.constantFrom("allow", "allow", "ask", "deny")
          : fc.constant(decision),
      every_time: fc.boolean(),
    })
    .map(({ every_time, ...rule }) => {
      const given = Object.entries(rule).filter(([, value]) => value !== undefined);
      const made = Object.fromEntries(given) as unknown as PermissionRule;
      const bare = given.length === 1;
      return {
        ...made,
        ...(bare ? { tool: "*" } : {}),
        ...(made.decision === "ask" ? { every_time } : {}),
      };
    });
}

function anyPolicy(): fc.Arbitrary<PolicyInput> {
  return fc.record({
    rules: fc.array(anyRule(), { maxLength: 4 }),
    mode: fc.constantFrom("normal", "normal", "plan", "orchestrator", "accept_edits"),
    destructive: fc.constantFrom("ask", "ask", "deny"),
    read_only_commands: fc.constantFrom("allow", "ask"),
    network: fc.constantFrom<NonNullable<PolicyInput["network"]>>(
      { mode: "default" },
      { mode: "default", hosts: ["*.example.org"] },
      { mode: "off" },
      { mode: "ask" },
      { mode: "hosts", hosts: ["example.org", "*.example.org", "127.0.0.1"] },
    ),
    readonly_mcp: fc.constantFrom([], ["mcp.git.*"], ["*"]),
    sandbox: fc.record({
      mode: fc.constantFrom("on", "on", "required", "off"),
      auto_allow: fc.boolean(),
    }),
  });
}

function compiled(input: PolicyInput): Policy {
  const made = compilePolicy({
    ...input,
    roots: { project: "/p", write: ["/w"] },
    protected_roots: ["/h/.soong"],
    home: "/h",
  });
  if (!made.ok) throw new Error(JSON.stringify(made.problems));
  return made.policy;
}

/** A book in which this very call was granted before. */
function everyGrant(input: PolicyInput, facts: PermissionFacts) {
  const grants = createGrants();
  const policy = compiled(input);
  const choices = scopeChoices(policy, facts, evaluate(policy, facts, NO_GRANTS));
  grants.add({
    grant_id: "g",
    tool_name: facts.tool_name,
    // And all else that the user might have chosen.
    scopes: [...findScopes(policy, facts), ...choices.flatMap(({ scopes }) => scopes)],
    session_id: "s",
    granted_by: "user",
    granted_at: "2030-01-01T00:00:00.000Z",
    tool_call_id: "c",
    agent_id: "a",
  });
  return grants;
}

function strictness(decision: Decision): number {
  return { allow: 0, ask: 1, deny: 2 }[decision];
}
