// One process to a session, by a lease in its row and an epoch that counts its holders. All times are the database's, but one: by
// its own monotonic clock a holder stops before its lease can end, so that one that is cut off does nothing beside the next.

import { setMaxListeners } from "node:events";
import { checkLife, thisHolder } from "@soong/platform";
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
  /** Of a session that is held here. */
  find(session_no: number): HeldLease | undefined;
  /** All that are held here. */
  held(): readonly HeldSession[];
  readonly leaseMs: number;
  stop(): void;
}

export interface HeldLease {
  readonly epoch: number;
  /** Aborts when it is lost; by the clock at the latest when this is looked at. */
  readonly lost: AbortSignal;
  /** The database has renewed the lease with something that was sent then, by the monotonic clock. */
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
  /** A session was taken here, or let go. */
  readonly onHeld: () => void;
}

interface Lease extends HeldLease {
  readonly session_id: string;
  readonly session_no: number;
  endsAt: number;
  /** It is being let go: that it is not renewed any more is no loss. */
  isEnding: boolean;
}

interface TakenRow {
  readonly row: LeasedRow;
  /** When the lease was asked for, by the monotonic clock. */
  readonly sentAt: number;
}

/** The row as PostgreSQL has it. */
type LeasedRow = SessionRow & { readonly epoch: number; readonly is_leased: boolean };

export function createSessionLeases(parts: SessionLeasesParts): SessionLeases {
  const { connections, runner, tables, clock, leaseMs, onHeld } = parts;
  const held = new Map<number, Lease>();
  /** So that no rounding of anyone's clock lets two overlap. */
  const marginMs = Math.min(1_000, leaseMs / 10);
  const interval = raw(`interval '${leaseMs} milliseconds'`);
  let timer: NodeJS.Timeout | undefined;
  let expiry: NodeJS.Timeout | undefined;

  return {
    leaseMs,
    find: (session_no) => held.get(session_no),
    held: () => [...held.values()],
    async take(session_id, insert) {
      const taken = await runner.transaction(() => takeSteps(session_id, insert), "unsynced");
      if (taken === undefined) return undefined;
      onHeld();
      return { ...taken, hold: toHold(keep(taken)) };
    },
    async lock(session_id) {
      const taken = await runner.transaction(() => lockSteps(session_id), "unsynced");
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
      // Until a holder lets go, the next one has to look at everything since: a folder may lag behind.
      seq: last?.seq ?? row.last_seq,
    };
    yield* sqlWrite`UPDATE sessions SET holder = ${JSON.stringify(here)} WHERE session_no = ${row.session_no}`;
    // Of connections that are gone; no one looks for an end for so long.
    yield* sqlWrite`DELETE FROM commit_marks WHERE made_at < clock_timestamp() - interval '1 day'`;
    return { ...taken, abandonedAt: last?.seq };
  }

  /** Undefined when someone has it. */
  function* lockSteps(session_id: string): Steps<TakenRow | undefined> {
    const before = yield* sqlRow<LeasedRow>`SELECT *, lease_until > clock_timestamp() AS is_leased
      FROM sessions WHERE session_id = ${session_id} FOR UPDATE`;
    if (before === undefined) {
      yield* tables.knownRow(session_id);
      return undefined;
    }
    // A process of this machine that is gone does not come back for it.
    if (before.is_leased && !isGone(before)) return undefined;
    // Of this attempt: the ones before may have waited for the database for longer than a lease.
    const sentAt = performance.now();
    // No epoch is given out twice, also by a server that has lost the last commits: a standby that was behind.
    const row = yield* sqlRow<LeasedRow>`UPDATE sessions
      SET epoch = GREATEST(epoch + 1, CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)), lease_until = clock_timestamp() + ${interval}
      WHERE session_no = ${before.session_no} RETURNING *`;
    return row && { row, sentAt };
  }

  function keep({ row, sentAt }: TakenRow): Lease {
    const { session_id, session_no, epoch } = row;
    const lost = new AbortController();
    // Each run of the session listens to it.
    setMaxListeners(0, lost.signal);
    const lease: Lease = {
      session_id,
      session_no,
      epoch,
      endsAt: sentAt + leaseMs - marginMs,
      isEnding: false,
      get lost() {
        // A process that was stopped comes here before its timers do.
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
    // On a connection that answers no more, not for as long as others wait: there is time for another attempt.
    const { rows } = await connections.query(
      statement,
      AbortSignal.timeout(Math.ceil(leaseMs / 6)),
    );
    const renewed = new Set(rows.map((row) => (row as SessionRow).session_no));
    for (const lease of leases) {
      if (renewed.has(lease.session_no)) lease.renewed(sentAt);
      // It may have been let go meanwhile.
      else if (held.get(lease.session_no) === lease && !lease.isEnding)
        lease.lose("another process has taken it over");
    }
  }

  function renewAll(): void {
    timer = undefined;
    if (held.size === 0) return;
    renew().then(
      () => again(leaseMs / 3),
      // While the database is away it is asked often: there may be little time left.
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
  // Who removes or rebuilds it leaves no name, and has an epoch of its own.
  if (holder?.process === undefined || holder.epoch !== row.epoch) return false;
  // Where only the host has a name, that may be the name of another machine, too.
  if (holder.process.boot_id === null || holder.process.pid_namespace === null) return false;
  return checkLife(holder.process) === "dead";
}

/** Which of these sessions someone holds, wherever that is. */
export function createFindLeased(runner: PostgresRunner): Store["heldSessions"] {
  return async (session_ids) => {
    const rows = await runner.run(sql<{ session_id: string }>`SELECT session_id
      FROM ${listed(session_ids)} JOIN sessions ON session_id = value
      WHERE lease_until > clock_timestamp()`);
    return rows.map(({ session_id }) => session_id);
  };
}
