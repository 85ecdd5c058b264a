// Ends a pool of connections whose server may not answer any more: a connection waits for it, and would keep the process.

/** As much of a pool of `pg` as this needs. */
interface Pool {
  on(event: "connect" | "remove", listener: (client: PooledClient) => void): unknown;
  end(): Promise<void>;
}

interface PooledClient {
  readonly connection: { readonly stream: { unref?(): unknown; destroy(): unknown } };
}

/** For the other side to answer. */
const ANSWER_MS = 1_000;

/** Call it before the pool is used; the result ends it, once. */
export function preparePoolEnd(pool: Pool): () => Promise<void> {
  const clients = new Set<PooledClient>();
  pool.on("connect", (client) => clients.add(client));
  pool.on("remove", (client) => clients.delete(client));
  let ended: Promise<void> | undefined;
  return () => (ended ??= end());

  function end(): Promise<void> {
    for (const { connection } of clients) connection.stream.unref?.();
    const timer = setTimeout(() => {
      for (const { connection } of clients) connection.stream.destroy();
    }, ANSWER_MS);
    timer.unref();
    return pool.end();
  }
}
