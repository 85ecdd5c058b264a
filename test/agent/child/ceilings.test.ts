// A child that tries everything it must not: each attempt is refused with the reason, and nothing has happened. And the
// table of SURF-5 held against the tools there really are.

import {
  createKernel,
  defineTool,
  type AnyTool,
  type Fact,
  type Mode,
  type Role,
  type ToolResult,
  type ToolSource,
} from "@soong/core";
import { createAgents, loadAgentCatalog, type Script } from "@soong/agent";
import { createClaimKeeper, createMemoryTasks, createTasks, taskTools } from "@soong/tasks";
import { codeTools, readArtifactTool } from "@soong/tools";
import { verifies } from "#laws";
import { describe, expect, test } from "vitest";
import { writeTool } from "../loop-tools.ts";
import { start } from "./agent-stage.ts";
import { dispatch, newTask, openWorkerStage, TASK } from "./worker-stage.ts";

const MAIN = ["main", "orchestrator"];
const ALL = [...MAIN, "sub", "fork", "worker"];
/** The table, row by row. `asked`: a worker has it when someone asks for it. */
const TABLE: readonly (readonly [readonly string[], readonly string[]])[] = [
  [["code.read_file", "code.list_dir", "code.search"], ALL],
  [
    ["code.edit_file", "code.write_file", "code.apply_patch", "code.run_command"],
    [...MAIN, "sub", "fork", "asked"],
  ],
  [["internal.read_artifact"], ALL],
  [
    ["internal.list_skills", "internal.load_skill"],
    [...MAIN, "sub", "fork", "asked"],
  ],
  [["internal.recall_memory", "internal.write_memory"], MAIN],
  [["agent.plan_template", "agent.list_agent_definitions", "agent.inspect_agent"], MAIN],
  [["agent.create_sub_agent", "agent.fork_agent"], MAIN],
  [["agent.list_workers", "agent.dispatch_worker"], ["orchestrator"]],
  [
    ["template", "create", "list", "update", "complete", "fail", "cancel"].map(
      (one) => `agent.task_${one}`,
    ),
    ["orchestrator"],
  ],
  [
    ["agent.task_get", "agent.task_query_steps", "agent.task_update_step"],
    ["orchestrator", "worker"],
  ],
  [["agent.task_claim_step"], ["worker"]],
];
const SEATS: readonly (readonly [string, Role, Mode])[] = [
  ["main", "main", "normal"],
  ["orchestrator", "main", "orchestrator"],
  ["sub", "sub", "normal"],
  ["fork", "fork", "normal"],
  ["worker", "worker", "normal"],
];

/** Those of skills and memory, by their names and their kind. */
function internalSource(happened: string[] = []): ToolSource {
  const names = ["list_skills", "load_skill", "recall_memory", "write_memory"];
  return {
    id: "stand-ins",
    kind: "internal",
    tools: [...names.map((name) => spy(`internal.${name}`, happened)), readArtifactTool()],
  };
}

function spy(name: string, happened: string[]): AnyTool {
  return defineTool({
    name,
    description: name,
    permission: "readonly",
    input_schema: { type: "object" },
    handler: () => {
      happened.push(name);
      return "done";
    },
  });
}

describe("the table of roles", () => {
  test.each(SEATS)("holds for %s with the tools there are", async (seat, role, mode) => {
    verifies("SURF-5", "SURF-6");
    const tasks = createTasks({ storage: createMemoryTasks() });
    const keeper = createClaimKeeper({ tasks });
    const agents = createAgents({
      catalog: await loadAgentCatalog(),
      childTimeoutMs: 1000,
      tasks: { tasks, keeper },
    });
    const kernel = createKernel({
      tools: codeTools(),
      sources: [
        agents.source,
        taskTools({ tasks, keeper, resolveCaller: (ids) => agents.resolveCaller(ids) }),
        internalSource(),
      ],
      config: { tools: { defer_budget_tokens: 1_000_000 } },
    });
    const registered = [...kernel.registry.snapshot().tools.keys()].filter(
      (name) => name !== "internal.search_tools",
    );
    const named = TABLE.flatMap(([names]) => names);
    expect(
      registered.filter((name) => !named.includes(name)),
      "every tool has a row",
    ).toEqual([]);
    const session = await kernel.openSession({});
    const run = await session.startRun({ role, mode });
    for (const [names, seats] of TABLE) {
      for (const name of names) {
        if (!registered.includes(name)) continue;
        const standing = run.surface.standing.get(name);
        const has = standing?.state !== "excluded";
        expect([name, has]).toEqual([name, seats.includes(seat)]);
        if (has) continue;
        const isAsked = seat === "worker" && seats.includes("asked");
        expect([name, standing.reason]).toEqual([
          name,
          isAsked ? "not_requested" : "role_not_allowed",
        ]);
        const asking = session.startRun({ role, mode, allowedTools: [name] });
        if (isAsked) expect((await asking).surface.loaded.map((tool) => tool.name)).toContain(name);
        else await expect(asking).rejects.toThrow("role_not_allowed");
      }
    }
  });
});

const NEVER_FOR_CHILDREN = TABLE.filter(([, seats]) => !seats.includes("sub")).flatMap(
  ([names]) => names,
);
const NEVER_FOR_WORKERS = [
  ...TABLE.filter(([, seats]) => !seats.includes("worker") && !seats.includes("asked")).flatMap(
    ([names]) => names,
  ),
  "code.write_file",
];

