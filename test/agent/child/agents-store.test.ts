// Children in a session that is kept (STORE-2, STORE-3): read again after an end, and after the process was gone in the
// middle of it.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHeldClock, createKernel, type Session } from "@soong/core";
import {
  createAgents,
  loadAgentCatalog,
  openConversation,
  readHistory,
  scriptedModel,
  type Agents,
  type Conversation,
  type Script,
} from "@soong/agent";
import { openStore, type OpenSession, type Store } from "@soong/store";
import { verifies } from "#laws";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readTool } from "../loop-tools.ts";
import { start } from "./agent-stage.ts";

let directory: string;
let store: Store;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "soong-agents-"));
  store = await openStore({ directory });
});

afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true, force: true });
});

const clock = createHeldClock(Date.UTC(2026, 0, 1));

interface Opened {
  readonly session: Session;
  readonly agents: Agents;
  readonly conversation: Conversation;
}

async function opened(
  { session_id, journal, artifacts, lastSeq }: OpenSession,
  script: Script,
  more: object = {},
): Promise<Opened> {
  const agents = createAgents({ catalog: await loadAgentCatalog(), childTimeoutMs: 60_000 });
  const kernel = createKernel({
    tools: [readTool("a.read", () => "x")],
    sources: [agents.source],
    clock,
  });
  const session = await kernel.openSession({
    session_id,
    journal,
    artifacts,
    lastSeq,
  });
  const conversation = await openConversation({
    session,
    models: [scriptedModel(script, { clock })],
    clock,
    runRegistry: agents.activeRuns,
    ...more,
  });
  return { session, agents, conversation };
}

/** Until both children wait for their model. */
async function bothAsk(session: Session): Promise<void> {
  let asking = 0;
  for await (const { type, parent_run_id } of session.facts()) {
    if (type === "model.started" && parent_run_id !== undefined) asking += 1;
    if (asking === 2) break;
  }
  await session.recorder.flush();
}

test("a fork is a branch of the kept tree, and each agent continues from its own end", async () => {
  verifies("STORE-2", "AGENT-2");
  const kept = await store.createSession({ session_id: "s1" });
  const first = await opened(kept, {
    turns: [
      { calls: [{ tool: "a.read", input: {} }] },
      start("agent.fork_agent", { task: "Try." }),
      { text: "It was tried." },
    ],
    agents: { default_fork_agent: [[{ text: "Tried." }]] },
  });
  const { agent_id } = first.conversation;
  expect((await first.conversation.send("Go").end).answer).toBe("It was tried.");
  await first.session.close();
  await kept.close();

  const reader = await store.readSession("s1");
  const [parent, fork] = await reader.agents();
  expect(fork).toMatchObject({ parent_agent_id: parent?.agent_id });
  const kinds = async (id: string): Promise<string[]> =>
    (await reader.activePath(id)).map(({ kind }) => kind);
  expect(await kinds(agent_id)).toEqual([
    "message",
    "message",
    "tool_result",
    "message",
    "tool_result",
    "child_result",
    "message",
  ]);
  expect(await kinds(fork?.agent_id ?? "")).toEqual([
    "message",
    "message",
    "tool_result",
    "message",
    "message",
  ]);
});

test("left in the middle, the child, its call and the parent get their ends, and the parent continues", async () => {
  verifies("STORE-3", "AGENT-5");
  const kept = await store.createSession({ session_id: "s1" });
  const left = await opened(kept, {
    turns: [
      {
        calls: [
          { tool: "agent.create_sub_agent", input: { task: "Work." }, id: "c1" },
          { tool: "agent.fork_agent", input: { task: "Work too." }, id: "c2" },
        ],
      },
    ],
    agents: {
      default_sub_agent: [[{ parts: [{ text: "x", after_ms: 50_000 }] }]],
      default_fork_agent: [[{ parts: [{ text: "x", after_ms: 50_000 }] }]],
    },
  });
  const { agent_id } = left.conversation;
  void left.conversation.send("Go");
  await bothAsk(left.session);
  // As if the process were gone: nothing of the runs is ended.
  await kept.close();

  const again = await store.openSession("s1");
  expect([...again.recovered.unknown].toSorted()).toEqual(["c1", "c2"]);
  expect(again.recovered.runs).toHaveLength(3);
  const runs = await again.reader.runs();
  expect(runs.map(({ status }) => status)).toEqual(["failed", "failed", "failed"]);
  const facts = await again.reader.facts({ after: 0, limit: 500 });
  const order = facts
    .filter(({ type, data }) => type === "run.failed" || JSON.stringify(data).includes('"unknown"'))
    .map(
      ({ type, parent_run_id }) => `${parent_run_id === undefined ? "parent" : "child"} ${type}`,
    );
  expect(order).toEqual([
    "child run.failed",
    "child run.failed",
    "parent tool.failed",
    "parent tool.failed",
    "parent run.failed",
  ]);
  const child = runs[1]?.run_id ?? "";
  const history = await readHistory(again.reader, agent_id);
  const { conversation, session } = await opened(
    again,
    {
      turns: [
        {
          expect: [
            { result: 0, status: "error", contains: "may or may not have happened" },
            { result: 1, status: "error", contains: "may or may not have happened" },
          ],
          calls: [{ tool: "agent.inspect_agent", input: { run_id: child } }],
        },
        { expect: [{ result: 0, contains: "failed, started before" }], text: "I look first." },
      ],
    },
    { ...history },
  );
  expect(conversation.agent_id).toBe(agent_id);
  expect((await conversation.send("Go on").end).answer).toBe("I look first.");
  await session.close();
  await again.close();
});
