// What the store reads from its tables: sessions, runs, tombstones, the chain. All that a store opened for
// reading can do.

import { createHash } from "node:crypto";
import type { Fact } from "@soong/core";
import type { CallCount, RunRecord, SessionPage, Store, Tombstone } from "../contract/store.ts";
import { StoreError } from "../contract/store-error.ts";
import { asCount, parseFact, type SessionPlace, sessionReader } from "../session/session-reader.ts";
import {
  type OpenState,
  parseOpenState,
  PLACES_SQL,
  runRecord,
  type RunRow,
  sessionRecord,
  type SessionRow,
} from "../session/rows.ts";
import { asColumn, fromColumn, omitNulls } from "../sql/columns.ts";
import { searchNodes } from "./search-nodes.ts";
import { verifySession } from "./verify-session.ts";
import { listed, sql, SqlPart, sqlRow, type SqlDatabase, type Steps } from "../sql/sql.ts";
import type { ArtifactBytes } from "../artifacts/artifact-bytes.ts";

export interface StoreTables extends Pick<
  Store,
  | "readSession"
  | "sessions"
  | "countSessions"
  | "searchNodes"
  | "lastFacts"
  | "factsOfTypes"
  | "newestFacts"
  | "runs"
  | "countCalls"
  | "projects"
  | "findRun"
  | "findRuns"
  | "verify"
  | "tombstones"
  | "unfinishedRemovals"
> {
  row(session_id: string): Steps<SessionRow | undefined>;
  /** Throws when there is no such session, or no longer. */
  knownRow(session_id: string): Steps<SessionRow>;
  tombstone(session_id: string): Steps<Tombstone | undefined>;
  placeOf(row: SessionRow): SessionPlace;
}

const DEFAULT_PAGE = 100;

interface SessionFactRow {
  readonly session_id: string;
  readonly seq: number;
  readonly line: string;
}

