// A child of an earlier process, from the journal: what its parent's facts say of it, and its own last one.

import type { Fact, FactData, Session } from "@soong/core";

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
  /** Left out where the runtime was stopped before its end. */
  readonly summary?: string;
}

export async function recordedChild(
  { journal }: Session,
  ids: ChildIds,
): Promise<RecordedChild | undefined> {
  let found: RecordedChild | undefined;
  for (let after = 0; ;) {
    const page = await journal.read(after, PAGE);
    for (const fact of page) {
      if (fact.type === "agent.child.created" && isMeant(fact, ids)) found = createdIn(fact);
      else if (found !== undefined) found = heard(found, fact);
    }
    const last = page.at(-1);
    if (last === undefined) return found;
    after = last.seq;
  }
}

function createdIn({ data }: Fact): RecordedChild {
  return {
    agent_id: textIn(data, "child_agent_id"),
    run_id: textIn(data, "child_run_id"),
    agent_definition_id: textIn(data, "agent_definition_id"),
    role: textIn(data, "role"),
    task: textIn(data, "task"),
    status: "running",
  };
}

function heard(child: RecordedChild, { type, run_id, data }: Fact): RecordedChild {
  if (type.startsWith("agent.child.") && data["child_run_id"] === child.run_id) {
    return { ...child, status: textIn(data, "status"), summary: textIn(data, "summary") };
  }
  const isEnd = type === "run.completed" || type === "run.failed" || type === "run.aborted";
  if (!isEnd || run_id !== child.run_id) return child;
  return { ...child, status: type.slice("run.".length) };
}

function isMeant({ data }: Fact, { agent_id, run_id }: ChildIds): boolean {
  const { child_agent_id, child_run_id } = data;
  return (
    (agent_id === undefined || agent_id === child_agent_id) &&
    (run_id === undefined || run_id === child_run_id)
  );
}

function textIn(data: FactData, key: string): string {
  const value = data[key];
  return typeof value === "string" ? value : "";
}
