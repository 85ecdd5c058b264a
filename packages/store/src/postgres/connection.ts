// The connections to PostgreSQL: a bounded pool, a timeout for every answer, and errors without the credentials of the URL.

import { setMaxListeners } from "node:events";
import type { Socket } from "node:net";
import type pg from "pg";
import type { Client, ClientBase, PoolClient, PoolConfig, QueryConfig, QueryResult } from "pg";
import { inTime, preparePoolEnd } from "@soong/platform";
import { StoreError } from "../contract/store-error.ts";
import type { StoreAddress } from "./store-address.ts";
import { asConnectError, asPostgresError, isAway } from "./postgres-error.ts";

export interface Connections {
  /** The address without credentials. */
  readonly name: string;
  /** `giveUp` closes the connection without waiting for the answer. The statement may have been executed. */
  query(statement: QueryConfig, giveUp?: AbortSignal): Promise<QueryResult<object>>;
  /** Runs all statements of `work` on one connection. A connection that failed is not used again. */
  with<T>(work: (client: PoolClient) => Promise<T>): Promise<T>;
  /** Opens a connection outside of the pool. The listener ends it. */
  connectListener(answerTimeoutMs: number): Promise<Client>;
  /** Aborts statements that are under way. */
  close(): Promise<void>;
}

export interface ConnectionOptions {
  readonly readOnly: boolean;
  /** How long an answer is waited for. */
  readonly answerTimeoutMs: number;
}

/** Two for commits and claims, one for what others read meanwhile. */
const MOST_CONNECTIONS = 3;
const CONNECT_TIMEOUT_MS = 10_000;

/** Longer than between two renewals of a lease: a new connection is a new process on the server. */
const IDLE_TIMEOUT_MS = 60_000;

/** The type id of `int8` in PostgreSQL. */
const INT8 = 20;

export async function openConnections(
  address: StoreAddress,
  { readOnly, answerTimeoutMs }: ConnectionOptions,
): Promise<Connections> {
  const { name, schema, url } = address;
  const { Client, Pool, types } = await loadPg();
  const config: PoolConfig = {
    connectionString: url,
    application_name: "soong",
    max: MOST_CONNECTIONS,
    connectionTimeoutMillis: Math.min(CONNECT_TIMEOUT_MS, answerTimeoutMs),
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    // Idle connections do not keep the process alive.
    allowExitOnIdle: true,
    // The server ends statements that take longer (`setUp`). This is for a server that does not answer.
    query_timeout: Math.ceil(1.1 * answerTimeoutMs),
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
    // Counts and places are whole numbers that a JavaScript number can hold.
    types: {
      getTypeParser: (id, format): unknown =>
        (id as number) === INT8 ? Number : types.getTypeParser(id, format),
    },
  };
  const pool = new Pool({
    ...config,
    pipeline: true,
    // The pool waits for it, though its types do not say so.
    // oxlint-disable-next-line typescript/no-misused-promises
    onConnect: setUp,
    Client: guarded(Client),
  });
  // An idle connection may break: the next statement gets another one, or the error.
  pool.on("error", () => {});
  /** The backend process of each connection. Two connections with the same one go through a pooler in transaction mode. */
  const backends = new Set<string>();
  const endPool = preparePoolEnd(pool);
  const closing = new AbortController();
  // Each statement under way adds a listener.
  setMaxListeners(0, closing.signal);

  return {
    name,
    query: (statement, giveUp) =>
      use(
        (client) => client.query<object>(statement),
        async () => true,
        giveUp,
      ),
    with: (work) => use(work, rollBack),
    async connectListener(timeoutMs) {
      refuseClosed();
      const client = new Client({
        ...config,
        application_name: "soong listener",
        query_timeout: timeoutMs,
      });
      // The connection may break at any time; `end` reports it.
      client.on("error", ignore);
      try {
        await client.connect();
        await setUp(client);
        return client;
      } catch (error) {
        client.end().catch(ignore);
        throw asPostgresError(error, name);
      }
    },
    async close() {
      if (closing.signal.aborted) return;
      closing.abort();
      await endPool();
    },
  };

  /** `tidy` cleans up after an error of the statement, and returns whether the connection can be used again. */
  async function use<T>(
    work: (client: PoolClient) => Promise<T>,
    tidy: (client: PoolClient) => Promise<boolean>,
    giveUp?: AbortSignal,
  ): Promise<T> {
    refuseClosed();
    const client = await takeClient(giveUp);
    let isReleased = false;
    const release = (isBroken: boolean): void => {
      if (isReleased) return;
      isReleased = true;
      closing.signal.removeEventListener("abort", cut);
      giveUp?.removeEventListener("abort", cut);
      // Do not wait for answers to what was sent.
      if (isBroken) streamOf(client).destroy();
      client.release(isBroken);
    };
    const cut = (): void => release(true);
    closing.signal.addEventListener("abort", cut);
    giveUp?.addEventListener("abort", cut);
    try {
      if (closing.signal.aborted || giveUp?.aborted === true) cut();
      const done = await work(client);
      release(false);
      return done;
    } catch (given) {
      const error = asPostgresError(given, name);
      release(isAway(error) || isReleased || !(await tidy(client)));
      throw closing.signal.aborted ? closed() : error;
    }
  }

  async function takeClient(giveUp: AbortSignal | undefined): Promise<PoolClient> {
    const connecting = pool.connect();
    try {
      const taken = await inTime(connecting, giveUp === undefined ? {} : { signal: giveUp });
      if (taken.kind === "done") return taken.value;
    } catch (error) {
      throw closing.signal.aborted ? closed() : asConnectError(error, name);
    }
    connecting.then((client) => client.release(), ignore);
    throw asPostgresError(new Error("Connection terminated: given up"), name);
  }

  /**
   * Settings are set by a statement, because a pooler refuses unknown startup parameters. JIT is off: compiling takes longer than
   * any of our statements. Commits are synced even if the server's own setting is not to: after a crash of the server, the holder
   * of a session would be ahead of it and could not continue.
   */
  async function setUp(client: ClientBase): Promise<void> {
    const { rows } = await client.query<{ is_standby: boolean; backend: string | null }>(
      `SELECT pg_is_in_recovery() AS is_standby, (${BACKEND}) AS backend, set_config('search_path', $1, false), set_config('jit', 'off', false), set_config('statement_timeout', $2, false),
        set_config('idle_in_transaction_session_timeout', $2, false),
        set_config('default_transaction_read_only', CASE WHEN $3 THEN 'on' ELSE current_setting('default_transaction_read_only') END, false),
        set_config('synchronous_commit', CASE WHEN current_setting('synchronous_commit') IN ('off', 'local') THEN 'on' ELSE current_setting('synchronous_commit') END, false)`,
      [schema, String(answerTimeoutMs), readOnly],
    );
    const backend = rows[0]?.backend ?? "";
    if (backends.has(backend)) throw refuseSharing(name);
    if (backend !== "") backends.add(backend);
    client.once("end", () => backends.delete(backend));
    // An address that moves may lead to a standby shortly before its promotion.
    if (!readOnly && rows[0]?.is_standby === true)
      throw Object.assign(new Error("it is a standby that was not promoted"), { code: "57P03" });
  }

  function refuseClosed(): void {
    if (closing.signal.aborted) throw closed();
  }

  function closed(): StoreError {
    return new StoreError("store_closed", `The store ${name} is closed; open it again.`);
  }
}

