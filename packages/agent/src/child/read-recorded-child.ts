// A child of an earlier process, from the journal: what its parent's facts say of it, and its own last one.

import type { Fact, Session } from "@soong/core";

const PAGE = 1_000;

interface ChildIds {
  readonly agent_id?: string;
  readonly run_id?: string;
}

export interface RecordedChild {
  readonly agent_id: string;
  readonly run_id: string;
  readonly agent_definition_id: string;
  readonly role: string;
  readonly task: string;
  readonly status: string;
  /** Absent where the runtime was stopped before its end. */
  readonly summary?: string;
}

export async function readRecordedChild(
  { journal }: Session,
  ids: ChildIds,
): Promise<RecordedChild | undefined> {
  let found: RecordedChild | undefined;
  for (let after = 0; ;) {
    const page = await journal.read(after, PAGE);
    for (const fact of page) {
      if (fact.type === "agent.child.created" && matchesChildIds(fact, ids))
        found = readChildCreated(fact);
      else if (found !== undefined) found = applyChildFact(found, fact);
    }
    const last = page.at(-1);
    if (last === undefined) return found;
    after = last.seq;
  }
}

function readChildCreated({ data }: Fact<"agent.child.created">): RecordedChild {
  const { child_agent_id, child_run_id, agent_definition_id, role, task } = data;
  return {
    agent_id: child_agent_id,
    run_id: child_run_id,
    agent_definition_id,
    role,
    task,
    status: "running",
  };
}

function applyChildFact(child: RecordedChild, fact: Fact): RecordedChild {
  switch (fact.type) {
    case "agent.child.completed":
    case "agent.child.failed":
    case "agent.child.cancelled": {
      const { child_run_id, status, summary } = fact.data;
      return child_run_id === child.run_id ? { ...child, status, summary } : child;
    }
    case "run.completed":
    case "run.failed":
    case "run.aborted":
      if (fact.run_id !== child.run_id) return child;
      return { ...child, status: fact.type.slice("run.".length) };
    default:
      return child;
  }
}

function matchesChildIds(
  { data }: Fact<"agent.child.created">,
  { agent_id, run_id }: ChildIds,
): boolean {
  const { child_agent_id, child_run_id } = data;
  return (
    (agent_id === undefined || agent_id === child_agent_id) &&
    (run_id === undefined || run_id === child_run_id)
  );
}
