// SURF-5, 6, 9 and 10: what each role may ever have, in every mode, and what it has unasked.

import { type Mode, type Role, type RunOptions } from "@soong/core";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { declared, ownSource, server } from "./sources.ts";
import { allowAll, createWorld, reader, writer, type World, type WorldOptions } from "./world.ts";

/** The columns of the table, and every role and mode that belongs to each. */
const SEATS = {
  main: [
    ["main", "normal"],
    ["main", "plan"],
  ],
  orchestrator: [["main", "orchestrator"]],
  child: [
    ["sub", "normal"],
    ["sub", "plan"],
    ["sub", "orchestrator"],
    ["fork", "normal"],
    ["fork", "plan"],
    ["fork", "orchestrator"],
  ],
  worker: [
    ["worker", "normal"],
    ["worker", "plan"],
    ["worker", "orchestrator"],
  ],
} as const satisfies Record<string, readonly (readonly [Role, Mode])[]>;

type Seat = keyof typeof SEATS;

/** The table of SURF-5, row by row: the tool, and who has it. */
const ROWS: [string[], Seat[]][] = [
  [
    [
      "internal.search_tools",
      "internal.read_artifact",
      "internal.list_skills",
      "internal.load_skill",
    ],
    ["main", "orchestrator", "child", "worker"],
  ],
  [
    ["internal.recall_memory", "internal.write_memory"],
    ["main", "orchestrator"],
  ],
  [
    ["agent.plan_template", "agent.list_agent_definitions", "agent.inspect_agent"],
    ["main", "orchestrator"],
  ],
  [
    ["agent.create_sub_agent", "agent.fork_agent"],
    ["main", "orchestrator"],
  ],
  [["agent.list_workers", "agent.dispatch_worker"], ["orchestrator"]],
  [
    [
      "agent.task_template",
      "agent.task_create",
      "agent.task_list",
      "agent.task_update",
      "agent.task_complete",
      "agent.task_fail",
      "agent.task_cancel",
    ],
    ["orchestrator"],
  ],
  [
    ["agent.task_get", "agent.task_query_steps"],
    ["orchestrator", "worker"],
  ],
  [["agent.task_update_step"], ["orchestrator", "worker"]],
  [["agent.task_claim_step"], ["worker"]],
];

/** What a worker may have, and has only when it is asked for (SURF-6). */
const ASKED_FOR = ["internal.list_skills", "internal.load_skill"];

const OWN = ROWS.flatMap(([names]) => names);
const ours = (kind: "agent" | "internal") =>
  OWN.filter((name) => name.startsWith(`${kind}.`) && name !== "internal.search_tools");

/** Everything of the table, and something deferred so that there is something to search for. */
const everything: WorldOptions = {
  tools: [
    reader("code.read_file"),
    reader("code.search", 0, { defer: true }),
    writer("code.edit_file"),
    reader("notes.read"),
    writer("notes.write"),
  ],
  sources: [
    ownSource("agent", ours("agent")),
    ownSource("internal", ours("internal")),
    declared("d", [reader("jira.list"), writer("jira.create")]),
    server("s", ["list", writer("mcp.s.create")]),
  ],
  policy: { readonly_mcp: ["mcp.s.list"] },
};

const outside = (world: World): string[] =>
  namesOn(world).filter((name) => !/^(agent|internal)\./.test(name));

function namesOn({ run }: Pick<World, "run">): string[] {
  return [...run.surface.loaded, ...run.surface.deferred].map(({ name }) => name).toSorted();
}

function seatsOf(...seats: Seat[]): [Role, Mode][] {
  return seats.flatMap((seat) => SEATS[seat].map(([role, mode]): [Role, Mode] => [role, mode]));
}

const allSeats = seatsOf("main", "orchestrator", "child", "worker");

