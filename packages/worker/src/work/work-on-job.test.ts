import { digestDefinition, type AgentDefinition, type WorkerPool } from "@soong/agent";
import { compilePolicy, describePolicy, SoongError } from "@soong/core";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { createDeclinedSteps } from "./declined-steps.ts";
import { workOnJob } from "./work-on-job.ts";
import type { WorkerHost } from "./worker-host.ts";

const DEFINITION = {
  id: "builder",
  description: "Builds.",
  system: "Build.",
  roles: ["worker"],
  rules: [{ tool: "code.*", decision: "deny", origin: { file: "/here/builder.md", line: 3 } }],
  origin: { kind: "file", file: "/here/builder.md" },
} as const satisfies AgentDefinition;

/** The one that dispatched it, under way. */
const CALL = { tool_call_id: "c" };

function startedRun() {
  const compiled = compilePolicy({ rules: [] });
  if (!compiled.ok) throw new Error("It does not compile.");
  const data = { policy: describePolicy(compiled.policy), request: {} };
  return { type: "run.started", data };
}

const PLACES = {
  roots: { project: "/here", write: [] },
  home: "/home/worker",
  resolvePath: () => undefined,
};

async function refuse(): Promise<never> {
  throw new SoongError("session_unknown", "There is no such session.");
}

function stage(
  checkModel: WorkerHost["checkModel"] = async () => [],
  own: Partial<WorkerPool> = {},
  said: object = {},
  { isWanted = true, facts = [startedRun()] as readonly object[] } = {},
) {
  const lines: string[] = [];
  const declined = createDeclinedSteps();
  let isConnected = false;
  const host = {
    agents: {
      catalog: { definitions: new Map([["builder", DEFINITION]]) },
      // All of them are busy: what fits goes no further.
      workers: { pools: [{ name: "builders", size: 1, ...own }], take: () => ({ kind: "busy" }) },
    },
    canonicalTool: (name: string) => (name === "glob" ? "code.list_dir" : name),
    store: {
      heldSessions: async () => (isWanted ? ["s"] : []),
      readSession: isWanted
        ? async () => ({ calls: async () => [CALL], facts: async () => facts })
        : refuse,
    },
    tasks: {
      leaseMs: 3_000,
      reader: { get: async () => ({ task: { session_id: "s", title: "T" } }) },
    },
    places: PLACES,
    checkModel,
    defaultTools: () => ["code.read_file"],
    hasTool: (name: string) => name !== "my.tool" && (isConnected || name !== "mcp.git.log"),
    toolProvider: {
      async ready() {
        isConnected = true;
      },
    },
    guards: [{ id: "guard", event: "PreToolUse", tool: "code.*", tags: ["write"] }],
    report: (line: string) => void lines.push(line),
  } as unknown as WorkerHost;
  const data = {
    pool: "builders",
    task_id: "task_1",
    step_id: "plan",
    agent_definition_id: "builder",
    definition_digest: digestDefinition({
      ...DEFINITION,
      rules: [{ tool: "code.*", decision: "deny", origin: { file: "/there/builder.md", line: 9 } }],
    }),
    model: "fast",
    from: { session_id: "s", run_id: "r", agent_id: "a", tool_call_id: "c" },
    guards: [],
    ...said,
  };
  const deliver = () =>
    workOnJob(host, { id: "j", data }, new AbortController().signal, {
      declined,
      onDeclined() {},
      onBegun() {},
    });
  return { host, data, lines, deliver, declined };
}

test("a model that this machine does not have leaves the work to others, and is reported once", async () => {
  verifies("DIST-1");
  const { lines, deliver, declined } = stage(async () => {
    throw new Error("There is no model fast.");
  });
  expect(await deliver()).toEqual({ retryInMs: 1_000 });
  expect(await deliver()).toEqual({ retryInMs: 1_000 });
  expect(lines).toEqual(["Step plan of task_1 is left to other workers: There is no model fast."]);
  const about = { task_id: "task_1", step_id: "plan", why: "There is no model fast." };
  expect(declined.list()).toMatchObject([about]);
});

