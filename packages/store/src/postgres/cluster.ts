// Workers, commands and wake-ups in PostgreSQL.

import type {
  ClusterStorage,
  DeclinedStep,
  SessionHolder,
  WorkerRecord,
  WorkerReport,
  WorkerStep,
} from "../contract/cluster.ts";
import { readHolder, type SessionRow } from "../session/rows.ts";
import { asColumn, fromColumn, omitNulls } from "../sql/columns.ts";
import { raw, sql, sqlRow, sqlWrite } from "../sql/sql.ts";
import type { Connections } from "./connection.ts";
import { createListener } from "./listener.ts";
import { isTableMissing } from "./postgres-error.ts";
import type { PostgresRunner } from "./run-steps.ts";
import { followCommands } from "./session-commands.ts";
import type { HeldSession } from "./session-leases.ts";

export interface Cluster extends ClusterStorage {
  close(): Promise<void>;
}

export interface ClusterParts {
  readonly connections: Connections;
  readonly runner: PostgresRunner;
  readonly schema: string;
  /** The sessions that this process holds. */
  readonly held: () => readonly HeldSession[];
  /** How often missed notifications are looked for. */
  readonly beatMs?: number | undefined;
}

type WorkerRow = Omit<WorkerRecord, "seen_at" | "doing" | "declined"> & {
  seen_at: Date;
  /** JSON of both lists in one; a declined step has a reason. */
  doing: string;
};

const SEEN_WITHIN_MS = 60_000;
const CLOCK_READINGS = 3;

/** One NOTIFY for each commit cut the rate of commits to a third. */
const WAKE_EVERY_MS = 100;

export function createCluster(parts: ClusterParts): Cluster {
  const { connections, runner, schema, held, beatMs } = parts;
  const commands = followCommands(connections, held);
  const listener = createListener({ connections, schema, beat: commands, beatMs });
  /** The topics to notify next. */
  const waking = new Set<string>();
  let wakeTimer: NodeJS.Timeout | undefined;
  let lastWake = -Infinity;

  return {
    async clockOffsetMs() {
      const readings: { offset: number; tookMs: number }[] = [];
      for (let count = 0; count < CLOCK_READINGS; count += 1) readings.push(await readOffset());
      // The shorter the round trip, the less half of it can be wrong.
      readings.sort((one, other) => one.tookMs - other.tookMs);
      return readings[0]?.offset ?? Number.NaN;
    },
    async reportWorker(worker) {
      const row = await runner.run(reportSteps(worker));
      return { draining: row?.draining ?? false };
    },
    async removeWorker(worker_id) {
      await runner.run(sql`DELETE FROM pool_workers WHERE worker_id = ${worker_id}`);
    },
    async workers({ seenWithinMs = SEEN_WITHIN_MS } = {}) {
      const query = sql<WorkerRow>`SELECT * FROM pool_workers
        WHERE seen_at >= clock_timestamp() - ${seenWithinMs} * interval '1 millisecond' AND seen_at < ${NOT_YET}
        ORDER BY pool, host, worker_id`;
      try {
        return (await runner.run(query)).map(toWorkerRecord);
      } catch (error) {
        // A store of version 1 that is only read has no such table, and no such workers.
        if (isTableMissing(error)) return [];
        throw error;
      }
    },
    async drainWorker(worker_id) {
      const row = await runner.run(sqlRow<WorkerRow>`UPDATE pool_workers SET draining = true
        WHERE worker_id = ${worker_id} RETURNING *`);
      if (row === undefined) return undefined;
      notifySoon(`worker/${worker_id}`);
      return toWorkerRecord(row);
    },
    withdrawDispatch: async ({ run_id, tool_call_id }, reason) =>
      runner.transaction(function* () {
        yield* sqlWrite`DELETE FROM withdrawn_dispatches WHERE withdrawn_at < clock_timestamp() - ${FORGOTTEN_AFTER}`;
        yield* sqlWrite`INSERT INTO withdrawn_dispatches (run_id, tool_call_id, reason)
          VALUES (${run_id}, ${asColumn(tool_call_id)}, ${asColumn(reason)}) ON CONFLICT DO NOTHING`;
        yield* sql`SELECT pg_notify(${listener.channel(`dispatch/${run_id}`)}, '')`;
      }),
    async readWithdrawal({ run_id, tool_call_id }) {
      const row = await runner.run(sqlRow<{
        reason: string;
      }>`SELECT reason FROM withdrawn_dispatches
          WHERE run_id = ${run_id} AND tool_call_id = ${asColumn(tool_call_id)}`);
      return row && fromColumn(row.reason);
    },
    async holders() {
      const rows =
        await runner.run(sql<HolderRow>`SELECT session_id, project, holder, ${UNDER_WAY} AS runs FROM sessions
        WHERE lease_until > clock_timestamp() AND holder IS NOT NULL`);
      return rows.map(toHolder).toSorted((one, other) => (one.since < other.since ? -1 : 1));
    },
    send: async (session_id, command) =>
      runner.transaction(function* () {
        const sent = yield* sql`INSERT INTO commands (session_no, epoch, command)
          SELECT session_no, epoch, ${JSON.stringify(command)} FROM sessions
          WHERE session_id = ${session_id} AND lease_until > clock_timestamp()
          RETURNING command_no`;
        if (sent.length === 0) return false;
        yield* sql`SELECT pg_notify(${listener.channel(commandsTopic(session_id))}, '')`;
        return true;
      }),
    onCommand(session_id, take) {
      const forget = commands.add(session_id, take);
      const unlisten = listener.listen(commandsTopic(session_id), () => void commands.look());
      return () => {
        forget();
        unlisten();
      };
    },
    wake: notifySoon,
    listen: (topic, woken) => listener.listen(topic, woken),
    async close() {
      clearTimeout(wakeTimer);
      await notify();
      await listener.close();
    },
  };

  async function readOffset(): Promise<{ offset: number; tookMs: number }> {
    const askedAt = Date.now();
    const row = await runner.run(sqlRow<{ ms: number }>`SELECT
      CAST(extract(epoch FROM clock_timestamp()) * 1000 AS float8) AS ms`);
    const answeredAt = Date.now();
    return {
      offset: (askedAt + answeredAt) / 2 - (row?.ms ?? Number.NaN),
      tookMs: answeredAt - askedAt,
    };
  }

  function notifySoon(topic: string): void {
    waking.add(topic);
    scheduleNotify();
  }

  function scheduleNotify(): void {
    const ms = Math.max(0, lastWake + WAKE_EVERY_MS - performance.now());
    wakeTimer ??= setTimeout(() => void notifyAll(), ms);
  }

  async function notifyAll(): Promise<void> {
    await notify();
    wakeTimer = undefined;
    // Topics that were added during the query.
    if (waking.size > 0) scheduleNotify();
  }

  async function notify(): Promise<void> {
    if (waking.size === 0) return;
    const values = [Array.from(waking, (topic) => listener.channel(topic))];
    waking.clear();
    await connections
      .query({ text: "SELECT pg_notify(name, '') FROM unnest($1::text[]) AS name", values })
      // Listeners look again when they are connected again.
      .catch(() => {});
    lastWake = performance.now();
  }
}

