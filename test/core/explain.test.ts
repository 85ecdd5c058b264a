// `explain` (PERM-11) and single calls from code (PIPE-8): what would happen, without it happening; and
// every end a call can have, without a model.

import {
  defineHook,
  isTerminalFact,
  type AnyTool,
  type Explanation,
  type JsonObject,
  type PermissionRule,
} from "@soong/core";
import { verifies } from "#laws";
import { describe, expect, test } from "vitest";
import { personWho } from "./people.ts";
import { pre } from "./pre-hook.ts";
import { BOTH, KNOWN, leaksIn, SECRETS } from "./secrets.ts";
import { planByInput, watchedReader, watchedWriter } from "./watched.ts";
import {
  allowAll,
  createWorld,
  reader,
  textOf,
  writer,
  type World,
  type WorldOptions,
} from "./world.ts";

const ROOTS = { project: "/project", write: [] };
const typed = {
  type: "object",
  properties: { path: { type: "string" }, n: { type: "integer" } },
  additionalProperties: false,
};

/** A tool of every kind a call can meet. */
function tools(): AnyTool[] {
  return [
    reader("notes.read"),
    writer("notes.edit", 0, {
      input_schema: typed,
      prepare: planByInput(),
      aliases: ["edit_note"],
    }),
    reader("notes.later", 0, { defer: true }),
    reader("notes.off", 0, { isEnabled: () => false }),
    reader("notes.unplanned", 0, {
      prepare: () => {
        throw new Error("no plan today");
      },
    }),
    writer("notes.purge", 0, { tags: ["dangerous"] }),
  ];
}

const rules: PermissionRule[] = [
  {
    path: "locked/**",
    decision: "deny",
    reason: "locked by ops",
    origin: { file: "/home/me/soong.toml", line: 12 },
  },
  { path: "free/**", decision: "allow", origin: { flag: "--allow free/**" } },
];

async function explaining(options: WorldOptions = {}): Promise<World> {
  return createWorld({ tools: tools(), roots: ROOTS, policy: { rules }, ...options });
}

function chainOf(explained: Explanation) {
  if (explained.outcome === "refused") throw new Error(`refused: ${explained.error.message}`);
  return explained.chain;
}

const calls: [string, string, unknown, string][] = [
  ["an unknown tool", "notes.none", {}, "refused tool_not_available"],
  ["an empty name", "", {}, "refused tool_not_available"],
  ["a tool that is off", "notes.off", {}, "refused tool_not_available"],
  ["a deferred tool", "notes.later", {}, "refused schema_not_loaded"],
  ["a wrong argument", "notes.edit", { n: "x" }, "refused invalid_arguments"],
  ["arguments that do not parse", "notes.edit", "{", "refused invalid_arguments"],
  ["a plan that fails", "notes.unplanned", {}, "refused execution_failed"],
  ["a read", "notes.read", {}, "allow"],
  ["a write", "notes.edit", { path: "/project/a" }, "ask"],
  ["a write by alias", "edit_note", { path: "/project/a" }, "ask"],
  ["a write by wire name", "notes__edit", { path: "/project/a" }, "ask"],
  ["a write a rule allows", "notes.edit", { path: "/project/free/a" }, "allow"],
  ["a write a rule denies", "notes.edit", { path: "/project/locked/a" }, "deny"],
  ["a dangerous tool", "notes.purge", {}, "ask"],
];