test("a dispatch without a policy on record leaves the work to others, and is told why", async () => {
  verifies("PERM-12", "DIST-1");
  const { lines, deliver, declined } = stage(undefined, {}, {}, { facts: [] });
  expect(await deliver()).toEqual({ retryInMs: 1_000 });
  expect(await deliver()).toEqual({ retryInMs: 1_000 });
  const why = "The work was not taken: run r has no policy on record.";
  expect(lines).toEqual([`Step plan of task_1 is left to other workers: ${why}`]);
  expect(declined.list()).toMatchObject([{ step_id: "plan", why }]);
});

test("where a definition was written does not matter", async () => {
  verifies("DIST-1");
  const { lines, deliver, declined } = stage();
  expect(await deliver()).toEqual({ retryInMs: 1_000 });
  expect(lines).toEqual([]);
  expect(declined.list()).toEqual([]);
});

test("a job whose dispatch is gone is dropped, also where it does not fit", async () => {
  verifies("DIST-1");
  const gone = { isWanted: false };
  const { lines, deliver } = stage(undefined, { agent_definition_id: "other" }, {}, gone);
  expect(await deliver()).toBe("done");
  expect(lines).toEqual([]);
});

test.each([
  [
    { allowed_tools: ["code.read_file"] },
    { allowed_tools: ["code.read_file", "code.run_command"] },
    "the step may use code.run_command, and the pool builders allows only code.read_file on this worker. Give all machines the same config, and start this worker again.",
  ],
  [
    { allowed_tools: [] },
    { allowed_tools: ["code.*"] },
    "the step may use code.*, and the pool builders allows none on this worker. Give all machines the same config, and start this worker again.",
  ],
  [
    { allowed_tools: ["agent.inspect_agent"] },
    {},
    "the step may use code.read_file, and the pool builders allows only agent.inspect_agent on this worker. Give all machines the same config, and start this worker again.",
  ],
  [
    { agent_definition_id: "other" },
    {},
    "the step is for the agent builder, and the pool builders has other on this worker. Give all machines the same config, and start this worker again.",
  ],
])("what this machine says of its pool bounds any job (%j)", async (own, said, why) => {
  verifies("DIST-1");
  const { lines, deliver } = stage(undefined, own, said);
  expect(await deliver()).toEqual({ retryInMs: 1_000 });
  expect(lines).toEqual([`Step plan of task_1 is left to other workers: ${why}`]);
});

test("a tool by another name, and one of a pattern, are what the pool allows", async () => {
  verifies("DIST-1");
  const own = { allowed_tools: ["code.list_dir", "web.*"] };
  const { lines, deliver } = stage(undefined, own, { allowed_tools: ["glob", "web.fetch"] });
  expect(await deliver()).toEqual({ retryInMs: 1_000 });
  expect(lines).toEqual([]);
});

test("a job whose dispatch has a guard that is not here is left to other workers", async () => {
  verifies("HOOK-1", "DIST-1");
  const guard = { tags: ["write"], tool: "code.*", event: "PreToolUse", id: "guard" };
  const same = stage(undefined, {}, { guards: [guard] });
  expect(await same.deliver()).toEqual({ retryInMs: 1_000 });
  expect(same.lines).toEqual([]);
  const { lines, deliver } = stage(undefined, {}, { guards: [guard, { ...guard, id: "other" }] });
  expect(await deliver()).toEqual({ retryInMs: 1_000 });
  expect(lines).toEqual([
    "Step plan of task_1 is left to other workers: the hook other of the dispatching home can stop or change calls, and is missing on this worker. Give all machines the same hooks.json, and start this worker again.",
  ]);
});

test("a job with a tool that is not here is left to other workers, and uses up no attempt", async () => {
  verifies("DIST-1");
  const { lines, deliver } = stage(undefined, {}, { allowed_tools: ["my.tool", "web.fetch"] });
  expect(await deliver()).toEqual({ retryInMs: 1_000 });
  expect(lines).toEqual([
    "Step plan of task_1 is left to other workers: the step may use my.tool, and there is no such tool on this worker. Add it, or remove it from the pool's allowed_tools.",
  ]);
});