/** How long rows of a process are kept that ended without removing them. */
const FORGOTTEN_AFTER = raw("interval '1 day'");

/** Rows later than this were not written by a worker, and would never expire. */
const NOT_YET = raw("clock_timestamp() + interval '1 day'");

function commandsTopic(session_id: string): string {
  return `commands/${session_id}`;
}

/** Draining ends when the process is started again. */
function reportSteps(worker: WorkerReport) {
  const { worker_id, pool, host, pid, version, concurrency, started_at } = worker;
  const doing = [...worker.doing, ...(worker.declined ?? [])];
  return sqlRow<Pick<WorkerRow, "draining">>`WITH forgotten AS (
      DELETE FROM pool_workers WHERE (seen_at < clock_timestamp() - ${FORGOTTEN_AFTER} OR seen_at >= ${NOT_YET})
        AND worker_id <> ${worker_id})
    INSERT INTO pool_workers (worker_id, pool, host, pid, version, concurrency, started_at, seen_at, doing)
    VALUES (${worker_id}, ${pool}, ${host}, ${pid}, ${version}, ${concurrency}, ${started_at}, clock_timestamp(), ${JSON.stringify(doing)})
    ON CONFLICT (worker_id) DO UPDATE SET pool = excluded.pool, host = excluded.host, pid = excluded.pid,
      version = excluded.version, concurrency = excluded.concurrency, started_at = excluded.started_at,
      seen_at = excluded.seen_at, doing = excluded.doing,
      draining = pool_workers.draining AND pool_workers.started_at = excluded.started_at
    RETURNING draining`;
}

function toWorkerRecord({ seen_at, doing: text, ...row }: WorkerRow): WorkerRecord {
  const steps = parseSteps(text);
  const doing = steps.filter((step) => !isDeclined(step));
  const declined = steps.filter(isDeclined);
  return {
    ...row,
    seen_at: seen_at.toISOString(),
    doing,
    ...(declined.length > 0 && { declined }),
  };
}

function isStep(given: unknown): given is WorkerStep {
  const step = (given ?? {}) as Partial<WorkerStep & DeclinedStep>;
  const { task_id, step_id, since, why = "", run_id = "", tool_call_id = "" } = step;
  const texts = [task_id, step_id, since, why, run_id, tool_call_id];
  return texts.every((text) => typeof text === "string");
}

function isDeclined(step: WorkerStep | DeclinedStep): step is DeclinedStep {
  return "why" in step;
}

/** Skips invalid entries: a row that one process wrote must not keep others from listing all workers. */
function parseSteps(text: string): readonly (WorkerStep | DeclinedStep)[] {
  try {
    const steps: unknown = JSON.parse(text);
    if (!Array.isArray(steps)) return [];
    return steps.filter(isStep);
  } catch {
    return [];
  }
}

const UNDER_WAY =
  raw(`(SELECT coalesce(json_agg(json_strip_nulls(json_build_object('run_id', run_id,
    'agent_id', agent_id, 'role', role, 'started_at', started_at)) ORDER BY run_index), '[]')
  FROM runs WHERE runs.session_no = sessions.session_no AND status IN ('queued', 'running'))`);

type HolderRow = Pick<SessionRow, "session_id" | "project" | "holder"> &
  Pick<SessionHolder, "runs">;

function toHolder({ session_id, project, holder, runs }: HolderRow): SessionHolder {
  const { pid = 0, host = "", since = "" } = readHolder({ holder }) ?? {};
  return { session_id, pid, host, since, runs, ...omitNulls({ project: fromColumn(project) }) };
}