describe("explain", () => {
  test.each(calls)("says what would become of %s", async (_, name, input, expected) => {
    verifies("PERM-11", "PIPE-8");
    const { run } = await explaining();
    const explained = await run.explain({ name, arguments: input });
    const got =
      explained.outcome === "refused" ? `refused ${explained.error.code}` : explained.outcome;
    expect(got.replace("arguments_not_json", "invalid_arguments")).toBe(expected);
  });

  test.each(calls)("and the call of %s, once made, meets just that", async (_, name, input) => {
    verifies("PERM-11", "PIPE-8");
    const world = await explaining({ ask: personWho("deny").ask });
    const explained = await world.run.explain({ name, arguments: input });
    const result = await world.run.call(name, input);
    const evaluated = world.facts("permission.evaluated");
    if (explained.outcome === "refused") {
      expect(result.error).toEqual(explained.error);
      expect(result.status).toBe(explained.status);
      const judged = explained.judgements ?? [];
      expect(evaluated.map(({ data }) => data)).toMatchObject(judged);
      return;
    }
    expect(result.tool_name).toBe(explained.tool_name);
    expect(evaluated.map(({ data }) => data.decision)).toEqual(
      explained.judgements.map(({ decision }) => decision),
    );
    expect(evaluated.at(-1)?.data).toMatchObject({
      decision: explained.outcome,
      reason: explained.reason,
      chain: explained.chain,
    });
    expect(result.status).toBe(
      { allow: "succeeded", ask: "rejected", deny: "denied" }[explained.outcome],
    );
  });

  test("shows the whole chain, with layer, rule, verdict, file and line", async () => {
    verifies("PERM-11");
    const { run } = await explaining();
    const input = { path: "/project/locked/a" };
    const chain = chainOf(await run.explain({ name: "notes.edit", arguments: input }));
    expect(chain.map(({ layer }) => layer)).toEqual(
      expect.arrayContaining(["runtime", "rules", "mode", "defaults"]),
    );
    expect(chain.filter(({ decisive }) => decisive === true)).toEqual([
      expect.objectContaining({
        layer: "rules",
        verdict: "deny",
        reason: "locked by ops",
        origin: { file: "/home/me/soong.toml", line: 12 },
      }),
    ]);
    for (const entry of chain) {
      expect(entry).toMatchObject({
        rule: expect.any(String) as string,
        reason: expect.any(String) as string,
      });
    }
  });

  test("shows the flag a rule came from", async () => {
    verifies("PERM-11");
    const { run } = await explaining();
    const chain = chainOf(
      await run.explain({ name: "notes.edit", arguments: { path: "/project/free/a" } }),
    );
    expect(chain.find(({ decisive }) => decisive === true)?.origin).toEqual({
      flag: "--allow free/**",
    });
  });

  test("shows plan, effects, scopes and the digest the real call is bound to", async () => {
    verifies("PERM-11", "DEF-5");
    const person = personWho("deny");
    const { run } = await explaining({ ask: person.ask });
    const input = { path: "/project/a/b" };
    const explained = await run.explain({ name: "notes.edit", arguments: input });
    await run.call("notes.edit", input);
    const [request] = person.requests;
    expect(explained).toMatchObject({
      tool_name: "notes.edit",
      observable_input: input,
      effects: { read_only: false, destructive: true },
      plan: { resources: [{ kind: "path", access: "write", path: "/project/a/b" }] },
      scopes: request?.scopes,
      digest: request?.digest,
    });
  });

  test("shows the grant that would let it through", async () => {
    verifies("PERM-11");
    const { run, session } = await explaining({ ask: personWho("allow_for_session").ask });
    const call = { name: "notes.edit", arguments: { path: "/project/a" } };
    await run.execute([call]);
    const explained = await run.explain(call);
    expect(explained.outcome).toBe("allow");
    expect(chainOf(explained).at(-1)).toMatchObject({
      layer: "grant",
      verdict: "satisfied",
      rule: `grant:${session.grants()[0]?.grant_id}`,
    });
  });

  test("names the hooks that would be asked, and runs none", async () => {
    verifies("PERM-11");
    let ran = 0;
    const count = () => void (ran += 1);
    const hooks = [
      pre("any", count),
      pre("other", count, { tool: "code.*" }),
      pre("path", count, { path: "/project/locked/**" }),
      defineHook({ id: "request", event: "PermissionRequest", run: count }),
      defineHook({ id: "after", event: "PostToolUse", run: count }),
    ];
    const { run } = await explaining({ hooks });
    const hooksOf = async (name: string, input: JsonObject) => {
      const explained = await run.explain({ name, arguments: input });
      return "hooks" in explained ? explained.hooks : [];
    };
    expect(await hooksOf("notes.edit", { path: "/project/a" })).toEqual(["any", "request"]);
    expect(await hooksOf("notes.edit", { path: "/project/locked/a" })).toEqual(["any", "path"]);
    expect(await hooksOf("notes.read", {})).toEqual(["any"]);
    expect(ran).toBe(0);
  });
});

