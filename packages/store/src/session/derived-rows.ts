// The tables that follow from facts and nodes: runs, agents with their active nodes, calls. Kept up entry by
// entry in memory, and written with the facts they follow from.

import { isTerminalFact, type ConversationNode, type Fact, type ArtifactRecord } from "@soong/core";
import { asColumn } from "../sql/columns.ts";
import { type AgentRow, type CallRow, type OpenState, type RunRow, NOTHING_OPEN } from "./rows.ts";

interface DerivedRows {
  take(fact: Fact): void;
  takeNode(node: ConversationNode): void;
  runOf(run_id: string): RunRow | undefined;
  /** What has come to rest since the last time goes to its table. */
  takeChanges(): DerivedChanges;
  /** They could not be written. */
  putBack(changes: DerivedChanges): void;
  /** They are written, or never will be. */
  forget(changes: DerivedChanges): void;
  /** What has not come to rest. */
  openState(): OpenState;
}

export interface DerivedChanges {
  readonly runs: readonly RunRow[];
  readonly agents: readonly AgentRow[];
  readonly calls: readonly CallRow[];
}

/** What is in the tables already, asked for when it is needed. */
export interface DerivedTables {
  run(run_id: string): RunRow | undefined;
  agent(agent_id: string): AgentRow | undefined;
  counts(): { runs: number; agents: number };
}