/**
 * An error of an idle connection must not end the process; the next statement gets it. Also closes the socket if connecting fails,
 * for example without a password: the driver leaves it open until the server gives up.
 */
function guarded(Client: typeof pg.Client): typeof pg.Client {
  return class extends Client {
    override connect(): Promise<pg.Client>;
    override connect(callback: Connected): void;
    override connect(callback?: Connected): Promise<pg.Client> | undefined {
      this.on("error", ignore);
      const connecting = super.connect().catch((error: unknown) => {
        (this as unknown as Pick<PoolClient, "connection">).connection.stream.destroy();
        throw error;
      });
      if (callback === undefined) return connecting;
      const answer = callback as (error: Error | null) => void;
      connecting.then(() => answer(null), answer);
      return undefined;
    }
  };
}

type Connected = ((error: Error) => void) | ((error: null, client: pg.Client) => void);

function ignore(): void {}

/** The process id with its start time: another server, or the same one after a crash, may use the id again. */
const BACKEND =
  "SELECT concat(pid, ' ', backend_start) FROM pg_stat_activity WHERE pid = pg_backend_pid()";

/** The connections would share settings, prepared statements and notifications. */
function refuseSharing(name: string): StoreError {
  return new StoreError(
    "store_unavailable",
    `The store ${name}: two connections share one of the server's, as with a pooler in transaction mode; set pool_mode = session there.`,
  );
}

function streamOf({ connection }: PoolClient): Socket {
  return connection.stream as Socket;
}

async function rollBack(client: PoolClient): Promise<boolean> {
  try {
    await client.query("ROLLBACK");
    return true;
  } catch {
    return false;
  }
}

async function loadPg(): Promise<Pick<typeof pg, "Client" | "Pool" | "types">> {
  try {
    return (await import("pg")).default;
  } catch (error) {
    const [why] = (error as Error).message.split("\n");
    throw new StoreError(
      "store_unavailable",
      `PostgreSQL cannot be used (${why}). Install the package pg.`,
      { cause: error },
    );
  }
}