describe("explaining leaves no trace", () => {
  test("nothing is executed, no one is asked, nothing is recorded or kept", async () => {
    verifies("PERM-11");
    const watched = [
      watchedReader("notes.read"),
      watchedWriter("notes.edit", { prepare: planByInput() }),
    ];
    const person = personWho("allow_for_session");
    const world = await createWorld({
      tools: watched.map(({ tool }) => tool),
      ask: person.ask,
      roots: ROOTS,
      policy: { rules },
    });
    const facts = world.facts().length;
    for (const name of ["notes.read", "notes.edit", "notes.none"]) {
      for (const input of [{}, { path: "/project/free/a" }, "{", { text: "x".repeat(100_000) }]) {
        await world.run.explain({ id: "c1", name, arguments: input });
      }
    }
    expect(watched.flatMap(({ inputs }) => inputs)).toEqual([]);
    expect(person.requests).toEqual([]);
    expect(world.facts()).toHaveLength(facts);
    expect(world.journal.nodes).toEqual([]);
    expect(world.session.grants()).toEqual([]);
    expect(world.artifacts.list().map(({ name }) => name)).toEqual(["definitions.json"]);
    expect(world.clock.pending).toBe(0);
  });

  test("the id it was given is still free for the real call", async () => {
    verifies("PERM-11");
    const world = await explaining();
    await world.run.explain({ id: "c1", name: "notes.read", arguments: {} });
    const [result] = await world.execute({ id: "c1", name: "notes.read", arguments: {} });
    expect(result?.tool_call_id).toBe("c1");
    expect(result?.metadata.native_call_id).toBeUndefined();
  });

  test("it may be requested while a call runs, and blocks nothing", async () => {
    verifies("PERM-11");
    let finish: (value: string) => void = () => {};
    const slow = writer("notes.slow", 0, {
      handler: async () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    });
    const world = await createWorld({ tools: [slow, ...tools()], policy: allowAll });
    const executing = world.run.execute([{ name: "notes.slow", arguments: {} }]);
    await world.clock.settle();
    expect(await world.run.explain({ name: "notes.slow", arguments: {} })).toMatchObject({
      outcome: "allow",
    });
    finish("done");
    const [result] = await executing;
    expect(result?.status).toBe("succeeded");
  });

  test("a definition that changed is refused as it would be, and the surface stays what it was", async () => {
    verifies("PERM-11", "REG-3");
    const world = await createWorld();
    const source = world.kernel.registry.register(reader("notes.new"));
    const run = await world.session.startRun();
    const before = run.surface;
    source.set([reader("notes.new", 0, { description: "Another tool now" })]);
    expect(await run.explain({ name: "notes.new", arguments: {} })).toMatchObject({
      outcome: "refused",
      error: { code: "tool_definition_changed" },
    });
    expect(run.surface).toBe(before);
  });

  test("what it shows holds no secret", async () => {
    verifies("PERM-11", "REDACT-1");
    const plan: AnyTool = writer("notes.x", 0, {
      prepare: () => ({
        resources: [
          { kind: "path", access: "write", path: `/etc/${KNOWN}` },
          { kind: "command", executable: "/bin/bash", argv: ["bash", "-c", BOTH], cwd: "/" },
        ],
        preview: { kind: "text", text: BOTH },
      }),
    });
    const broken = writer("notes.y", 0, { validate: () => BOTH });
    const { run } = await createWorld({ tools: [plan, broken], secrets: SECRETS, roots: ROOTS });
    for (const name of ["notes.x", "notes.y"]) {
      const explained = await run.explain({ name, arguments: { a: BOTH } });
      expect(leaksIn(JSON.stringify(explained)), name).toEqual([]);
    }
  });
});