describe("the ceiling", () => {
  it.each(Object.keys(SEATS) as Seat[])(
    "of %s is the table's, row by row, in every mode",
    async (seat) => {
      verifies("SURF-5", "SURF-10");
      for (const [role, mode] of SEATS[seat]) {
        const world = await createWorld({ ...everything, role, mode });
        const has = new Set(namesOn(world));
        for (const [names, seats] of ROWS) {
          for (const name of names) {
            const isAsked = seat === "worker" && ASKED_FOR.includes(name);
            const isThere = seats.includes(seat) && !isAsked;
            expect(has.has(name), `${name} for ${role} in ${mode}`).toBe(isThere);
            if (isThere) continue;
            expect(world.run.surface.standing.get(name)).toMatchObject({
              state: "excluded",
              reason: isAsked ? "not_requested" : "role_not_allowed",
            });
          }
        }
      }
    },
  );

  it.each(allSeats)("of %s in %s holds against every request", async (role, mode) => {
    verifies("SURF-5", "SURF-4");
    const world = await createWorld({ ...everything, role, mode });
    const never = OWN.filter(
      (name) => !namesOn(world).includes(name) && !(role === "worker" && ASKED_FOR.includes(name)),
    );
    for (const name of never) {
      const asked: RunOptions = { role, mode, allowedTools: [name], policy: allowAll };
      await expect(world.session.startRun(asked), name).rejects.toMatchObject({
        problems: [{ code: "tool_excluded" }],
      });
      const [result] = await world.execute({ name, arguments: {} });
      expect(result?.error?.code, name).toBe("tool_not_available");
    }
  });

  it.each(seatsOf("main", "orchestrator", "child"))(
    "of %s in %s has the tools of code, declarations and servers, by mode",
    async (role, mode) => {
      verifies("SURF-5", "SURF-9");
      const world = await createWorld({ ...everything, role, mode });
      const readonly = ["code.read_file", "code.search", "jira.list", "mcp.s.list", "notes.read"];
      const writes = ["code.edit_file", "jira.create", "mcp.s.create", "notes.write"];
      expect(outside(world)).toEqual(
        (mode === "plan" ? readonly : [...readonly, ...writes]).toSorted(),
      );
    },
  );

  it("gives a tool of ours that no row names to the main agent alone", async () => {
    verifies("SURF-5");
    const sources = [
      ownSource("internal", ["internal.brand_new"]),
      ownSource("agent", ["agent.brand_new", "agent.task_brand_new"]),
    ];
    for (const [role, mode] of allSeats) {
      const world = await createWorld({ sources, role, mode });
      expect(namesOn(world).length, `${role} in ${mode}`).toBe(role === "main" ? 3 : 0);
    }
  });

  it("depends on the source, not on the name: no tool becomes built-in by its name", async () => {
    verifies("SURF-5", "REG-1");
    const lookalikes = server("agent", [writer("mcp.agent.task_get"), "internal.load_skill"]);
    const world = await createWorld({ sources: [lookalikes], role: "worker" });
    expect(namesOn(world)).toEqual([]);
  });

  it("has the search tool only when something is deferred", async () => {
    verifies("SURF-5", "SEARCH-1");
    for (const [role, mode] of allSeats) {
      const tools = [reader("code.read_file")];
      const world = await createWorld({ tools, role, mode });
      expect(namesOn(world)).toEqual(["code.read_file"]);
      expect(world.run.surface.standing.get("internal.search_tools")).toMatchObject({
        reason: "nothing_deferred",
      });
    }
  });
});

