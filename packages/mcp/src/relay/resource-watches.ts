// Which resources clients subscribe to: asked of the server once, however many want it, and asked again of a
// server that was restarted.

import type { ConnectedServer } from "../connection/connected-server.ts";

interface Watch {
  readonly server_id: string;
  readonly uri: string;
  users: number;
  stop: Promise<() => Promise<void>>;
}

const MAX_WATCHES = 1_000;

export function createWatches(tell: (uri: string) => void) {
  const watches = new Map<string, Watch>();
  const over = new AbortController();

  return {
    /** Rejects with what the server says against it. The returned function ends it, once. */
    async begin(
      { server_id, server }: { readonly server_id: string; readonly server: ConnectedServer },
      uri: string,
    ): Promise<() => void> {
      const key = resourceKey(server_id, uri);
      let watch = watches.get(key);
      if (watch === undefined) {
        if (watches.size >= MAX_WATCHES) {
          throw new Error(`${MAX_WATCHES} resources are watched already`);
        }
        watch = { server_id, uri, users: 0, stop: server.watch(uri, over.signal) };
        watches.set(key, watch);
      }
      const leave = join(key, watch);
      try {
        await watch.stop;
      } catch (error) {
        leave();
        throw error;
      }
      return leave;
    },
    updated(server_id: string, uri: string): void {
      if (watches.has(resourceKey(server_id, uri))) tell(uri);
    },
    again(server_id: string, server: ConnectedServer): void {
      for (const watch of watches.values()) {
        if (watch.server_id !== server_id) continue;
        watch.stop = server.watch(watch.uri, over.signal);
        // No updates then; a subscriber has to read it again.
        watch.stop.catch(() => {});
      }
    },
    close(): void {
      over.abort();
      watches.clear();
    },
  };

  function join(key: string, watch: Watch): () => void {
    let isLeft = false;
    watch.users += 1;
    return () => {
      if (isLeft) return;
      isLeft = true;
      watch.users -= 1;
      if (watch.users > 0) return;
      if (watches.get(key) === watch) watches.delete(key);
      watch.stop.then((stop) => stop()).catch(() => {});
    };
  }
}

function resourceKey(server_id: string, uri: string): string {
  return `${server_id} ${uri}`;
}
