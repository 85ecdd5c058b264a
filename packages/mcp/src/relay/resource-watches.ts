// Which resources someone wants to hear of: asked of the server once, however many want it, and asked again of a
// server that was restarted.

import type { ConnectedServer } from "../connection/index.ts";

export interface Watches {
  /** Rejects with what the server says against it. The returned function ends it, once. */
  begin(
    owner: { readonly server_id: string; readonly server: ConnectedServer },
    uri: string,
  ): Promise<() => void>;
  updated(server_id: string, uri: string): void;
  again(server_id: string, server: ConnectedServer): void;
  close(): void;
}

interface Watch {
  readonly server_id: string;
  readonly uri: string;
  users: number;
  stop: Promise<() => Promise<void>>;
}

const MAX_WATCHES = 1_000;

export function createWatches(tell: (uri: string) => void): Watches {
  const watches = new Map<string, Watch>();
  const over = new AbortController();

  return {
    async begin({ server_id, server }, uri) {
      const key = keyOf(server_id, uri);
      if (!watches.has(key) && watches.size >= MAX_WATCHES) {
        throw new Error(`${MAX_WATCHES} resources are watched already`);
      }
      const watch = watches.get(key) ?? {
        server_id,
        uri,
        users: 0,
        stop: server.watch(uri, over.signal),
      };
      watches.set(key, watch);
      watch.users += 1;
      try {
        await watch.stop;
      } catch (error) {
        leave(key, watch);
        throw error;
      }
      let isLeft = false;
      return () => {
        if (!isLeft) leave(key, watch);
        isLeft = true;
      };
    },
    updated(server_id, uri) {
      if (watches.has(keyOf(server_id, uri))) tell(uri);
    },
    again(server_id, server) {
      for (const watch of watches.values()) {
        if (watch.server_id !== server_id) continue;
        watch.stop = server.watch(watch.uri, over.signal);
        // No updates then; a subscriber has to read it again.
        watch.stop.catch(() => {});
      }
    },
    close() {
      over.abort();
      watches.clear();
    },
  };

  function leave(key: string, watch: Watch): void {
    watch.users -= 1;
    if (watch.users > 0) return;
    if (watches.get(key) === watch) watches.delete(key);
    watch.stop.then((stop) => stop()).catch(() => {});
  }
}

function keyOf(server_id: string, uri: string): string {
  return `${server_id} ${uri}`;
}