describe("a worker", () => {
  it("has by default the four task tools, the readonly file tools and what reads a cut result", async () => {
    verifies("SURF-6");
    const world = await createWorld({ ...everything, role: "worker" });
    expect(namesOn(world)).toEqual([
      "agent.task_claim_step",
      "agent.task_get",
      "agent.task_query_steps",
      "agent.task_update_step",
      "code.read_file",
      "code.search",
      "internal.read_artifact",
      // Only because something is deferred here.
      "internal.search_tools",
    ]);
    for (const name of [
      "internal.list_skills",
      "internal.load_skill",
      "code.edit_file",
      "notes.read",
      "jira.list",
      "mcp.s.list",
      "mcp.s.create",
    ]) {
      expect(world.run.surface.standing.get(name)).toMatchObject({ reason: "not_requested" });
    }
  });

  it("gets a write tool when it is asked for, and still has to ask the user to use it", async () => {
    verifies("SURF-6");
    const world = await createWorld({
      ...everything,
      role: "worker",
      allowedTools: ["code.edit_file", "jira.create", "mcp.s.create", "agent.task_get"],
    });
    expect(namesOn(world)).toEqual([
      "agent.task_get",
      "code.edit_file",
      "jira.create",
      "mcp.s.create",
    ]);
    const [result] = await world.execute({ name: "code.edit_file", arguments: {} });
    expect(result?.error?.code).toBe("permission_unanswered");
  });

  it.each<[string, WorldOptions]>([
    ["mode", { mode: "plan" }],
    ["config", { config: { tools: { disabled: ["code.edit*"] } } }],
    ["policy", { policy: { rules: [{ tool: "code.edit_file", decision: "deny" }] } }],
    ["policy by tag", { policy: { rules: [{ tags: ["write"], decision: "deny" }] } }],
    ["the task", { taskDenied: ["code.*"] }],
  ])("gets no write tool past %s, though it is asked for", async (_, options) => {
    verifies("SURF-6");
    const started = createWorld({
      ...everything,
      role: "worker",
      allowedTools: ["code.edit_file"],
      ...options,
    });
    await expect(started).rejects.toMatchObject({ problems: [{ code: "tool_excluded" }] });
  });
});

describe("a mode", () => {
  it("plan has readonly tools only, from every source", async () => {
    verifies("SURF-9");
    const world = await createWorld({ ...everything, mode: "plan" });
    expect(namesOn(world).length).toBeGreaterThan(0);
    for (const tool of [...world.run.surface.loaded, ...world.run.surface.deferred]) {
      expect(tool.effects.read_only, tool.name).toBe(true);
    }
    for (const name of ["code.edit_file", "notes.write", "jira.create", "mcp.s.create"]) {
      expect(world.run.surface.standing.get(name)).toMatchObject({ reason: "mode_restricted" });
    }
  });

  it("plan goes by the user's word for a server's tool, not by the server's", async () => {
    verifies("SURF-9", "PERM-3");
    const sources = [server("s", ["says_so", "is_marked", writer("mcp.s.silent")])];
    const policy = { readonly_mcp: ["mcp.s.is_marked", "mcp.s.silent"] };
    const world = await createWorld({ sources, policy, mode: "plan" });
    expect(outside(world)).toEqual(["mcp.s.is_marked", "mcp.s.silent"]);
    const results = await world.execute(
      { name: "mcp.s.is_marked", arguments: {} },
      { name: "mcp.s.silent", arguments: {} },
    );
    expect(results.map(({ status }) => status)).toEqual(["succeeded", "succeeded"]);
  });

  it("plan is inherited: a child of a plan run is in plan mode, no matter what it is started with", async () => {
    verifies("SURF-9", "PERM-12");
    const world = await createWorld({ ...everything, mode: "plan", policy: allowAll });
    const { run_id, agent_id } = world.run.identity;
    const parent = { run_id, agent_id, policy: world.run.policy };
    for (const options of [{}, { mode: "normal" }, { mode: "orchestrator" }] as RunOptions[]) {
      const child = await world.session.startRun({ role: "sub", parent, ...options });
      expect(namesOn({ run: child })).not.toContain("code.edit_file");
      expect(child.surface.mode).toBe("plan");
      expect(child.surface.standing.get("code.edit_file")).toMatchObject({
        reason: "mode_restricted",
      });
      const [result] = await child.execute([{ name: "code.edit_file", arguments: {} }]);
      expect(result?.error?.code).toBe("tool_not_available");
      const grandchild = await world.session.startRun({
        role: "worker",
        parent: { ...child.identity, policy: child.policy },
      });
      expect(grandchild.surface.mode).toBe("plan");
    }
  });

  it.each<[string, WorldOptions, string[]]>([
    ["a name", { policy: { rules: [{ tool: "jira.create", decision: "deny" }] } }, ["jira.create"]],
    [
      "a pattern",
      { policy: { rules: [{ tool: "mcp.s.*", decision: "deny" }] } },
      ["mcp.s.list", "mcp.s.create"],
    ],
    [
      "a tag",
      { policy: { rules: [{ tags: ["declarative"], decision: "deny" }] } },
      ["jira.list", "jira.create"],
    ],
    [
      "tags together",
      { policy: { rules: [{ tags: ["mcp", "write"], decision: "deny" }] } },
      ["mcp.s.create"],
    ],
    [
      "a pattern of config",
      { config: { tools: { disabled: ["*.read*"] } } },
      ["notes.read", "code.read_file"],
    ],
  ])("leaves it to policy and config to match by %s", async (_, options, gone) => {
    verifies("SURF-9");
    const [before, after] = [
      await createWorld(everything),
      await createWorld({
        ...everything,
        ...options,
        policy: { ...everything.policy, ...options.policy },
      }),
    ];
    const missing = outside(before).filter((name) => !outside(after).includes(name));
    expect(missing.toSorted()).toEqual(gone.toSorted());
  });
});

