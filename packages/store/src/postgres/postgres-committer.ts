// Commits on PostgreSQL. Each session has at most one batch under way; later facts go with the next. While the database is
// unreachable batches wait, within a bound. All are synced: a server that lost one in a crash would be behind the holder of the
// session, which could not continue.

import { setImmediate as nextTurn } from "node:timers/promises";
import { StoreError } from "../contract/store-error.ts";
import type { Committer, Pending } from "../session/committer.ts";
import type { Batch } from "../session/write-rows.ts";
import { toCommitQuery } from "./commit-batch.ts";
import type { Connections } from "./connection.ts";
import { isTaken, isUndone, PostgresError } from "./postgres-error.ts";
import type { RetryWhileAway } from "./retry-while-away.ts";
import type { HeldLease, SessionLeases } from "./session-leases.ts";

export interface PostgresCommitterOptions {
  readonly connections: Connections;
  readonly leases: () => Pick<SessionLeases, "find" | "leaseMs">;
  readonly retry: RetryWhileAway;
  /** Called after each batch. */
  readonly onCommitted?: (session_id: string) => void;
}

/** How long a fact may stay in memory if no one waits for it. */
const SOON_MS = 50;

/** How many bytes may be held back. */
const LARGE = 1024 * 1024;

/** The time from a failure to the next attempt that no caller waits for. */
const LATER_MS = 1_000;

export function createPostgresCommitter(options: PostgresCommitterOptions): Committer {
  const { connections, leases, retry } = options;
  const waiting = new Set<Pending>();
  /** For each session the batch under way, and the next one. */
  const sending = new Map<Pending, { now: Promise<void>; next?: Promise<void> }>();
  let bytesHeld = 0;
  let failure: StoreError | undefined;
  let timer: NodeJS.Timeout | undefined;

  return {
    note(pending, bytes) {
      waiting.add(pending);
      bytesHeld += bytes;
      if (bytesHeld > LARGE) sendSoon(0);
      else sendSoon(failure === undefined ? SOON_MS : LATER_MS);
    },
    flush(only) {
      const wanted = only === undefined ? [...new Set([...waiting, ...sending.keys()])] : [only];
      const open = wanted.filter((pending) => waiting.has(pending) || sending.has(pending));
      return open.length === 0 ? undefined : sendAll(open);
    },
    commit: () => sendAll([...new Set([...waiting, ...sending.keys()])]),
    refuseFailed() {
      if (failure === undefined) return;
      sendSoon(LATER_MS);
      throw failure;
    },
    check() {},
    drop(pending) {
      waiting.delete(pending);
      if (waiting.size === 0) failure = undefined;
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
    },
  };

  function sendSoon(ms: number): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      // The error is in `failure`, for the next caller.
      sendAll([...waiting]).catch(() => {});
    }, ms);
  }

  async function sendAll(wanted: readonly Pending[]): Promise<void> {
    const sent = await Promise.allSettled(wanted.map(send));
    for (const one of sent) if (one.status === "rejected") throw one.reason;
  }

  /** Settles when all facts that the session has taken so far are committed. */
  function send(pending: Pending): Promise<void> {
    const open = sending.get(pending);
    if (open === undefined) {
      // Callers of the same turn share a batch.
      const now = nextTurn().then(() => sendBatch(pending));
      return track(pending, { now });
    }
    open.next ??= open.now.catch(() => {}).then(() => send(pending));
    return open.next;
  }

  function track(pending: Pending, entry: { now: Promise<void> }): Promise<void> {
    sending.set(pending, entry);
    void entry.now
      .catch(() => {})
      .then(() => {
        if (sending.get(pending) === entry) sending.delete(pending);
      });
    return entry.now;
  }

  async function sendBatch(pending: Pending): Promise<void> {
    if (!waiting.delete(pending)) return;
    bytesHeld = 0;
    const batch = pending.take();
    try {
      await commitPatiently(batch);
    } catch (error) {
      // Only this session fails: the error does not concern the others.
      if (error instanceof StoreError && REFUSALS.has(error.code)) return pending.refused(error);
      pending.putBack();
      waiting.add(pending);
      failure = error as StoreError;
      sendSoon(LATER_MS);
      throw error;
    }
    failure = undefined;
    pending.committed(batch);
    options.onCommitted?.(batch.session.session_id);
  }

  async function commitPatiently(batch: Batch): Promise<void> {
    const lease = findLease(batch);
    try {
      await retry(
        () => commitOnce(batch, lease),
        () => lease.lost.throwIfAborted(),
      );
    } catch (error) {
      if (isUndone(error)) return commitPatiently(batch);
      throw isUnacceptable(error) ? asRefusal(error) : error;
    }
  }

  async function commitOnce(batch: Batch, lease: HeldLease): Promise<void> {
    const { epoch, lost } = lease;
    const { leaseMs } = leases();
    const sentAt = performance.now();
    const query = toCommitQuery(batch, { epoch, leaseMs });
    const { rows } = await connections.query(query, lost);
    if (rows.length > 0) lease.renewed(sentAt);
    else if (!(await isThere(batch, lease))) {
      throw lease.lose("another process has taken it over, or it was removed");
    }
  }

  /** Whether an earlier attempt, which got no answer, has committed the batch. A batch without facts leaves no trace of that. */
  async function isThere({ session, facts }: Batch, { epoch, lost }: HeldLease): Promise<boolean> {
    if (facts.length === 0) return false;
    const query = {
      text: "SELECT 1 FROM sessions WHERE session_no = $1 AND epoch = $2 AND last_seq = $3 AND head_hash = $4",
      values: [session.session_no, epoch, session.last_seq, session.head_hash],
    };
    const { rows } = await connections.query(query, lost);
    return rows.length > 0;
  }

  function findLease({ session }: Batch): HeldLease {
    const lease = leases().find(session.session_no);
    if (lease !== undefined) return lease;
    throw new StoreError(
      "session_lost",
      `Session ${session.session_id} is not held here any more.`,
    );
  }
}

const REFUSALS: ReadonlySet<string> = new Set(["session_lost", "run_exists", "entry_refused"]);

/** Errors that a retry cannot fix: a key that is taken, a text or a size that PostgreSQL refuses. */
function isUnacceptable(error: unknown): error is PostgresError {
  return isTaken(error) || (error instanceof PostgresError && /^(22|54)/.test(error.state));
}

function asRefusal(error: PostgresError): StoreError {
  const { constraint } = error;
  if (constraint === undefined) {
    return new StoreError("entry_refused", `${error.message} Nothing of it was recorded.`);
  }
  const code = constraint === "runs_run_id" ? "run_exists" : "entry_refused";
  const why = `The journal took what another process has taken meanwhile (${constraint}).`;
  return new StoreError(code, why);
}