test("of the tools that a definition lists, those may be missing that it lets be", async () => {
  verifies("DIST-1", "SURF-4");
  const definition = { ...DEFINITION, allowed_tools: ["my.tool"], skip_missing_tools: true };
  const said = { definition_digest: digestDefinition(definition), allowed_tools: ["my.tool"] };
  const { host, lines, deliver } = stage(undefined, {}, said);
  Object.assign(host.agents.catalog, { definitions: new Map([["builder", definition]]) });
  await deliver();
  expect(lines).toEqual([]);
});

test("a tool of a server that is not connected yet is looked for when it is", async () => {
  verifies("DIST-1", "MCP-1");
  const { lines, deliver } = stage(undefined, {}, { allowed_tools: ["mcp.git.log"] });
  await deliver();
  expect(lines).toEqual([]);
});

test("of the jobs of one dispatch that is declined, those behind a later one are dropped", async () => {
  verifies("DIST-1");
  const said = { allowed_tools: ["my.tool"], number: 2 };
  const { host, deliver, declined } = stage(undefined, {}, said);
  expect(await deliver()).toEqual({ retryInMs: 1_000 });
  const earlier = stage(undefined, {}, { ...said, number: 1 });
  const again = workOnJob(host, { id: "j", data: earlier.data }, new AbortController().signal, {
    declined,
    onDeclined() {},
    onBegun() {},
  });
  expect(await again).toBe("done");
});

test("a job of another pool is dropped, and not delivered again and again", async () => {
  verifies("DIST-1");
  const { lines, deliver } = stage(undefined, {}, { pool: "others" });
  expect(await deliver()).toBe("done");
  expect(lines).toEqual(["The job j was dropped: it is for another pool."]);
});

test.each([
  ["was withdrawn", async () => "enough"],
  ["cannot be looked up", () => Promise.reject(new Error("The database is away."))],
])(
  "a step whose dispatch %s after the claim is given back, and nothing is begun",
  async (_how, look) => {
    verifies("DIST-1", "AGENT-5");
    const { lines, deliver, left, opened } = stageFree(look);
    await deliver().catch(() => {});
    expect(left).toEqual([["run_1", "aborted"]]);
    expect(opened()).toBe(0);
    expect(lines.filter((line) => line.startsWith("→"))).toEqual([]);
  },
);

test("a worker that cannot open a session for a step gives it back and leaves it to others", async () => {
  verifies("DIST-1");
  const { lines, deliver, left, declined, opened } = stageFree(async () => undefined);
  expect(await deliver()).toEqual({ retryInMs: 1_000 });
  expect(await deliver()).toEqual({ retryInMs: 1_000 });
  expect(opened()).toBe(2);
  expect(left).toEqual([
    ["run_1", "aborted"],
    ["run_1", "aborted"],
  ]);
  expect(lines).toEqual(["Step plan of task_1 is left to other workers: No room is left."]);
  expect(declined.list()).toMatchObject([
    { step_id: "plan", run_id: "r", tool_call_id: "c", why: "No room is left." },
  ]);
});

/** A worker that is free and claims the step. No session can be opened. */
function stageFree(look: () => Promise<string | undefined>) {
  const staged = stage();
  const { host } = staged;
  const left: unknown[] = [];
  let isClaimed = false;
  let opened = 0;
  Object.assign(host, {
    keeper: {
      async claim() {
        isClaimed = true;
        return { kind: "claimed", step: { title: "Plan" } };
      },
      leave: async (...given: unknown[]) => void left.push(given.slice(0, 2)),
    },
    openSession() {
      opened += 1;
      return Promise.reject(new Error("No room is left."));
    },
  });
  Object.assign(host.store, {
    readSession: async () => ({ calls: async () => [CALL], facts: async () => [startedRun()] }),
    cluster: {
      readWithdrawal: async () => (isClaimed ? look() : undefined),
      listen: () => () => {},
      wake() {},
    },
  });
  const assignment = { run_id: "run_1", agent_id: "agent_1", session_id: "s", worker: "w" };
  Object.assign(host.agents.workers, { take: () => ({ kind: "taken", assignment }), free() {} });
  return { ...staged, left, opened: () => opened };
}
