// Whose conversation a session has: its agents, and the one that the user talks with.

import type { SessionModel } from "../state/session-model.ts";
import { runsInOrder } from "../sessions/run-picker.tsx";

type Runs = Pick<SessionModel, "runs">;

/** The agents of a session, in the order in which they began. */
export function listAgents(model: Runs): readonly { agent_id: string; name: string }[] {
  const names = new Map<string, string>();
  for (const { agent_id, role } of runsInOrder(model)) {
    const name = role === undefined ? agent_id : `${agent_id} (${role.replaceAll("_", " ")})`;
    if (!names.has(agent_id)) names.set(agent_id, name);
  }
  return Array.from(names, ([agent_id, name]) => ({ agent_id, name }));
}

/** Who the user talks with: of the last run they started in which a model was asked, else of the last one. */
export function mainAgent(model: Runs): string | undefined {
  const runs = runsInOrder(model).filter(({ parent_run_id }) => parent_run_id === undefined);
  const asked = runs.findLast(({ usage }) => (usage?.requests ?? 0) > 0);
  return (asked ?? runs.at(-1))?.agent_id;
}

/** Counts up with every fact of the agent's runs. */
export function findVersion({ runs }: Runs, agent_id: string | undefined): number {
  const own = [...runs.values()].filter((run) => run.agent_id === agent_id);
  return own.reduce((last, { last_seq }) => Math.max(last, last_seq), 0);
}