export function storeTables(database: SqlDatabase, bytes: ArtifactBytes): StoreTables {
  return {
    row: findRow,
    knownRow,
    tombstone,
    placeOf,
    async readSession(session_id) {
      return sessionReader(placeOf(await database.run(knownRow(session_id))));
    },
    async sessions(page = {}) {
      return (await database.run(sessionRows(page))).map(sessionRecord);
    },
    async countSessions({ project } = {}) {
      const wanted = asColumn(project);
      const counted = await database.run(sqlRow<{ count: number }>`SELECT count(*) AS count
        FROM sessions WHERE CAST(${wanted} AS TEXT) IS NULL OR project = ${wanted}`);
      return counted?.count ?? 0;
    },
    searchNodes: async (text, page) => database.run(searchNodes(text, page)),
    async lastFacts(session_ids) {
      const rows = await database.run(
        sql<SessionFactRow>`SELECT session_id, place % ${PLACES_SQL} AS seq, line FROM (
           SELECT session_id, session_no * ${PLACES_SQL} + runs.last_seq AS newest, CASE WHEN ended_at IS NOT NULL THEN (
             SELECT place FROM facts
             WHERE place BETWEEN session_no * ${PLACES_SQL} + runs.first_seq AND session_no * ${PLACES_SQL} + runs.last_seq
               AND facts.run_index = runs.run_index AND facts.type = 'run.' || runs.status
             ORDER BY place DESC LIMIT 1
           ) END AS ending FROM ${listed(session_ids)} JOIN sessions ON session_id = value JOIN runs USING (session_no)
         ) AS found JOIN facts ON place = coalesce(ending, newest) ORDER BY place`,
      );
      return rows.map(sessionFact);
    },
    async factsOfTypes(session_ids, types, after = 0) {
      const rows = await database.run(
        sql<SessionFactRow>`SELECT session_id, place % ${PLACES_SQL} AS seq, line FROM ${listed(session_ids)}
         JOIN sessions ON session_id = value
         ${FACTS_WHERE} place > session_no * ${PLACES_SQL} + ${asCount(after)} AND place <= session_no * ${PLACES_SQL} + last_seq
           AND facts.type IN (SELECT value FROM ${listed(types)}) ${THESE_FACTS} ORDER BY place`,
      );
      return rows.map(sessionFact);
    },
    async newestFacts(session_ids, type) {
      const rows = await database.run(
        sql<SessionFactRow>`SELECT session_id, place % ${PLACES_SQL} AS seq, line FROM (
           SELECT session_id AS of_session, (
             SELECT place FROM facts
             WHERE place BETWEEN session_no * ${PLACES_SQL} AND session_no * ${PLACES_SQL} + last_seq AND type = ${type}
             ORDER BY place DESC LIMIT 1
           ) AS newest FROM ${listed(session_ids)} JOIN sessions ON session_id = value
         ) AS found JOIN facts ON place = newest JOIN sessions ON session_id = of_session ORDER BY place`,
      );
      return rows.map(sessionFact);
    },
    async runs(session_ids) {
      const rows = await database.run(
        sql<RunOfSession>`SELECT runs.*, session_id, open_state FROM ${listed(session_ids)}
         JOIN sessions ON session_id = value JOIN runs USING (session_no) ORDER BY session_no, run_index`,
      );
      return rows.map(runOfSession);
    },
    async countCalls(session_ids) {
      const rows = await database.run(
        sql<CallCount>`SELECT session_id, tool_name, status, count(*) AS count FROM ${listed(session_ids)}
         JOIN sessions ON session_id = value JOIN calls USING (session_no)
         GROUP BY session_id, tool_name, status ORDER BY session_id, tool_name, status`,
      );
      return rows.map((row) => ({ ...row, tool_name: fromColumn(row.tool_name) }));
    },
    async projects() {
      const rows = await database.run(
        sql<{
          project: string | null;
          sessions: number;
        }>`SELECT project, count(*) AS sessions FROM sessions GROUP BY project ORDER BY max(updated_at) DESC`,
      );
      return rows.map(({ project, sessions }) =>
        omitNulls({ project: fromColumn(project), sessions }),
      );
    },
    async unfinishedRemovals() {
      const rows = await database.run(
        sql<{
          session_id: string;
        }>`SELECT DISTINCT session_id FROM leavings ORDER BY session_id`,
      );
      return rows.map(({ session_id }) => session_id);
    },
    async findRun(run_id) {
      const found = await database.run(
        sqlRow<RunOfSession>`SELECT runs.*, session_id, open_state FROM runs JOIN sessions USING (session_no) WHERE run_id = ${run_id}`,
      );
      return found && runOfSession(found);
    },
    async findRuns({ idPrefix, limit = DEFAULT_PAGE }) {
      const rows = await database.run(sql<
        RunRow & Pick<SessionRow, "session_id">
      >`SELECT runs.*, session_id FROM runs JOIN sessions USING (session_no)
         WHERE run_id >= ${idPrefix} AND run_id < ${idPrefix + LAST_TEXT}
         ORDER BY started_at DESC, runs.rowid DESC LIMIT ${asCount(limit)}`);
      return rows.map((run) => runRecord(run, run.session_id));
    },
    async verify(session_id, options = {}) {
      const removed = await database.run(tombstone(session_id));
      if (removed !== undefined) return verifyRemoved(removed, options.head);
      const known = await database.run(knownRow(session_id));
      return verifySession(placeOf(known), known, options);
    },
    async tombstones() {
      const rows = await database.run(
        sql<TombstoneRow>`SELECT * FROM tombstones ORDER BY removed_at, rowid`,
      );
      return rows.map(tombstoneRecord);
    },
  };

  function sessionFact({ session_id, ...fact }: SessionFactRow): Fact {
    return parseFact(fact, { session_id, database });
  }

  function findRow(session_id: string): Steps<SessionRow | undefined> {
    return sqlRow`SELECT * FROM sessions WHERE session_id = ${session_id}`;
  }

  function* knownRow(session_id: string): Steps<SessionRow> {
    const known = yield* findRow(session_id);
    if (known !== undefined) return known;
    const removed = yield* tombstone(session_id);
    if (removed === undefined) {
      throw new StoreError("session_unknown", `There is no session ${session_id}.`);
    }
    const why = removed.reason === undefined ? "" : ` (${removed.reason})`;
    throw new StoreError(
      "session_removed",
      `Session ${session_id} was removed at ${removed.removed_at}${why}.`,
    );
  }

  function* tombstone(session_id: string): Steps<Tombstone | undefined> {
    const found = yield* sqlRow<TombstoneRow>`SELECT * FROM tombstones
      WHERE session_id = ${session_id}`;
    return found && tombstoneRecord(found);
  }

  function placeOf({ session_no, session_id }: SessionRow): SessionPlace {
    return { database, session_no, session_id, bytes };
  }

  function sessionRows(page: SessionPage): Steps<SessionRow[]> {
    const most = asCount(page.limit ?? DEFAULT_PAGE);
    const project = asColumn(page.project);
    const { updated_at, session_id } = page.after ?? { updated_at: LAST_TEXT, session_id: "" };
    const { idPrefix } = page;
    if (idPrefix === undefined) {
      return sql`SELECT * FROM sessions
        WHERE (updated_at, session_id) < (${updated_at}, ${session_id})
          AND (CAST(${project} AS TEXT) IS NULL OR project = ${project})
        ORDER BY updated_at DESC, session_id DESC LIMIT ${most}`;
    }
    return sql`SELECT * FROM sessions
      WHERE session_id >= ${idPrefix} AND session_id < ${idPrefix + LAST_TEXT}
        AND (updated_at, session_id) < (${updated_at}, ${session_id})
        AND (CAST(${project} AS TEXT) IS NULL OR project = ${project})
      ORDER BY updated_at DESC, session_id DESC LIMIT ${most}`;
  }
}

