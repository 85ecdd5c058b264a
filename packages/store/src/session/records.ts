// What a reader gets of sessions, runs, agents and calls: the rows of the tables as records.

import type { AgentRecord, CallRecord, RunRecord, SessionRecord } from "../contract/index.ts";
import { fromColumn } from "../sqlite/index.ts";
import type { AgentRow, CallRow, RunRow, SessionRow } from "./rows.ts";

export function sessionRecord(row: SessionRow): SessionRecord {
  const { session_id, created_at, updated_at, title, project, last_seq, head_hash } = row;
  return {
    session_id,
    created_at,
    updated_at,
    ...(title === null ? {} : { title: fromColumn(title) }),
    ...(project === null ? {} : { project: fromColumn(project) }),
    last_seq,
    head_hash,
  };
}

export function runRecord(row: RunRow, session_id: string): RunRecord {
  const { run_id, agent_id, parent_run_id, role, status, started_at, ended_at } = row;
  return {
    run_id,
    session_id,
    agent_id,
    ...(parent_run_id === null ? {} : { parent_run_id }),
    ...(role === null ? {} : { role }),
    status,
    started_at,
    ...(ended_at === null ? {} : { ended_at }),
    first_seq: row.first_seq,
    last_seq: row.last_seq,
  };
}

export function agentRecord({ agent_id, parent_agent_id, active_node_id }: AgentRow): AgentRecord {
  return {
    agent_id,
    ...(parent_agent_id === null ? {} : { parent_agent_id }),
    ...(active_node_id === null ? {} : { active_node_id }),
  };
}

/** Else in the order they came: a child may have appeared before its parent. */
export function parentsFirst(agents: readonly AgentRecord[]): AgentRecord[] {
  const waiting = new Map(agents.map((agent) => [agent.agent_id, agent]));
  const ordered: AgentRecord[] = [];
  for (const agent of agents) place(agent);
  return ordered;

  function place(agent: AgentRecord): void {
    if (!waiting.delete(agent.agent_id)) return;
    const { parent_agent_id } = agent;
    const parent = parent_agent_id === undefined ? undefined : waiting.get(parent_agent_id);
    if (parent !== undefined) place(parent);
    ordered.push(agent);
  }
}

export function callRecord(row: CallRow): CallRecord {
  const { run_id, tool_call_id, tool_name, requested_seq, started_seq, ended_seq, status } = row;
  return {
    run_id,
    tool_call_id: fromColumn(tool_call_id),
    tool_name: fromColumn(tool_name),
    requested_seq,
    ...(started_seq === null ? {} : { started_seq }),
    ...(ended_seq === null ? {} : { ended_seq }),
    ...(status === null ? {} : { status }),
  };
}
