// The policy of a run: computed once and recorded (PERM-9), the network (PERM-10), and what belongs to the
// runtime alone (PERM-14).

import {
  defineHook,
  describePolicy,
  type AnyTool,
  type JsonObject,
  type PermissionRule,
  type PolicyInput,
  type ToolSource,
} from "@soong/core";
import { compileRecordedPolicy } from "@soong/core/internal";
import { verifies } from "#laws";
import { describe, expect, test } from "vitest";
import { personWho } from "./people.ts";
import { callOnce } from "./call-once.ts";
import { planByInput, planOf, reads, watchedReader, watchedWriter, writes } from "./watched.ts";
import { createWorld, textOf, type World } from "./world.ts";

const ROOTS = { project: "/project", write: [] };
const allow = (rule: Partial<PermissionRule>): PermissionRule => ({ decision: "allow", ...rule });
const deny = (rule: Partial<PermissionRule>): PermissionRule => ({ decision: "deny", ...rule });

function rulesIn(world: World): unknown[] {
  const [evaluated] = world.facts("permission.evaluated");
  return (evaluated?.data.chain ?? []).map(({ rule }) => rule);
}

describe("the effective policy", () => {
  test("run.started carries it whole, and it can be compiled again from there", async () => {
    verifies("PERM-9");
    const policy: PolicyInput = {
      rules: [deny({ path: "secret/**", origin: { file: "soong.toml", line: 3 } })],
      destructive: "deny",
      network: { mode: "hosts", hosts: ["*.example.org"] },
      protected_roots: ["/home/me/.soong"],
    };
    const world = await createWorld({ roots: ROOTS });
    const opened = await world.kernel.openSession({ journal: world.journal, policy, roots: ROOTS });
    const run = await opened.startRun({});
    const started = world.facts("run.started").at(-1);
    const recorded = started?.data.policy as JsonObject;
    expect(recorded).toMatchObject({
      mode: "normal",
      destructive: "deny",
      network: { mode: "hosts", hosts: ["*.example.org"] },
      protected_roots: ["/home/me/.soong"],
      rules: [{ path: "secret/**", decision: "deny", origin: { file: "soong.toml", line: 3 } }],
    });
    const again = compileRecordedPolicy(JSON.parse(JSON.stringify(recorded)) as JsonObject);
    expect(again.ok && describePolicy(again.policy)).toEqual(describePolicy(run.policy));
    expect(recorded).toEqual(describePolicy(run.policy));
  });

  test.each<[string, PolicyInput, PolicyInput, Partial<AnyTool>]>([
    ["destructive = deny", { destructive: "deny" }, { destructive: "ask" }, {}],
    [
      "the network being off",
      { network: { mode: "off" } },
      { network: { mode: "default", hosts: ["*"] } },
      { tags: ["network"], metadata: { host: "example.org" } },
    ],
    ["a protected root", { protected_roots: ["/project/a"] }, { protected_roots: [] }, {}],
    ["a denying rule", { rules: [deny({ path: "a" })] }, { rules: [allow({ path: "a" })] }, {}],
  ])(
    "what a run brings itself cannot take back %s of the session",
    async (_, policy, own, about) => {
      verifies("PERM-2", "PERM-9");
      const edit = watchedWriter("notes.edit", { prepare: planByInput(), ...about });
      const { ask } = personWho("allow_once");
      const { kernel } = await createWorld({ tools: [edit.tool] });
      const session = await kernel.openSession({ ask, roots: ROOTS, policy });
      const run = await session.startRun({ policy: own });
      const result = await run.call("notes.edit", { path: "/project/a" });
      expect(result.status).toBe("denied");
      expect(edit.inputs).toEqual([]);
    },
  );

  test.each<[string, Partial<AnyTool>, "denied" | "succeeded"]>([
    ["a tool that says it destroys", { destructive: true }, "denied"],
    ["a write that says nothing", {}, "denied"],
    ["a write that destroys nothing", { destructive: false }, "succeeded"],
    [
      "a plan that overwrites, of a tool that mostly does not",
      { destructive: false, prepare: () => ({ resources: [], destructive: true }) },
      "denied",
    ],
    [
      "a plan that destroys nothing, of a tool that might",
      { destructive: true, prepare: () => ({ resources: [], destructive: false }) },
      "succeeded",
    ],
  ])("destructive = deny: %s", async (_, about, status) => {
    verifies("PERM-9");
    const tool = watchedWriter("notes.edit", about);
    const got = await callOnce(tool, {}, { policy: { destructive: "deny" } });
    expect(got.status).toBe(status);
    expect(tool.inputs).toHaveLength(status === "denied" ? 0 : 1);
  });

  test("a request for tools is only that: what an agent or a skill wants still requires approval", async () => {
    verifies("PERM-9");
    const tool = watchedWriter("notes.edit");
    const wants = { allowedTools: ["notes.edit"], suggestedTools: ["notes.edit"] };
    expect(await callOnce(tool, {}, wants)).toMatchObject({ asked: 1 });
    const role = { ...wants, role: "worker" } as const;
    expect(await callOnce(watchedWriter("notes.edit"), {}, role)).toMatchObject({ asked: 1 });
  });

  test("destructive calls ask by default even where writes are ordinary", async () => {
    verifies("PERM-9");
    const { world } = await callOnce(watchedWriter("notes.edit", { destructive: true }), {});
    expect(rulesIn(world)).toContain("defaults.destructive_asks");
  });
});

