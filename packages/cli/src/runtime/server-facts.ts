// Facts about servers, in the journals they belong in (MCP-2, MCP-3): a server is the runtime's, and lives longer than a
// run. A run begins with how each server is by then, and hears of every change until it ends; its children do not.

import type { FactData, Run, Session } from "@soong/core";
import type { RecordServerFact } from "@soong/mcp";

export interface ServerFacts {
  readonly record: RecordServerFact;
  /** The same session; runs started through it have the facts on record. */
  readonly watched: (session: Session) => Session;
}

type ServerFact = Parameters<RecordServerFact>;

export function createServerFacts(): ServerFacts {
  /** By server: how it is now, as a run that begins is told. */
  const current = new Map<unknown, ServerFact>();
  const runs = new Set<Run>();

  return {
    record(...fact) {
      remember(fact);
      for (const run of runs) {
        try {
          if (concerns(fact, run)) recordIn(run, fact);
        } catch {
          // A journal that fails ends its own session; the others go on.
        }
      }
    },
    watched: (session) => ({
      ...session,
      async startRun(options) {
        const run = await session.startRun(options);
        if (isRoot(run)) for (const fact of current.values()) recordIn(run, fact);
        runs.add(run);
        const ended: Pick<Run, "end"> = {
          end(reason, data) {
            runs.delete(run);
            run.end(reason, data);
          },
        };
        // Everything else is the run's own, also what it will say later.
        return Object.assign(Object.create(run) as Run, ended);
      },
    }),
  };

  function remember(fact: ServerFact): void {
    const [type, data] = fact;
    const { server_id, tools } = data as { server_id?: string; tools?: number };
    if (type === "mcp.server.connected" || type === "mcp.server.failed") {
      current.set(server_id, fact);
    }
    const before = current.get(server_id);
    if (type !== "mcp.server.tools_changed" || before === undefined) return;
    const counted: FactData = { ...(before[1] as object), tools };
    current.set(server_id, [before[0], counted, before[2]]);
  }
}

/** What happened in one call is that run's; how a server is, is told to every root. */
function concerns([, data]: ServerFact, run: Run): boolean {
  const { run_id } = data as { run_id?: unknown };
  return run_id === undefined ? isRoot(run) : run_id === run.identity.run_id;
}

function isRoot({ identity }: Run): boolean {
  return identity.parent_run_id === undefined;
}

function recordIn({ recorder }: Run, [type, data, level]: ServerFact): void {
  recorder.record(type, data, undefined, level);
}
