// Facts about servers, in the journals they belong in (MCP-2, MCP-3): a server is the runtime's, and lives longer than a
// run. A run begins with how each server is by then, and hears of every change until it ends; its children do not.

import type { Run, Session } from "@soong/core";
import type { RecordServerFact, ServerFact } from "@soong/mcp";

export interface ServerFacts {
  readonly record: RecordServerFact;
  /** From now on the runs of the session have the facts on record. */
  readonly watch: (session: Session) => void;
}

export function createServerFacts(): ServerFacts {
  /** By server: how it is now, as a run that begins is told. */
  const current = new Map<string, ServerFact>();
  const runs = new Set<Run>();

  return {
    record(fact) {
      remember(fact);
      for (const run of runs) {
        try {
          if (concerns(fact, run)) recordIn(run, fact);
        } catch {
          // A journal that fails ends its own session; the others go on.
        }
      }
    },
    watch(session) {
      session.onRun((run) => {
        if (isRoot(run)) for (const fact of current.values()) recordIn(run, fact);
        runs.add(run);
        return () => runs.delete(run);
      });
    },
  };

  function remember(fact: ServerFact): void {
    const { server_id } = fact.data;
    if (fact.type === "mcp.server.connected" || fact.type === "mcp.server.failed") {
      current.set(server_id, fact);
    }
    const before = current.get(server_id);
    if (fact.type !== "mcp.server.tools_changed" || before === undefined) return;
    const data = { ...before.data, tools: fact.data.tools };
    current.set(server_id, { ...before, data } as ServerFact);
  }
}

/** What happened in one call is that run's; how a server is, is told to every root. */
function concerns({ type, data }: ServerFact, run: Run): boolean {
  return type === "mcp.server.host_request" ? data.run_id === run.identity.run_id : isRoot(run);
}

function isRoot({ identity }: Run): boolean {
  return identity.parent_run_id === undefined;
}

function recordIn({ recorder }: Run, { type, data, level }: ServerFact): void {
  recorder.record(type, data, undefined, level);
}
