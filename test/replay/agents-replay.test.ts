// Runs with children, decided again from the journal (REPLAY-1): the parent's, each child's, and one that was cut short.

import type { Script } from "@soong/agent";
import { replayRun, createReplaySource, exportRunScript } from "@soong/replay";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import { readTool, slowTool, writeTool } from "../agent/loop-tools.ts";
import { openAgentStage, start, type AgentStage } from "../agent/child/agent-stage.ts";
import {
  BEGINS,
  COMPLETES,
  dispatch,
  newTask,
  openWorkerStage,
} from "../agent/child/worker-stage.ts";

const SUB = "agent.create_sub_agent";
const FORK = "agent.fork_agent";

async function replays(stage: AgentStage): Promise<object[]> {
  const { facts, nodes } = stage.journal;
  const source = createReplaySource({ facts, nodes }, stage.session.artifacts);
  const runs = stage.facts("run.started").map(({ run_id = "" }) => run_id);
  const reports: object[] = [];
  for (const run_id of runs) {
    const { outcome, divergence, left_out, end } = await replayRun({ source, run_id });
    reports.push({ outcome, divergence, left_out, end });
  }
  return reports;
}

const same = (end: string): object => ({
  outcome: "same",
  divergence: undefined,
  left_out: [],
  end,
});

test("several at once, refused ones, waiting ones and failed ones decide the same", async () => {
  verifies("REPLAY-1", "REPLAY-3", "AGENT-3");
  const script: Script = {
    turns: [
      {
        calls: [
          { tool: "a.read", input: {} },
          ...[1, 2, 3].map((i) => ({ tool: SUB, input: { task: `t${i}` } })),
          { tool: FORK, input: { task: "fork" } },
          { tool: "a.write", input: {} },
        ],
      },
      {
        calls: [
          { tool: SUB, input: { task: "x", allowed_tools: ["no.such"] } },
          { tool: SUB, input: { task: "x", agent_definition_id: "nobody" } },
        ],
      },
      start(SUB, { task: "the fifth" }),
      start(SUB, { task: "the sixth" }),
      { text: "done" },
    ],
    agents: {
      default_sub_agent: [
        [{ calls: [{ tool: "a.write", input: { by: 1 } }] }, { text: "one" }],
        [{ parts: [{ text: "two", after_ms: 2000 }] }],
        [],
        [{ text: "five" }],
      ],
      default_fork_agent: [
        [{ calls: [{ tool: SUB, input: { task: "deeper" } }] }, { text: "forked" }],
      ],
    },
  };
  const open = (played: Script): Promise<AgentStage> =>
    openAgentStage(played, {
      tools: [readTool("a.read", () => "x"), writeTool("a.write", [])],
      config: { agents: { max_children_per_run: 5, max_concurrent_children_per_session: 2 } },
      sessionOptions: { ask: async () => ({ decision: "allow_once" }) },
    });
  const stage = await open(script);
  expect(await stage.ask("go")).toMatchObject({ reason: "completed" });
  expect(stage.facts("agent.child.created")).toHaveLength(5);
  expect(await replays(stage)).toEqual([
    same("completed"),
    same("completed"),
    same("completed"),
    same("failed"),
    same("completed"),
    same("completed"),
  ]);
  const { facts, nodes } = stage.journal;
  const source = createReplaySource({ facts, nodes }, stage.session.artifacts);
  const run_id = stage.facts("run.started")[0]?.run_id ?? "";
  const exported = await exportRunScript({ source, run_id });
  expect(exported.script.agents?.["default_sub_agent"]?.map(({ length }) => length)).toEqual([
    2, 1, 0, 1,
  ]);
  expect(exported.script.agents?.["default_fork_agent"]).toHaveLength(1);
  // Run again, the family does the same.
  const again = await open(exported.script);
  expect(await again.ask("go")).toMatchObject({ reason: "completed" });
  const count = (of: AgentStage, type: "agent.child.completed" | "agent.child.failed"): number =>
    of.facts(type).length;
  expect(count(again, "agent.child.completed")).toBe(count(stage, "agent.child.completed"));
  expect(count(again, "agent.child.failed")).toBe(count(stage, "agent.child.failed"));
});

test("children that timed out or were aborted with their parent, and workers, decide the same", async () => {
  verifies("REPLAY-1", "AGENT-5");
  const forever = [{ parts: [{ text: "x" }, { text: "never", after_ms: 80_000_000 }] }];
  const stage = await openAgentStage(
    {
      turns: [
        start(SUB, { task: "slow", timeout_ms: 1000 }),
        {
          calls: [
            { tool: SUB, input: { task: "slower" } },
            { tool: SUB, input: { task: "slower still" } },
          ],
        },
      ],
      agents: {
        default_sub_agent: [forever, forever, [{ calls: [{ tool: "a.slow", input: {} }] }]],
      },
    },
    { tools: [slowTool(() => stage.clock, "a.slow", 50_000_000)] },
  );
  const run = stage.conversation.send("go");
  await stage.clock.settle();
  for (let i = 0; i < 5; i += 1) await stage.clock.advance(1000);
  const aborting = run.abort("enough");
  await stage.clock.settle();
  await aborting;
  expect(await replays(stage)).toEqual([
    same("aborted"),
    same("aborted"),
    same("aborted"),
    same("aborted"),
  ]);

  const workers = await openWorkerStage({
    turns: [
      newTask("a", "b", "c"),
      { calls: ["a", "b", "c"].map((step_id) => dispatch({ step_id })) },
      { text: "ok" },
    ],
    agents: {
      default_worker_agent: [[BEGINS, COMPLETES, { text: "a" }], [{ text: "b" }]],
    },
  });
  expect(await workers.ask("go")).toMatchObject({ reason: "completed" });
  expect(await replays(workers)).toEqual([same("completed"), same("completed"), same("completed")]);
});