describe("the network", () => {
  const fetchTool = (about: Partial<AnyTool> = {}): AnyTool =>
    watchedReader("web.get", { tags: ["network"], ...about }).tool;
  const listed: PolicyInput = {
    network: { mode: "hosts", hosts: ["example.org", "*.example.net"] },
  };

  async function hostsOf(sources: ToolSource, input: JsonObject, policy: PolicyInput = {}) {
    const person = personWho("allow_once");
    const world = await createWorld({ sources: [sources], ask: person.ask, policy });
    const name = sources.tools[0]?.name ?? "";
    const [result] = await world.execute({ name, arguments: input });
    const [evaluated] = world.facts("permission.evaluated");
    return {
      hosts: evaluated?.data.hosts,
      status: result?.status,
      code: result?.error?.code,
      asked: person.requests.length,
      shown: person.requests[0]?.network_hosts,
    };
  }
  const code = (tool: AnyTool): ToolSource => ({ id: "web", kind: "code", tools: [tool] });

  test("the host comes from the server's url", async () => {
    verifies("PERM-10");
    const tool = watchedReader("mcp.docs.find").tool;
    const source: ToolSource = {
      id: "docs",
      kind: "mcp",
      host: "docs.example.net",
      tags: ["network"],
      tools: [tool],
    };
    const got = await hostsOf(source, {});
    expect(got).toMatchObject({ hosts: ["docs.example.net"], shown: ["docs.example.net"] });
    const elsewhere = { ...source, host: "example.com" };
    expect(await hostsOf(elsewhere, {}, listed)).toMatchObject({
      status: "denied",
      code: "host_not_allowed",
    });
  });

  test("a whole server can be a network source: its tag reaches every tool", async () => {
    verifies("PERM-10");
    const tool = watchedReader("mcp.docs.find").tool;
    const source: ToolSource = { id: "docs", kind: "mcp", tags: ["network"], tools: [tool] };
    const policy: PolicyInput = { ...listed, readonly_mcp: ["mcp.*"] };
    expect(await hostsOf(source, {}, policy)).toMatchObject({ status: "denied" });
    const plain: ToolSource = { ...source, tags: [] };
    expect(await hostsOf(plain, {}, policy)).toMatchObject({ status: "succeeded" });
  });

  test("the host comes from the tool's metadata, in one spelling", async () => {
    verifies("PERM-10");
    const tool = fetchTool({ metadata: { host: "Example.ORG" } });
    expect(await hostsOf(code(tool), {}, listed)).toMatchObject({
      hosts: ["example.org"],
      status: "succeeded",
    });
  });

  test.each<[string, JsonObject, string[]]>([
    ["a field called url", { url: "https://Example.org:8443/a?b" }, ["example.org"]],
    ["a field whose format is uri", { place: "https://a.example.net/" }, ["a.example.net"]],
    [
      "a list of them",
      { uris: ["http://example.org", "http://b.example.net"] },
      ["b.example.net", "example.org"],
    ],
  ])("the host comes from %s", async (_, input, hosts) => {
    verifies("PERM-10");
    const input_schema = {
      type: "object",
      properties: { place: { type: "string", format: "uri" } },
    };
    const got = await hostsOf(code(fetchTool({ input_schema })), input, listed);
    expect(got).toMatchObject({ hosts, status: "succeeded" });
  });

  test.each<[string, JsonObject]>([
    ["no host at all", {}],
    ["a uri two readers could read differently", { url: "https://example.org\\@evil.test/" }],
    ["a user before the host", { url: "https://example.org@evil.test/" }],
    ["a number for an address", { url: "http://2130706433/" }],
    ["one good and one unreadable uri", { url: "https://example.org", other_url: "//evil.test" }],
    [
      "one good and one unlisted uri",
      { url: "https://example.org", other_url: "https://evil.test" },
    ],
    ["the parent of a wildcard", { url: "https://example.net/" }],
    ["a host that only ends alike", { url: "https://evilexample.org/" }],
    [
      "an unlisted uri inside an object",
      { url: "https://example.org", mirror: { url: "https://evil.test" } },
    ],
    [
      "an unlisted uri inside a list",
      { url: "https://example.org", all: [{ url: "https://evil.test" }] },
    ],
  ])("under a list, %s is denied", async (_, input) => {
    verifies("PERM-10");
    const tool = watchedReader("web.get", { tags: ["network"] });
    const got = await hostsOf(code(tool.tool), input, listed);
    expect(got).toMatchObject({ status: "denied", code: "host_not_allowed", asked: 0 });
    expect(tool.inputs).toEqual([]);
  });

  test("a uri does not hide behind the host of the tool itself", async () => {
    verifies("PERM-10");
    const tool = fetchTool({ metadata: { host: "example.org" } });
    expect(await hostsOf(code(tool), { url: "https://evil.test/" }, listed)).toMatchObject({
      status: "denied",
    });
  });

  test("switched off, no rule and no grant lets a network tool through", async () => {
    verifies("PERM-10");
    const policy: PolicyInput = {
      network: { mode: "off" },
      rules: [allow({ tool: "web.get", host: "example.org" })],
    };
    const tool = watchedReader("web.get", { prepare: planByInput() });
    const got = await hostsOf(code(tool.tool), { host: "example.org" }, policy);
    expect(got).toMatchObject({ status: "denied", code: "network_off", asked: 0 });
    expect(tool.inputs).toEqual([]);
  });

  test("asked each time means each time: a yes for the session is for this call alone", async () => {
    verifies("PERM-10", "PERM-5");
    const person = personWho("allow_for_session");
    const tools = [fetchTool()];
    const policy: PolicyInput = { network: { mode: "ask" } };
    const world = await createWorld({ tools, ask: person.ask, policy });
    const call = { name: "web.get", arguments: { url: "https://example.org" } };
    await world.execute(call);
    await world.execute(call);
    expect(person.requests).toHaveLength(2);
    expect(person.requests[0]?.scopes).toEqual([]);
    expect(world.session.grants()).toEqual([]);
    expect(world.facts("grant.created")).toEqual([]);
  });
});

