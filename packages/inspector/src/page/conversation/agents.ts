// The agents of a session, in the order in which they began, and when the conversation of one is another one. Pure.

import type { SessionModel } from "../state/session-model.ts";

export interface AgentName {
  agent_id: string;
  name: string;
}

export function agentsOf(model: Pick<SessionModel, "runs">): readonly AgentName[] {
  const first = new Map<string, { seq: number; role: string | undefined }>();
  for (const { agent_id, seq, role } of model.runs.values()) {
    const known = first.get(agent_id);
    if (known === undefined || seq < known.seq) first.set(agent_id, { seq, role });
  }
  return [...first]
    .toSorted(([, a], [, b]) => a.seq - b.seq)
    .map(([agent_id, { role }]) => ({
      agent_id,
      name: role === undefined ? agent_id : `${agent_id} (${role.replaceAll("_", " ")})`,
    }));
}

/** Who the user talks with: of the last run they started in which a model was asked, else of the last one. */
export function mainAgent(model: Pick<SessionModel, "runs">): string | undefined {
  const runs = [...model.runs.values()]
    .filter(({ parent_run_id }) => parent_run_id === undefined)
    .toSorted((a, b) => a.seq - b.seq);
  const asked = runs.findLast(({ usage }) => (usage?.requests ?? 0) > 0);
  return (asked ?? runs[runs.length - 1])?.agent_id;
}

/** Counts up with every fact of the agent's runs. */
export function versionOf(model: Pick<SessionModel, "runs">, agent_id: string | undefined): number {
  let last = 0;
  for (const run of model.runs.values()) {
    if (run.agent_id === agent_id) last = Math.max(last, run.last_seq);
  }
  return last;
}
