// What the tables of a session have to hold, made again from its facts and nodes: for the check that they still do, and
// for making them again. Uses what keeps them up in the first place, so that both agree.

import type { ArtifactRecord, ConversationNode, Fact } from "@soong/core";
import { createDerivedRows } from "./derived-rows.ts";
import { NOTHING_OPEN, type AgentRow, type CallRow, type OpenState, type RunRow } from "./rows.ts";
import type { WriteStatements } from "./statements.ts";

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
  const collect: WriteStatements = {
    fact() {},
    node() {},
    artifact() {},
    session() {},
    run(_no, row) {
      runs[row.run_index] = row;
      runsById.set(row.run_id, row);
    },
    agent(_no, row) {
      agents[row.agent_index] = row;
      agentsById.set(row.agent_id, row);
    },
    call(_no, row) {
      calls.push(row);
    },
  };

  return {
    take(fact, nodes) {
      derived.take(fact);
      for (const node of nodes) {
        derived.takeNode(node);
        nodeIds.add(node.node_id);
      }
      if (fact.type === "artifact.created") takeArtifact(fact);
      derived.write(collect, 0);
      derived.forget();
    },
    runOf: (run_id) => runsById.get(run_id),
    runs,
    agents,
    calls,
    artifacts,
    openState: () => derived.openState(),
  };

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