export function createDerivedRows(
  tables: DerivedTables,
  tree: ConversationTree,
  before: OpenState,
): DerivedRows {
  const counts = tables.counts();
  const runs = new Map<string, RunRow>();
  const agents = new Map<string, AgentRow>();
  /** Those that have not ended, by run and id. */
  const calls = new Map<string, CallRow>();
  /** Agents whose active node is not in their row yet. */
  const moving = new Set<AgentRow>();
  const conversation = createConversation(tree);
  const changedRuns = new Set<RunRow>();
  const changedAgents = new Set<AgentRow>();
  let endedCalls: CallRow[] = [];
  takeUp(before);

  return {
    take(fact) {
      const { run_id, tool_call_id } = fact;
      if (run_id !== undefined) takeRun(fact, run_id);
      if (run_id !== undefined && tool_call_id !== undefined) takeCall(fact, run_id, tool_call_id);
      if (fact.type === "context.rewound") takeRewind(fact);
    },
    takeNode(node) {
      const agent = findOrAddAgent(node.agent_id);
      const active = conversation.add(node, agent.active_node_id);
      if (active !== undefined) activate(agent, active, runOf(node.run_id));
    },
    runOf,
    takeChanges() {
      // Copies: a row may change again before it is written.
      const changes = {
        runs: Array.from(changedRuns, (run) => ({ ...run })),
        agents: Array.from(changedAgents, (agent) => ({ ...agent })),
        calls: endedCalls,
      };
      changedRuns.clear();
      changedAgents.clear();
      endedCalls = [];
      return changes;
    },
    putBack(changes) {
      for (const { run_id } of changes.runs) addTo(changedRuns, runs.get(run_id));
      for (const { agent_id } of changes.agents) addTo(changedAgents, agents.get(agent_id));
      endedCalls = [...changes.calls, ...endedCalls];
    },
    forget(changes) {
      for (const { run_id, ended_at } of changes.runs) {
        const run = runs.get(run_id);
        if (ended_at !== null && run !== undefined && !changedRuns.has(run)) runs.delete(run_id);
      }
    },
    openState: () => ({
      calls: [...calls.values()],
      runs: Array.from(runs.values())
        .filter(({ ended_at }) => ended_at === null)
        .map(({ run_id, last_seq, last_run_seq }) => [run_id, last_seq, last_run_seq] as const),
      active: Array.from(moving, ({ agent_id, active_node_id }) => [
        agent_id,
        active_node_id ?? "",
      ]),
    }),
  };

  function takeUp(state: OpenState): void {
    for (const call of state.calls) calls.set(callKey(call.run_id, call.tool_call_id), { ...call });
    for (const [run_id, last_seq, last_run_seq] of state.runs) {
      const run = runOf(run_id);
      if (run !== undefined) Object.assign(run, { last_seq, last_run_seq });
    }
    for (const [agent_id, node_id] of state.active) {
      const agent = findOrAddAgent(agent_id);
      agent.active_node_id = node_id;
      moving.add(agent);
    }
  }

  function takeRun(fact: Fact, run_id: string): void {
    const run = runOf(run_id) ?? newRun(fact, run_id);
    run.last_seq = fact.seq;
    run.last_run_seq = Math.max(run.last_run_seq, fact.run_seq ?? 0);
    if (fact.agent_id !== undefined) findOrAddAgent(fact.agent_id, fact.parent_agent_id);
    if (fact.type === "run.started") {
      run.status = "running";
      run.ended_at = null;
      const { role } = fact.data;
      if (typeof role === "string") run.role = role;
      changedRuns.add(run);
    } else if (isRunEnd(fact.type)) {
      run.status = END_STATUS[fact.type];
      run.ended_at = fact.time;
      settle(run.agent_id);
    }
    // Of one that is under way, the last seq is part of the open state.
    if (run.ended_at !== null) changedRuns.add(run);
  }

  function newRun(fact: Fact, run_id: string): RunRow {
    const run: RunRow = {
      run_index: counts.runs,
      run_id,
      agent_id: fact.agent_id ?? "",
      parent_run_id: fact.parent_run_id ?? null,
      role: null,
      status: fact.type === "run.queued" ? "queued" : "running",
      started_at: fact.time,
      ended_at: null,
      first_seq: fact.seq,
      last_seq: fact.seq,
      last_run_seq: fact.run_seq ?? 0,
    };
    counts.runs += 1;
    runs.set(run_id, run);
    changedRuns.add(run);
    return run;
  }

  function runOf(run_id: string): RunRow | undefined {
    const known = runs.get(run_id);
    if (known !== undefined) return known;
    const kept = tables.run(run_id);
    if (kept !== undefined) runs.set(run_id, kept);
    return kept;
  }

  function findOrAddAgent(agent_id: string, parent_agent_id?: string): AgentRow {
    const known = agents.get(agent_id);
    if (known !== undefined) return known;
    let agent = tables.agent(agent_id);
    if (agent === undefined) {
      agent = {
        agent_index: counts.agents,
        agent_id,
        parent_agent_id: parent_agent_id ?? null,
        active_node_id: null,
      };
      counts.agents += 1;
      changedAgents.add(agent);
    }
    agents.set(agent_id, agent);
    return agent;
  }

  function takeCall(fact: Fact, run_id: string, tool_call_id: string): void {
    const isRequest = fact.type === "tool.requested";
    if (!isRequest && fact.type !== "tool.started" && !isTerminalFact(fact)) return;
    const column = asColumn(tool_call_id);
    const key = callKey(run_id, column);
    if (isRequest) {
      calls.set(key, {
        requested_seq: fact.seq,
        run_id,
        tool_call_id: column,
        tool_name: asColumn(fact.tool_name ?? ""),
        started_seq: null,
        ended_seq: null,
        status: null,
      });
      return;
    }
    const call = calls.get(key);
    if (call === undefined) return;
    if (fact.type === "tool.started") {
      call.started_seq = fact.seq;
      return;
    }
    const status = fact.data.result?.status ?? fact.type.slice("tool.".length);
    calls.delete(key);
    endedCalls.push({ ...call, ended_seq: fact.seq, status });
  }

  function takeRewind(fact: Fact<"context.rewound">): void {
    const { agent_id, node_id } = fact.data;
    const agent = findOrAddAgent(agent_id);
    agent.active_node_id = node_id;
    if (!moving.has(agent)) changedAgents.add(agent);
  }

  function activate(agent: AgentRow, node_id: string, run: RunRow | undefined): void {
    agent.active_node_id = node_id;
    const isUnderWay =
      run !== undefined && run.ended_at === null && run.agent_id === agent.agent_id;
    if (isUnderWay) moving.add(agent);
    else if (!moving.has(agent)) changedAgents.add(agent);
  }

  function settle(agent_id: string): void {
    const agent = agents.get(agent_id);
    if (agent !== undefined && moving.delete(agent)) changedAgents.add(agent);
  }
}

function addTo<T>(set: Set<T>, one: T | undefined): void {
  if (one !== undefined) set.add(one);
}

function callKey(run_id: string, tool_call_id: string): string {
  // The id of a run holds no NUL.
  return `${run_id}\0${tool_call_id}`;
}

const END_STATUS = {
  "run.completed": "completed",
  "run.failed": "failed",
  "run.aborted": "aborted",
} as const;