describe("what the runtime keeps for itself", () => {
  const HOME = "/home/me/.soong";
  const LOCK = "/project/.soong.lock";
  const everything: PolicyInput = {
    protected_roots: [HOME, LOCK],
    rules: [allow({ tool: "notes.edit" }), allow({ path: `${HOME}/**` }), allow({ path: LOCK })],
  };

  test.each([
    `${HOME}/config.toml`,
    `${HOME}/hooks/hooks.json`,
    HOME,
    LOCK,
    // Replacing the directory above replaces what is in it.
    "/home/me",
  ])("a write to %s is denied, even if rules, the user or hooks allow it", async (path) => {
    verifies("PERM-14");
    const tool = watchedWriter("notes.edit", { prepare: planOf(writes(path)) });
    const pass = defineHook({ id: "yes", event: "PreToolUse", run: () => ({ decision: "pass" }) });
    const got = await callOnce(tool, {}, { policy: everything, hooks: [pass] });
    expect(got).toMatchObject({ status: "denied", code: "protected_path", asked: 0 });
    expect(tool.inputs).toEqual([]);
    expect(got.world.facts("tool.denied")).toHaveLength(1);
  });

  test("on a disk that does not distinguish cases, another spelling is the same place", async () => {
    verifies("PERM-14");
    const tool = watchedWriter("notes.edit", { prepare: planOf(writes("/home/ME/.Soong/a")) });
    const policy = { ...everything, case_insensitive_paths: true };
    expect(await callOnce(tool, {}, { policy })).toMatchObject({ status: "denied" });
    expect(tool.inputs).toEqual([]);
  });

  test("one protected target among many is enough", async () => {
    verifies("PERM-14");
    const tool = watchedWriter("notes.edit", {
      prepare: planOf(writes("/project/a"), writes(`${HOME}/memory/x`)),
    });
    expect(await callOnce(tool, {}, { policy: everything })).toMatchObject({ status: "denied" });
  });

  test("no tool is exempt: bookkeeping and MCP tools are denied as well", async () => {
    verifies("PERM-14");
    for (const [kind, name] of [
      ["internal", "internal.load_skill"],
      ["mcp", "mcp.docs.edit"],
      ["declarative", "notes.sync"],
    ] as const) {
      const { tool, inputs } = watchedWriter(name, { prepare: planOf(writes(`${HOME}/store.db`)) });
      const sources: ToolSource[] = [{ id: "docs", kind, trusted: true, tools: [tool] }];
      const world = await createWorld({ sources, policy: everything });
      const [result] = await world.execute({ name, arguments: {} });
      expect(result?.error?.code, textOf(result)).toBe("protected_path");
      expect(inputs).toEqual([]);
    }
  });

  test("a neighbour with the same beginning is not protected, and reading is no write", async () => {
    verifies("PERM-14");
    const beside = watchedWriter("notes.edit", { prepare: planOf(writes(`${HOME}-old/a`)) });
    expect(await callOnce(beside, {}, { policy: everything })).toMatchObject({
      status: "succeeded",
    });
    const read = watchedReader("notes.read", { prepare: planOf(reads(`${HOME}/config.toml`)) });
    expect(await callOnce(read, {}, { policy: everything })).toMatchObject({ status: "succeeded" });
  });
});
