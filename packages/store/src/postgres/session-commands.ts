// Commands for the sessions that this process holds. They are read before they are marked as taken, so that none is lost with a
// connection. Each is for one holder of the session, never for the next.

import type { QueryConfig } from "pg";
import type { SessionCommand } from "../contract/cluster.ts";
import { readObject } from "../sql/columns.ts";
import type { Connections } from "./connection.ts";
import type { HeldSession } from "./session-leases.ts";

type Take = (command: SessionCommand) => void;

export interface SessionCommands {
  add(session_id: string, take: Take): () => void;
  /** The query for the commands that can be taken now. */
  statement(): QueryConfig;
  take(rows: readonly object[]): void;
  look(): Promise<void>;
}

interface CommandRow {
  readonly command_no: number;
  readonly session_no: number;
  readonly command: string;
}

export function followCommands(
  connections: Pick<Connections, "query">,
  held: () => readonly HeldSession[],
): SessionCommands {
  const takers = new Map<string, Take>();
  /** Commands that were taken and are not marked yet. */
  const taken = new Set<number>();

  return { add, statement, take, look };

  function add(session_id: string, taker: Take): () => void {
    takers.set(session_id, taker);
    return () => {
      if (takers.get(session_id) === taker) takers.delete(session_id);
    };
  }

  function statement(): QueryConfig {
    const wanted = held().filter(({ session_id }) => takers.has(session_id));
    if (wanted.length === 0) return { text: "SELECT 1 WHERE false" };
    return {
      text: `SELECT command_no, session_no, command FROM commands
        JOIN unnest($1::bigint[], $2::bigint[]) AS mine (no, of_epoch)
          ON session_no = no AND epoch = of_epoch
        WHERE taken_at IS NULL ORDER BY command_no`,
      values: [wanted.map(({ session_no }) => session_no), wanted.map(({ epoch }) => epoch)],
    };
  }

  function take(rows: readonly object[]): void {
    if (rows.length === 0) return;
    const sessions = new Map(held().map(({ session_no, session_id }) => [session_no, session_id]));
    for (const { command_no, session_no, command } of rows as CommandRow[]) {
      const taker = takers.get(sessions.get(session_no) ?? "");
      if (taker === undefined || taken.has(command_no)) continue;
      taken.add(command_no);
      const read = readObject(command);
      if (read !== undefined) taker(read as unknown as SessionCommand);
    }
    void mark();
  }

  async function mark(): Promise<void> {
    const done = [...taken];
    try {
      await connections.query({
        text: "UPDATE commands SET taken_at = clock_timestamp() WHERE command_no = ANY($1::bigint[])",
        values: [done],
      });
    } catch {
      // The next look reads them again, skips them and marks them.
      return;
    }
    for (const command_no of done) taken.delete(command_no);
  }

  async function look(): Promise<void> {
    try {
      const { rows } = await connections.query(statement());
      take(rows);
    } catch {
      // The next look follows soon.
    }
  }
}
