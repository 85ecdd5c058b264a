// The children of a session, as long as this process lives: what agent.inspect_agent shows of one while it works and after.

import type { Session } from "@soong/core";
import type { ChildResult, ChildStatus } from "./child-result.ts";
import type { ChildRole } from "./child-prompt.ts";

export interface ChildEntry {
  readonly agent_id: string;
  readonly run_id: string;
  readonly parent_run_id: string;
  readonly agent_definition_id: string;
  readonly role: ChildRole;
  readonly task: string;
  readonly started_at: string;
  ended_at?: string;
  status: "running" | ChildStatus;
  /** The newest last. */
  readonly lines: string[];
  /** Its calls that wait for approval. */
  readonly waiting_for: ReadonlySet<string>;
  result?: ChildResult;
}

export interface ChildRegistry {
  add(session: Session, entry: ChildEntry): void;
  find(
    session_id: string,
    by: { readonly agent_id?: string; readonly run_id?: string },
  ): ChildEntry | undefined;
  list(session_id: string): readonly ChildEntry[];
}

const MOST_SESSIONS = 100;
const MOST_CHILDREN = 500;
const MOST_LINES = 20;

export function createChildRegistry(): ChildRegistry {
  const bySession = new Map<string, ChildEntry[]>();
  const list = (session_id: string): readonly ChildEntry[] => bySession.get(session_id) ?? [];
  return {
    add({ session_id }, entry) {
      const entries = [...list(session_id), entry];
      bySession.delete(session_id);
      bySession.set(session_id, entries.slice(-MOST_CHILDREN));
      for (const oldest of [...bySession.keys()].slice(0, -MOST_SESSIONS)) bySession.delete(oldest);
    },
    find: (session_id, { agent_id, run_id }) =>
      list(session_id).findLast(
        (entry) =>
          (agent_id === undefined || entry.agent_id === agent_id) &&
          (run_id === undefined || entry.run_id === run_id),
      ),
    list,
  };
}

export function addProgressLine({ lines }: ChildEntry, line: string): void {
  lines.push(line);
  if (lines.length > MOST_LINES) lines.shift();
}
