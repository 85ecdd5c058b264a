// Lets one process hold a session, by a lease in its row and an epoch that rises with each holder. The database's clock decides when
// a lease ends. A holder stops earlier by its own monotonic clock, so that it never works beside the next one, even if it is cut off.

import { setMaxListeners } from "node:events";
import { checkLife, leaseMargin, thisHolder } from "@soong/platform";
import { StoreError } from "../contract/store-error.ts";
import type { Store } from "../contract/store.ts";
import type { SessionHold } from "../session/open-session.ts";
import { readHolder, type Holder, type SessionRow } from "../session/rows.ts";
import { listed, raw, sql, sqlRow, sqlWrite, type Steps } from "../sql/sql.ts";
import type { SessionHolds, TakenSession } from "../store/store-writer.ts";
import type { StoreTables } from "../store/store-tables.ts";
import type { Connections } from "./connection.ts";
import { isAway } from "./postgres-error.ts";
import type { PostgresRunner } from "./run-steps.ts";

export interface SessionLeases extends SessionHolds {
  /** The lease of a session, if this process holds it. */
  find(session_no: number): HeldLease | undefined;
  /** The sessions that this process holds. */
  held(): readonly HeldSession[];
  readonly leaseMs: number;
  stop(): void;
}

export interface HeldLease {
  readonly epoch: number;
  /** Aborts when the lease is lost. Reading it checks the clock. */
  readonly lost: AbortSignal;
  /** Call it when a statement has renewed the lease. `sentAt`: when that was sent, by the monotonic clock. */
  renewed(sentAt: number): void;
  lose(why: string): StoreError;
}

export type HeldSession = Pick<Lease, "session_id" | "session_no" | "epoch">;

export interface SessionLeasesParts {
  readonly connections: Connections;
  readonly runner: PostgresRunner;
  readonly tables: StoreTables;
  readonly clock: { now(): number };
  readonly leaseMs: number;
  /** Called when this process takes or releases a session. */
  readonly onHeld: () => void;
}

interface Lease extends HeldLease {
  readonly session_id: string;
  readonly session_no: number;
  endsAt: number;
  /** The lease is being released, so a renewal that fails is no loss. */
  isEnding: boolean;
}

interface TakenRow {
  readonly row: LeasedRow;
  /** When the lease was requested, by the monotonic clock. */
  readonly sentAt: number;
}

/** The row with the columns that only PostgreSQL has. */
type LeasedRow = SessionRow & { readonly epoch: number; readonly is_leased: boolean };