function isRunEnd(type: string): type is keyof typeof END_STATUS {
  return type in END_STATUS;
}

// Where each agent of a session continues (STORE-2): its active node follows what is added below it. Results
// come in any order, so a node may be there before its parent; it waits for it here.

interface Conversation {
  /** Answers with the agent's new active node, or undefined when that did not change. */
  add(node: ConversationNode, active: string | null): string | undefined;
}

export interface ConversationTree {
  has(node_id: string): boolean;
  /** The newest child that a process before this one has left there. */
  childOf(node_id: string): string | undefined;
}

/** A caller may hang nodes anywhere; those that wait for a parent that never comes are forgotten in the end. */
const MOST_WAITING = 10_000;

export function createConversation(tree: ConversationTree): Conversation {
  const waiting = new Map<string, string>();

  return {
    add({ node_id, parent_id }, active) {
      const isNext =
        active === null ? parent_id === undefined || tree.has(parent_id) : parent_id === active;
      if (isNext) return furthest(node_id);
      if (parent_id !== undefined) wait(parent_id, node_id);
      return undefined;
    },
  };

  function wait(parent_id: string, node_id: string): void {
    waiting.set(parent_id, node_id);
    if (waiting.size <= MOST_WAITING) return;
    for (const oldest of waiting.keys()) {
      waiting.delete(oldest);
      break;
    }
  }

  function furthest(from: string): string {
    // A loop of parents is no conversation, but it must not hold us up.
    const seen = new Set<string>();
    let node = from;
    for (;;) {
      seen.add(node);
      const next = waiting.get(node) ?? tree.childOf(node);
      waiting.delete(node);
      if (next === undefined || seen.has(next)) return node;
      node = next;
    }
  }
}

// What the tables of a session have to hold, made again from its facts and nodes: for the check that they still do, and
// for making them again. Uses what keeps them up in the first place, so that both agree.

export interface RowsOfFacts {
  /** The next fact, with the nodes that came with it. */
  take(fact: Fact, nodes: readonly ConversationNode[]): void;
  runOf(run_id: string): RunRow | undefined;
  readonly runs: readonly RunRow[];
  readonly agents: readonly AgentRow[];
  /** Those that have ended. */
  readonly calls: readonly CallRow[];
  /** Those that facts name; a crash may have left one without. */
  readonly artifacts: ReadonlyMap<string, ArtifactRecord>;
  openState(): OpenState;
}

export function createRowsOfFacts(): RowsOfFacts {
  const runs: RunRow[] = [];
  const agents: AgentRow[] = [];
  const calls: CallRow[] = [];
  const artifacts = new Map<string, ArtifactRecord>();
  const runsById = new Map<string, RunRow>();
  const agentsById = new Map<string, AgentRow>();
  const nodeIds = new Set<string>();
  const derived = createDerivedRows(
    {
      run: (run_id) => runsById.get(run_id),
      agent: (agent_id) => agentsById.get(agent_id),
      counts: () => ({ runs: 0, agents: 0 }),
    },
    // A node that waits for its parent waits here: nothing is forgotten between processes.
    { has: (node_id) => nodeIds.has(node_id), childOf: () => undefined },
    NOTHING_OPEN,
  );
  return {
    take(fact, nodes) {
      derived.take(fact);
      for (const node of nodes) {
        derived.takeNode(node);
        nodeIds.add(node.node_id);
      }
      if (fact.type === "artifact.created") takeArtifact(fact);
      collect(derived.takeChanges());
    },
    runOf: (run_id) => runsById.get(run_id),
    runs,
    agents,
    calls,
    artifacts,
    openState: () => derived.openState(),
  };

  function collect(changes: DerivedChanges): void {
    for (const row of changes.runs) {
      runs[row.run_index] = row;
      runsById.set(row.run_id, row);
    }
    for (const row of changes.agents) {
      agents[row.agent_index] = row;
      agentsById.set(row.agent_id, row);
    }
    calls.push(...changes.calls);
    derived.forget(changes);
  }

  function takeArtifact({
    data,
    session_id,
    run_id = "",
    tool_call_id,
    time,
  }: Fact<"artifact.created">): void {
    const record: ArtifactRecord = {
      session_id,
      run_id,
      tool_call_id,
      created_at: time,
      ...data,
    };
    artifacts.set(record.artifact_id, record);
  }
}