/** PostgreSQL cannot guess how few facts a range of places has, and would read all that there are. */
const FACTS_WHERE = new SqlPart({
  sqlite: "JOIN facts ON",
  postgres: "CROSS JOIN LATERAL (SELECT place, line FROM facts WHERE",
});
const THESE_FACTS = new SqlPart({ sqlite: "", postgres: "OFFSET 0) AS found" });

type RunOfSession = RunRow & Pick<SessionRow, "session_id" | "open_state">;

/** What the row of a run under way does not know is in the open state of its session. */
function runOfSession(row: RunOfSession): RunRecord {
  const open = row.ended_at === null ? readOpenRuns(row) : [];
  const [, last_seq = row.last_seq] = open.find(([id]) => id === row.run_id) ?? [];
  return runRecord({ ...row, last_seq }, row.session_id);
}

/** A state that cannot be read counts as empty, so that the runs of other sessions are listed. `verify` reports it. */
function readOpenRuns(row: RunOfSession): OpenState["runs"] {
  try {
    return parseOpenState(row).runs;
  } catch {
    return [];
  }
}

/** Comes behind every text that is kept. */
const LAST_TEXT = "\u{10FFFF}";

type TombstoneRow = Omit<Tombstone, "reason"> & { reason: string | null };

function tombstoneRecord(row: TombstoneRow): Tombstone {
  const { session_id, created_at, removed_at, last_seq, head_hash } = row;
  const reason = fromColumn(row.reason);
  return omitNulls({ session_id, created_at, removed_at, reason, last_seq, head_hash });
}

function verifyRemoved(
  removed: Tombstone,
  head: string | undefined,
): Awaited<ReturnType<Store["verify"]>> {
  const { last_seq, head_hash } = removed;
  if (head === undefined || head === head_hash) return { ok: true, facts: 0, head_hash, removed };
  const message = `The session was removed with another head hash, ${head_hash}.`;
  return { ok: false, facts: 0, problem: { seq: last_seq, kind: "head", message } };
}

/**
 * The name of a session's own files: ids may come from callers and hold anything. The id itself where any disk takes it
 * as a name, also one that does not tell case.
 */
export function sessionName(session_id: string): string {
  if (/^[a-z0-9][a-z0-9_-]{0,99}$/.test(session_id)) return session_id;
  return `~${createHash("sha256").update(session_id).digest("hex").slice(0, 40)}`;
}