export function createSessionLeases(parts: SessionLeasesParts): SessionLeases {
  const { connections, runner, tables, clock, leaseMs, onHeld } = parts;
  const held = new Map<number, Lease>();
  const marginMs = leaseMargin(leaseMs);
  const interval = raw(`interval '${leaseMs} milliseconds'`);
  let timer: NodeJS.Timeout | undefined;
  let expiry: NodeJS.Timeout | undefined;

  return {
    leaseMs,
    find: (session_no) => held.get(session_no),
    held: () => [...held.values()],
    async take(session_id, insert) {
      const taken = await runner.transaction(() => takeSteps(session_id, insert));
      if (taken === undefined) return undefined;
      onHeld();
      return { ...taken, hold: toHold(keep(taken)) };
    },
    async lock(session_id) {
      const taken = await runner.transaction(() => lockSteps(session_id));
      return taken && toHold(keep(taken));
    },
    async describeHolder(session_id) {
      const row = await runner.run(sqlRow<
        Pick<SessionRow, "holder"> & { seconds: number | null }
      >`SELECT
        holder, CAST(ceil(extract(epoch FROM lease_until - clock_timestamp())) AS BIGINT) AS seconds
        FROM sessions WHERE session_id = ${session_id}`);
      const holder = row && readHolder(row);
      const seconds = Math.max(1, row?.seconds ?? 1);
      const until = `if that is gone, the session is free in ${seconds} s`;
      if (holder === undefined) return `another process (${until})`;
      const where = holder.host === undefined ? "" : ` on ${holder.host}`;
      return `process ${holder.pid}${where}, since ${holder.since} (${until})`;
    },
    stop() {
      clearTimeout(timer);
      clearTimeout(expiry);
      timer = undefined;
      expiry = undefined;
    },
  };

  function* takeSteps(
    session_id: string,
    insert?: () => Steps<unknown>,
  ): Steps<(Omit<TakenSession, "hold"> & TakenRow) | undefined> {
    if (insert !== undefined) yield* insert();
    const taken = yield* lockSteps(session_id);
    if (taken === undefined) return undefined;
    const { row } = taken;
    const last = readHolder(row);
    const self = thisHolder();
    const here: Holder = {
      pid: self.pid,
      host: self.host,
      process: self,
      epoch: row.epoch,
      since: new Date(clock.now()).toISOString(),
      // If the last holder did not release the session, its position stays: run folders may lag behind since then.
      seq: last?.seq ?? row.last_seq,
    };
    yield* sqlWrite`UPDATE sessions SET holder = ${JSON.stringify(here)} WHERE session_no = ${row.session_no}`;
    // Marks of closed connections. No one asks for the end of a transaction for so long.
    yield* sqlWrite`DELETE FROM commit_marks WHERE made_at < clock_timestamp() - interval '1 day'`;
    return { ...taken, abandonedAt: last?.seq };
  }

  /** Undefined if another process holds the session. */
  function* lockSteps(session_id: string): Steps<TakenRow | undefined> {
    const before = yield* sqlRow<LeasedRow>`SELECT *, lease_until > clock_timestamp() AS is_leased
      FROM sessions WHERE session_id = ${session_id} FOR UPDATE`;
    if (before === undefined) {
      yield* tables.knownRow(session_id);
      return undefined;
    }
    // A dead process of this machine does not need its lease any more.
    if (before.is_leased && !isGone(before)) return undefined;
    // Measured for this attempt: earlier ones may have waited for longer than a lease.
    const sentAt = performance.now();
    // Based on the clock, so that no epoch is used twice, even by a promoted standby that has lost the last commits.
    const row = yield* sqlRow<LeasedRow>`UPDATE sessions
      SET epoch = GREATEST(epoch + 1, CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)), lease_until = clock_timestamp() + ${interval}
      WHERE session_no = ${before.session_no} RETURNING *`;
    return row && { row, sentAt };
  }

  function keep({ row, sentAt }: TakenRow): Lease {
    const { session_id, session_no, epoch } = row;
    const lost = new AbortController();
    // Each run of the session adds a listener.
    setMaxListeners(0, lost.signal);
    const lease: Lease = {
      session_id,
      session_no,
      epoch,
      endsAt: sentAt + leaseMs - marginMs,
      isEnding: false,
      get lost() {
        // After a process was suspended, this may be read before its timers fire.
        if (performance.now() >= lease.endsAt && held.get(session_no) === lease)
          lease.lose(CUT_OFF);
        return lost.signal;
      },
      renewed(at) {
        lease.endsAt = Math.max(lease.endsAt, at + leaseMs - marginMs);
      },
      lose(why) {
        if (!lost.signal.aborted) {
          forget(lease);
          lost.abort(describeLoss(session_id, why));
        }
        return lost.signal.reason as StoreError;
      },
    };
    held.set(session_no, lease);
    timer ??= setTimeout(renewAll, leaseMs / 3);
    watchExpiry();
    return lease;
  }

  function forget(lease: Lease): void {
    if (held.get(lease.session_no) === lease) held.delete(lease.session_no);
  }

  function toHold(lease: Lease): SessionHold {
    const { session_no, epoch } = lease;
    let isEnded = false;
    return {
      get lost() {
        return lease.lost;
      },
      isHeld: raw("epoch = ?", epoch),
      *end() {
        lease.isEnding = true;
        yield* sqlWrite`UPDATE sessions SET holder = NULL, lease_until = NULL
          WHERE session_no = ${session_no} AND epoch = ${epoch}`;
        isEnded = true;
      },
      async release() {
        forget(lease);
        onHeld();
        if (isEnded || lease.lost.aborted) return;
        isEnded = true;
        // If the statement fails, the lease expires.
        await connections
          .query({
            text: "UPDATE sessions SET lease_until = NULL WHERE session_no = $1 AND epoch = $2",
            values: [session_no, epoch],
          })
          .catch(() => {});
      },
    };
  }

  async function renew(): Promise<void> {
    const leases = [...held.values()];
    const sentAt = performance.now();
    const statement = {
      name: "renew",
      text: `UPDATE sessions SET lease_until = clock_timestamp() + interval '${leaseMs} milliseconds'
        FROM unnest($1::bigint[], $2::bigint[]) AS mine (no, of_epoch)
        WHERE session_no = no AND epoch = of_epoch AND lease_until > clock_timestamp() RETURNING session_no`,
      values: [leases.map(({ session_no }) => session_no), leases.map(({ epoch }) => epoch)],
    };
    // A shorter timeout than for other statements leaves time for another attempt on another connection.
    const { rows } = await connections.query(
      statement,
      AbortSignal.timeout(Math.ceil(leaseMs / 6)),
    );
    const renewed = new Set(rows.map((row) => (row as SessionRow).session_no));
    for (const lease of leases) {
      if (renewed.has(lease.session_no)) lease.renewed(sentAt);
      // The lease may have been released meanwhile.
      else if (held.get(lease.session_no) === lease && !lease.isEnding)
        lease.lose("another process has taken it over");
    }
  }

  function renewAll(): void {
    timer = undefined;
    if (held.size === 0) return;
    renew().then(
      () => again(leaseMs / 3),
      // Try often while the database is unreachable: there may be little time left.
      (error: unknown) => again(isAway(error) ? Math.min(1_000, leaseMs / 10) : leaseMs / 3),
    );
  }

  function again(ms: number): void {
    if (held.size > 0) timer ??= setTimeout(renewAll, ms);
    watchExpiry();
  }

  function watchExpiry(): void {
    clearTimeout(expiry);
    const next = Math.min(...Array.from(held.values(), ({ endsAt }) => endsAt));
    if (next === Infinity) return;
    expiry = setTimeout(endExpired, Math.max(1, next - performance.now()));
    expiry.unref();
  }

  function endExpired(): void {
    const now = performance.now();
    for (const lease of held.values()) {
      if (lease.endsAt <= now) lease.lose(CUT_OFF);
    }
    watchExpiry();
  }
}

const CUT_OFF = "its database could not be reached for too long";

function describeLoss(session_id: string, why: string): StoreError {
  const message = `Session ${session_id} was lost: ${why}. Nothing more is done or recorded here; what was recorded before is in the store.`;
  return new StoreError("session_lost", message);
}

function isGone(row: LeasedRow): boolean {
  const holder = readHolder(row);
  // A process that removes or rebuilds the session raises the epoch, but writes no holder.
  if (holder?.process === undefined || holder.epoch !== row.epoch) return false;
  // The host name alone is not enough: another machine may have the same one.
  if (holder.process.boot_id === null || holder.process.pid_namespace === null) return false;
  return checkLife(holder.process) === "dead";
}

/** Returns which of these sessions are held, on any machine. */
export function createFindLeased(runner: PostgresRunner): Store["heldSessions"] {
  return async (session_ids) => {
    const rows = await runner.run(sql<{ session_id: string }>`SELECT session_id
      FROM ${listed(session_ids)} JOIN sessions ON session_id = value
      WHERE lease_until > clock_timestamp()`);
    return rows.map(({ session_id }) => session_id);
  };
}