describe("our own tools", () => {
  it("have no outside effect: they do not ask, in plan mode neither", async () => {
    verifies("SURF-10");
    for (const [role, mode] of allSeats) {
      const world = await createWorld({ ...everything, role, mode });
      const own = namesOn(world).filter((name) => /^(agent|internal)\./.test(name));
      expect(own.length, `${role} in ${mode}`).toBeGreaterThan(0);
      for (const name of own) {
        const input = name === "internal.search_tools" ? { query: "code" } : {};
        const [result] = await world.execute({ name, arguments: input });
        expect(result?.status, `${name} for ${role} in ${mode}`).toBe("succeeded");
      }
      expect(world.facts("permission.requested", "permission.failed")).toEqual([]);
    }
  });

  it("that start agents are a class of their own, and only ours can be", async () => {
    verifies("SURF-10", "SCHED-2");
    const starter = { starts_agent: true, concurrency_safe: false };
    const world = await createWorld({
      tools: [reader("a.read", 0, starter)],
      sources: [
        ownSource("agent", ["agent.create_sub_agent", "agent.fork_agent"], starter),
        server("s", [reader("mcp.s.start", 0, starter)]),
      ],
      policy: { ...allowAll, readonly_mcp: ["mcp.s.start"] },
    });
    const names = ["agent.create_sub_agent", "agent.fork_agent", "a.read", "mcp.s.start"];
    await world.execute(...names.map((name) => ({ id: name, name, arguments: {} })));
    const classes = world
      .facts("tool.queued")
      .map(({ tool_name, data }) => [tool_name, data.class]);
    expect(classes).toEqual([
      ["agent.create_sub_agent", "spawns_agent"],
      ["agent.fork_agent", "spawns_agent"],
      ["a.read", "exclusive"],
      ["mcp.s.start", "exclusive"],
    ]);
  });

  it("that change tasks or memory run alone, because they say no more than they must", async () => {
    verifies("SURF-10", "DEF-3");
    const about = { concurrency_safe: undefined as never };
    const world = await createWorld({
      sources: [
        ownSource("agent", ["agent.task_update_step"], about),
        ownSource("internal", ["internal.write_memory"], about),
      ],
      mode: "orchestrator",
    });
    const names = ["agent.task_update_step", "internal.write_memory"];
    await world.execute(...names.map((name) => ({ name, arguments: {} })));
    expect(world.facts("tool.queued").map(({ data }) => data.class)).toEqual([
      "exclusive",
      "exclusive",
    ]);
  });
});
