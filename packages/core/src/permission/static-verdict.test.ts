import { expect, test } from "vitest";
import { verifies } from "#laws";
import { compilePolicy, type PolicyInput } from "./policy.ts";
import { staticVerdict, type StaticFacts } from "./static-verdict.ts";

const READS = { read_only: true, concurrency_safe: true, destructive: false, open_world: false };
const DESTROYS = { ...READS, read_only: false, destructive: true };

test.each<[string, PolicyInput, Partial<StaticFacts>, string, string]>([
  ["a reader", {}, {}, "allowed", "defaults.readonly_allowed"],
  ["a writer", {}, { effects: DESTROYS }, "ask", "defaults.write_asks"],
  ["a dangerous tool", {}, { tags: ["dangerous"] }, "ask", "defaults.dangerous_asks"],
  [
    "a tool a rule allows",
    { rules: [{ tool: "a.*", decision: "allow" }] },
    { effects: DESTROYS },
    "allowed",
    "rules[0]",
  ],
  [
    "a tool a rule denies",
    { rules: [{ tool: "a.*", decision: "deny" }] },
    {},
    "denied",
    "rules[0]",
  ],
  [
    "a tag a rule denies",
    { rules: [{ tags: ["network"], decision: "deny" }] },
    { tags: ["network"] },
    "denied",
    "rules[0]",
  ],
  [
    "a tool denied for some paths",
    { rules: [{ tool: "a.*", path: "/x", decision: "deny" }] },
    {},
    "allowed",
    "defaults.readonly_allowed",
  ],
  [
    "a tool denied for some commands",
    { rules: [{ argv: ["rm"], decision: "deny" }] },
    {},
    "allowed",
    "defaults.readonly_allowed",
  ],
  [
    "a tool denied for some hosts",
    { rules: [{ host: "a.org", decision: "deny" }] },
    { tags: ["network"] },
    "ask",
    "defaults.network_asks",
  ],
  [
    "a reader that reaches hosts, under a list of them",
    { network: { mode: "hosts", hosts: ["a.org"] } },
    { tags: ["network"] },
    "ask",
    "permissions.network",
  ],
  [
    "a reader that reaches hosts, some of them listed",
    { network: { mode: "default", hosts: ["a.org"] } },
    { tags: ["network"] },
    "ask",
    "permissions.network",
  ],
  [
    "a tool that is allowed, but for a host",
    {
      rules: [
        { tool: "a.*", decision: "allow" },
        { host: "a.org", decision: "deny" },
      ],
    },
    { tags: ["network"] },
    "ask",
    "rules[1]",
  ],
  [
    "a tool without the network, under a list of hosts",
    { network: { mode: "hosts", hosts: ["a.org"] } },
    {},
    "allowed",
    "defaults.readonly_allowed",
  ],
  [
    "a tool allowed for some paths",
    { rules: [{ path: "/x", decision: "allow" }] },
    { effects: DESTROYS },
    "ask",
    "defaults.write_asks",
  ],
  ["a writer in plan mode", { mode: "plan" }, { effects: DESTROYS }, "denied", "mode.plan"],
  ["a reader in plan mode", { mode: "plan" }, {}, "allowed", "defaults.readonly_allowed"],
  [
    "bookkeeping in plan mode",
    { mode: "plan" },
    { source_kind: "internal", effects: DESTROYS },
    "allowed",
    "defaults.own_allowed",
  ],
  [
    "a network tool without network",
    { network: { mode: "off" } },
    { tags: ["network"] },
    "denied",
    "permissions.network",
  ],
  [
    "a network tool asked about",
    { network: { mode: "ask" } },
    { tags: ["network"] },
    "ask",
    "permissions.network",
  ],
  [
    "what may destroy",
    { destructive: "deny" },
    { effects: DESTROYS },
    "ask",
    "defaults.write_asks",
  ],
  [
    "what always destroys",
    { destructive: "deny" },
    { effects: DESTROYS, effects_fixed: true },
    "denied",
    "permissions.destructive",
  ],
  ["a server's tool", {}, { source_kind: "mcp" }, "ask", "defaults.mcp_asks"],
  [
    "a server's tool marked readonly",
    { readonly_mcp: ["a.*"] },
    { source_kind: "mcp" },
    "allowed",
    "defaults.readonly_allowed",
  ],
])("before any input: %s", (_what, input, facts, verdict, rule) => {
  verifies("SURF-3", "SURF-8", "SURF-9");
  expect(staticVerdict(compiled(input), tool(facts))).toMatchObject({ verdict, rule });
});

test("before any input: a ceiling counts", () => {
  verifies("SURF-3", "PERM-12");
  const ceiling = compiled({
    rules: [{ tool: "a.*", decision: "deny", reason: "not for children" }],
  });
  expect(staticVerdict(compiled({ ceiling }), tool({}))).toEqual({
    verdict: "denied",
    rule: "rules/rules[0]",
    reason: "not for children",
  });
});

function compiled(input: PolicyInput) {
  const made = compilePolicy(input);
  if (!made.ok) throw new Error(JSON.stringify(made.problems));
  return made.policy;
}

function tool(facts: Partial<StaticFacts>): StaticFacts {
  return {
    tool_name: "a.tool",
    permission: "readonly",
    tags: [],
    source_kind: "code",
    source_id: "code",
    effects: READS,
    ...facts,
  };
}
