// The runs that are under way, found by the ids a call has, and the children of a session as long as this process lives. What
// the agent and the task tools know of their caller comes from here, and never from arguments.

import { ToolFailure, type CallIds, type Session } from "@soong/core";
import type { ActiveRun, RunRegistry } from "../loop/index.ts";
import type { ChildResult, ChildStatus } from "./child-result.ts";
import type { ChildRole } from "./child-task.ts";

export interface ActiveRuns extends RunRegistry {
  find(ids: Pick<CallIds, "sessionId" | "runId">): ActiveRun | undefined;
  /** Throws for a call that no run of the loop has made. */
  get(ids: CallIds): ActiveRun;
}

export function createActiveRuns(): ActiveRuns {
  const runs = new Map<string, ActiveRun>();
  const toKey = (session_id: string, run_id: string) => JSON.stringify([session_id, run_id]);
  const find: ActiveRuns["find"] = ({ sessionId, runId }) => runs.get(toKey(sessionId, runId));
  return {
    add(active) {
      const { session_id, run_id } = active.run.identity;
      runs.set(toKey(session_id, run_id), active);
    },
    remove({ run: { identity } }) {
      runs.delete(toKey(identity.session_id, identity.run_id));
    },
    find,
    get(ids) {
      const active = find(ids);
      if (active !== undefined) return active;
      throw new ToolFailure({
        code: "no_conversation",
        error_class: "capability_gap",
        message: `${ids.toolName} works for an agent in its conversation; this call was made outside of one.`,
        recovery: "use_another_tool",
      });
    },
  };
}

/** What agent.inspect_agent shows of a child while it works and after. */
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
  readonly lines: readonly string[];
  /** Its calls that wait for approval. */
  readonly waiting_for: ReadonlySet<string>;
  result?: ChildResult;
}

const MOST_SESSIONS = 100;
const MOST_CHILDREN = 500;

export class ChildRegistry {
  readonly #bySession = new Map<string, readonly ChildEntry[]>();

  add({ session_id }: Session, entry: ChildEntry): void {
    const entries = [...this.list(session_id), entry];
    this.#bySession.delete(session_id);
    this.#bySession.set(session_id, entries.slice(-MOST_CHILDREN));
    for (const oldest of [...this.#bySession.keys()].slice(0, -MOST_SESSIONS)) {
      this.#bySession.delete(oldest);
    }
  }

  find(session_id: string, ids: ChildIds): ChildEntry | undefined {
    return this.list(session_id).findLast((entry) => matchesIds(ids, entry));
  }

  list(session_id: string): readonly ChildEntry[] {
    return this.#bySession.get(session_id) ?? [];
  }
}

export interface ChildIds {
  readonly agent_id?: string;
  readonly run_id?: string;
}

/** An id that is not given fits any. */
export function matchesIds({ agent_id, run_id }: ChildIds, child: Required<ChildIds>): boolean {
  const isAgent = agent_id === undefined || agent_id === child.agent_id;
  return isAgent && (run_id === undefined || run_id === child.run_id);
}
