// The tables that follow from facts and nodes: runs, agents with their active nodes, calls. Kept up entry by
// entry in memory, and written with the facts they follow from.

import { isTerminalFact, type ConversationNode, type Fact, type ToolResult } from "@soong/core";
import { asColumn } from "../sqlite/index.ts";
import { createConversation, type ConversationTree } from "./conversation.ts";
import type { AgentRow, CallRow, RunRow } from "./rows.ts";
import type { WriteStatements } from "./statements.ts";

export interface DerivedRows {
  take(fact: Fact): void;
  takeNode(node: ConversationNode): void;
  runOf(run_id: string): RunRow | undefined;
  write(statements: WriteStatements, session_no: number): void;
  /** They are written, or never will be. */
  forget(): void;
}

/** What is in the tables already, asked for when it is needed. */
export interface DerivedTables {
  run(run_id: string): RunRow | undefined;
  agent(agent_id: string): AgentRow | undefined;
  openCall(run_id: string, tool_call_id: string): CallRow | undefined;
  counts(): { runs: number; agents: number };
}

export function createDerivedRows(tables: DerivedTables, tree: ConversationTree): DerivedRows {
  const counts = tables.counts();
  const runs = new Map<string, RunRow>();
  const agents = new Map<string, AgentRow>();
  const calls = new Map<string, CallRow>();
  const conversation = createConversation(tree);
  const changedRuns = new Set<RunRow>();
  const changedAgents = new Set<AgentRow>();
  const changedCalls = new Set<CallRow>();

  return {
    take(fact) {
      const { run_id, tool_call_id } = fact;
      if (run_id !== undefined) takeRun(fact, run_id);
      if (run_id !== undefined && tool_call_id !== undefined) takeCall(fact, run_id, tool_call_id);
      if (fact.type === "context.rewound") takeRewind(fact);
    },
    takeNode(node) {
      const agent = agentOf(node.agent_id);
      const active = conversation.add(node, agent.active_node_id);
      if (active === undefined) return;
      agent.active_node_id = active;
      changedAgents.add(agent);
    },
    runOf,
    write(statements, session_no) {
      for (const run of changedRuns) statements.run(session_no, run);
      for (const agent of changedAgents) statements.agent(session_no, agent);
      for (const call of changedCalls) statements.call(session_no, call);
    },
    forget() {
      for (const run of changedRuns) if (run.ended_at !== null) runs.delete(run.run_id);
      changedRuns.clear();
      changedAgents.clear();
      changedCalls.clear();
    },
  };

  function takeRun(fact: Fact, run_id: string): void {
    const run = runOf(run_id) ?? newRun(fact, run_id);
    run.last_seq = fact.seq;
    run.last_run_seq = Math.max(run.last_run_seq, fact.run_seq ?? 0);
    if (fact.type === "run.started") {
      run.status = "running";
      run.ended_at = null;
      const { role } = fact.data as { role?: unknown };
      if (typeof role === "string") run.role = role;
    } else if (isRunEnd(fact.type)) {
      run.status = END_STATUS[fact.type];
      run.ended_at = fact.time;
    }
    changedRuns.add(run);
    if (fact.agent_id !== undefined) agentOf(fact.agent_id, fact.parent_agent_id);
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
    return run;
  }

  function runOf(run_id: string): RunRow | undefined {
    const known = runs.get(run_id) ?? tables.run(run_id);
    if (known !== undefined) runs.set(run_id, known);
    return known;
  }

  function agentOf(agent_id: string, parent_agent_id?: string): AgentRow {
    let agent = agents.get(agent_id) ?? tables.agent(agent_id);
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
    if (!isRequest && fact.type !== "tool.started" && !isTerminalFact(fact.type)) return;
    const key = JSON.stringify([run_id, tool_call_id]);
    let call = calls.get(key);
    if (isRequest) {
      call = {
        requested_seq: fact.seq,
        run_id,
        tool_call_id: asColumn(tool_call_id),
        tool_name: asColumn(fact.tool_name ?? ""),
        started_seq: null,
        ended_seq: null,
        status: null,
      };
    } else {
      call ??= tables.openCall(run_id, asColumn(tool_call_id));
      if (call === undefined) return;
      if (fact.type === "tool.started") call.started_seq = fact.seq;
      else {
        call.ended_seq = fact.seq;
        const { result } = fact.data as { result?: Partial<ToolResult> };
        call.status = result?.status ?? fact.type.slice("tool.".length);
      }
    }
    changedCalls.add(call);
    if (call.ended_seq === null) calls.set(key, call);
    else calls.delete(key);
  }

  function takeRewind(fact: Fact): void {
    const { agent_id, node_id } = fact.data as { agent_id: string; node_id: string };
    const agent = agentOf(agent_id);
    agent.active_node_id = node_id;
    changedAgents.add(agent);
  }
}

const END_STATUS = {
  "run.completed": "completed",
  "run.failed": "failed",
  "run.aborted": "aborted",
} as const;

function isRunEnd(type: string): type is keyof typeof END_STATUS {
  return type in END_STATUS;
}
