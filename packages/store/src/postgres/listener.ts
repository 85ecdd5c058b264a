// The connection on which a process receives notifications of PostgreSQL. It is open only while there are listeners. A regular
// statement checks that it works: without it, a silently lost peer would be noticed only after minutes.

import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import { inTime } from "@soong/platform";
import type { Client, QueryConfig } from "pg";
import type { Connections } from "./connection.ts";

export interface Listener {
  /** `woken` is also called after each connect: notifications may have been missed. */
  listen(topic: string, woken: () => void): () => void;
  /** The name of the PostgreSQL channel of a topic. */
  channel(topic: string): string;
  close(): Promise<void>;
}

export interface ListenerOptions {
  readonly connections: Pick<Connections, "connectListener" | "query">;
  readonly schema: string;
  /** Run every few seconds while there are listeners; through the pool while there is no connection. */
  readonly beat: { statement(): QueryConfig; take(rows: readonly object[]): void };
  readonly beatMs?: number | undefined;
}

const BEAT_MS = 5_000;
const SHORTEST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;

export function createListener(options: ListenerOptions): Listener {
  const { connections, schema, beat, beatMs = BEAT_MS } = options;
  const listeners = new Map<string, Set<() => void>>();
  let client: OneByOne | undefined;
  let running: Promise<void> | undefined;
  /** Ends a pause. */
  let interrupt = new AbortController();
  let isClosed = false;

  return {
    channel,
    listen(topic, woken) {
      if (isClosed) return () => {};
      const name = channel(topic);
      // The same function may listen twice.
      const listener = (): void => woken();
      const others = listeners.get(name);
      if (others !== undefined) others.add(listener);
      else {
        listeners.set(name, new Set([listener]));
        if (client !== undefined) subscribe(client, [name]).catch(() => interrupt.abort());
      }
      run();
      return () => stop(name, listener);
    },
    async close() {
      isClosed = true;
      listeners.clear();
      interrupt.abort();
      // A connection that is being opened is ended once it is open.
      if (client !== undefined) await running;
    },
  };

  function run(): void {
    running ??= keepListening().finally(() => {
      running = undefined;
      // One may have come just before.
      if (listeners.size > 0) run();
    });
  }

  /** Depends on the schema: other stores may be in the same database. */
  function channel(topic: string): string {
    const digest = createHash("sha256").update(`${schema}\n${topic}`).digest("hex");
    return `soong_${digest.slice(0, 32)}`;
  }

  function stop(name: string, listener: () => void): void {
    const others = listeners.get(name);
    if (others?.delete(listener) !== true || others.size > 0) return;
    listeners.delete(name);
    if (listeners.size === 0) interrupt.abort();
    else client?.query({ text: `UNLISTEN ${name}` }).catch(() => interrupt.abort());
  }

  async function keepListening(): Promise<void> {
    let pauseMs = SHORTEST_PAUSE_MS;
    // Listeners that are added in the same turn share a statement.
    await Promise.resolve();
    while (listeners.size > 0) {
      if (await useConnection()) pauseMs = SHORTEST_PAUSE_MS;
      if (listeners.size === 0) return;
      await runBeat(connections).catch(() => {});
      await pause(pauseMs * (0.5 + Math.random()));
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    }
  }

  /** Uses a connection until it breaks or no one listens. Returns whether it worked. */
  async function useConnection(): Promise<boolean> {
    let isOfUse = false;
    let opened: Client;
    try {
      opened = await connections.connectListener(beatMs);
    } catch {
      return false;
    }
    opened.once("end", () => interrupt.abort());
    opened.on("notification", ({ channel: name }) => wake(name));
    const mine = oneByOne(opened);
    try {
      client = mine;
      while (listeners.size > 0) {
        if (!isOfUse) await subscribe(mine, [...listeners.keys()]);
        isOfUse = true;
        await pause(beatMs);
        if (listeners.size > 0) await runBeat(mine);
      }
    } catch {
      // The next connection may work.
    } finally {
      client = undefined;
      await inTime(opened.end(), { ms: 1_000 }).catch(() => {});
      // `end` waits for an answer of the peer, which may never come.
      (opened.connection.stream as Socket).destroy();
    }
    return isOfUse;
  }

  async function subscribe(on: OneByOne, names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    await on.query({ text: names.map((name) => `LISTEN ${name}`).join("; ") });
    for (const name of names) wake(name);
  }

  function wake(name: string): void {
    for (const woken of listeners.get(name) ?? []) woken();
  }

  async function runBeat(on: OneByOne): Promise<void> {
    const { rows } = await on.query(beat.statement());
    beat.take(rows);
  }

  async function pause(ms: number): Promise<void> {
    const { signal } = interrupt;
    await inTime(new Promise<never>(() => {}), { ms, signal });
    if (signal.aborted) interrupt = new AbortController();
  }
}

interface OneByOne {
  query(statement: QueryConfig): Promise<{ rows: object[] }>;
}

/** Sends a statement only after the last one was answered. */
function oneByOne(client: Client): OneByOne {
  let last: Promise<unknown> = Promise.resolve();
  return {
    query(statement) {
      const next = last.then(() => client.query<object>(statement));
      last = next.catch(() => {});
      return next;
    },
  };
}