describe("a child that calls everything outside its ceiling", () => {
  const tries = (names: readonly string[]) => ({
    text: "Trying.",
    calls: names.map((tool) => ({ tool, input: inputFor(tool) })),
  });
  const gaveUp = (names: readonly string[]) => ({
    expect: names.map((_, i) => ({
      result: i,
      status: "error" as const,
      contains: "is not available in this run (",
    })),
    text: "Nothing works.",
  });

  test.each([
    ["sub", "agent.create_sub_agent", { task: "Try." }, NEVER_FOR_CHILDREN],
    ["fork", "agent.fork_agent", { task: "Try." }, NEVER_FOR_CHILDREN],
    ["worker", "agent.dispatch_worker", { pool: "hands", task_id: TASK }, NEVER_FOR_WORKERS],
  ] as const)(
    "as %s is refused each time, and nothing happened",
    async (role, tool, input, names) => {
      verifies("SURF-5", "SURF-2", "AGENT-2", "SURF-10");
      const happened: string[] = [];
      const script: Script = {
        turns: [newTask("a"), start(tool, input), { text: "So be it." }],
        agents: { [`default_${role}_agent`]: [[tries(names), gaveUp(names)]] },
      };
      const stage = await openWorkerStage(script, {
        tools: [writeTool("code.write_file", happened)],
        sources: [internalSource(happened)],
        sessionOptions: {
          ask: async ({ tool_name }) => {
            happened.push(`asked about ${tool_name}`);
            return { decision: "allow_once" };
          },
        },
      });
      const before = await stage.tasks.reader.list();
      expect(before).toEqual([]);
      expect(await stage.ask("go")).toMatchObject({ reason: "completed", answer: "So be it." });
      expect(happened).toEqual([]);
      expect(stage.facts("agent.child.completed"), "it was told so").toHaveLength(1);
      const own = stage.ofChild(0);
      const denied = own.filter(({ type }) => type === "tool.denied");
      expect(denied.map(({ tool_name }) => tool_name)).toEqual(names);
      for (const fact of denied)
        expect(errorOf(fact)).toMatchObject({ code: "tool_not_available" });
      const reasons = new Set(
        denied.map((fact) => /\((\w+):/.exec(errorOf(fact)?.message ?? "")?.[1]),
      );
      expect([...reasons]).toEqual(
        role === "worker" ? ["role_not_allowed", "not_requested"] : ["role_not_allowed"],
      );
      expect(own.some(({ type }) => type === "tool.started")).toBe(false);
      // The outside world: one child, one task, untouched.
      expect(stage.facts("agent.child.created")).toHaveLength(1);
      const { task, counts } = (await stage.tasks.reader.get(TASK)) ?? {};
      expect(task).toMatchObject({ version: 1, title: "The work" });
      expect(counts).toMatchObject({ ready: 1, claimed: 0, running: 0, completed: 0 });
      expect(await stage.tasks.reader.list()).toHaveLength(1);
    },
  );

  test("a worker may not touch another task, nor a step that is not its own", async () => {
    verifies("TASK-5", "SURF-5");
    const stage = await openWorkerStage({
      turns: [
        newTask("a", "b"),
        newTask("x"),
        { calls: [dispatch({ step_id: "a" })] },
        { text: "ok" },
      ],
      agents: {
        default_worker_agent: [
          [
            {
              calls: [
                { tool: "agent.task_get", input: { task_id: "task_2" } },
                { tool: "agent.task_claim_step", input: { step_id: "b" } },
                {
                  tool: "agent.task_update_step",
                  input: { step_id: "b", status: "completed", summary: "x" },
                },
                { tool: "agent.task_claim_step", input: { task_id: "task_2", step_id: "x" } },
              ],
            },
            {
              expect: [0, 1, 2, 3].map((result) => ({ result, status: "error" as const })),
              text: "No.",
            },
          ],
        ],
      },
    });
    expect(await stage.ask("go")).toMatchObject({ reason: "completed" });
    expect(stage.facts("agent.child.completed"), "it was told so").toHaveLength(1);
    expect(await stage.tasks.reader.step(TASK, "b")).toMatchObject({
      status: "ready",
      attempts: 0,
    });
    expect(await stage.tasks.reader.step("task_2", "x")).toMatchObject({ status: "ready" });
  });
});

function errorOf({ data }: Fact): ToolResult["error"] {
  return (data as { result?: ToolResult }).result?.error;
}

/** Arguments that would do something, were they heard. */
function inputFor(tool: string): never {
  const inputs: Record<string, object> = {
    "agent.create_sub_agent": { task: "Go deeper." },
    "agent.fork_agent": { task: "Go deeper." },
    "agent.dispatch_worker": { pool: "hands", task_id: TASK },
    "agent.task_create": { title: "Mine", goal: "Mine", steps: [] },
    "agent.task_cancel": { task_id: TASK, reason: "no" },
    "agent.task_fail": { task_id: TASK, reason: "no" },
    "agent.task_complete": { task_id: TASK, summary: "no" },
    "code.write_file": { path: "x", content: "y" },
  };
  return (inputs[tool] ?? {}) as never;
}