describe("calls from code", () => {
  test.each<[string, string, unknown, WorldOptions, string]>([
    ["unknown", "notes.none", {}, {}, "denied tool_not_available"],
    ["invalid", "notes.edit", { n: "x" }, {}, "failed invalid_arguments"],
    ["deferred", "notes.later", {}, {}, "failed schema_not_loaded"],
    ["off", "notes.off", {}, {}, "denied tool_not_available"],
    ["badly planned", "notes.unplanned", {}, {}, "failed execution_failed"],
    ["denied", "notes.edit", { path: "/project/locked/a" }, {}, "denied policy_denied"],
    ["asked of nobody", "notes.edit", { path: "/project/a" }, {}, "denied permission_unanswered"],
    [
      "rejected",
      "notes.edit",
      { path: "/project/a" },
      { ask: personWho("deny").ask },
      "rejected rejected_by_user",
    ],
    [
      "stopped by a hook",
      "notes.read",
      {},
      { hooks: [pre("no", { decision: "deny" })] },
      "denied hook_denied",
    ],
    ["allowed", "notes.edit", { path: "/project/free/a" }, {}, "succeeded"],
    [
      "granted",
      "notes.edit",
      { path: "/project/a" },
      { ask: personWho("allow_for_session").ask },
      "succeeded",
    ],
  ])(
    "a call that is %s ends with its result and its terminal fact",
    async (_, name, input, options, expected) => {
      verifies("PIPE-8", "RESULT-1");
      const world = await explaining(options);
      const result = await world.run.call(name, input);
      expect(
        [result.status, result.error?.code].filter((part) => part !== undefined).join(" "),
        textOf(result),
      ).toBe(expected);
      const terminal = world.facts().filter(isTerminalFact);
      expect(terminal).toHaveLength(1);
      expect(terminal[0]?.data.result).toEqual(result);
      expect(world.journal.nodes.filter(({ kind }) => kind === "tool_result")).toHaveLength(1);
    },
  );

  test("they go the same way as the calls of a model: same facts, in the same order", async () => {
    verifies("PIPE-8");
    const stories: string[][] = [];
    for (const how of ["call", "execute", "stream"] as const) {
      const world = await explaining({ ask: personWho("allow_once").ask });
      const call = { name: "notes.edit", arguments: { path: "/project/a" } };
      if (how === "call") await world.run.call(call.name, call.arguments);
      else if (how === "execute") await world.execute(call);
      else {
        const turn = world.run.openTurn();
        turn.push({ ...call, arguments: JSON.stringify(call.arguments) });
        turn.end();
        await turn.settled();
      }
      stories.push(
        world
          .facts()
          .flatMap(({ type, tool_call_id }) => (tool_call_id === undefined ? [] : [type])),
      );
    }
    expect(stories[0]).toEqual(stories[1]);
    expect(stories[0]).toEqual(stories[2]);
    expect(stories[0]).toContain("tool.completed");
  });
});

test("names the condition that keeps each other rule from matching", async () => {
  verifies("PERM-17", "PERM-11");
  const rules = [
    { tool: "notes.write", decision: "deny" },
    { tags: ["network"], decision: "deny" },
    { path: "/a/**", decision: "deny" },
    { argv: ["rm"], decision: "deny" },
    { host: "example.org", decision: "deny" },
    { tool: "notes.read", decision: "ask" },
  ] as const;
  const world = await createWorld({ tools: [reader("notes.read")], policy: { rules } });
  const explained = await world.run.explain({ name: "notes.read", arguments: {} });
  const unmatched = "unmatched_rules" in explained ? explained.unmatched_rules : [];
  expect(explained.outcome).toBe("ask");
  // The rules of the session come first; the run of a world has the same once more.
  expect(unmatched.slice(0, 5)).toEqual([
    { rule: "rules[0]", differs: "tool" },
    { rule: "rules[1]", differs: "tags" },
    { rule: "rules[2]", differs: "path" },
    { rule: "rules[3]", differs: "argv" },
    { rule: "rules[4]", differs: "host" },
  ]);
});
