// One server over time: connected when first needed, not contacted for a while after a failure, started again
// at the next need when it was lost (MCP-2). Nothing is ever sent twice from here.

import { systemClock } from "@soong/core";
import { inTime } from "@soong/platform";
import type { McpServerEntry } from "../settings/index.ts";
import { connect, type Link } from "./connect.ts";
import type {
  ConnectedServer,
  ConnectionOptions,
  McpConnection,
  McpConnectionState,
  McpEra,
  ServerNotice,
} from "./connected-server.ts";
import { McpServerFailure } from "./failure.ts";
import { backoffMs } from "./server-notices.ts";

export function openConnection(
  entry: McpServerEntry,
  options: ConnectionOptions = {},
): McpConnection {
  const clock = options.clock ?? systemClock();
  const name = `MCP server "${entry.server_id}"`;
  const stop = new AbortController();
  const toolsListeners = new Set<() => void>();
  const noticeListeners = new Set<(notice: ServerNotice) => void>();
  const stateListeners = new Set<(state: McpConnectionState) => void>();
  let state: McpConnectionState = { kind: "idle" };
  let attempt: Promise<ConnectedServer> | undefined;
  let link: Link | undefined;
  let ending: Promise<void> = Promise.resolve();
  let knownEra: McpEra | undefined;
  /** In a row, since the server last answered a request. */
  let failures = 0;

  return {
    server_id: entry.server_id,
    get state() {
      return state;
    },
    async connected(signal) {
      if (signal?.aborted === true) throw giveUpWaiting();
      if (state.kind === "connected") return state.server;
      if (state.kind === "closed") throw new McpServerFailure("closed", `${name} was closed.`);
      if (state.kind === "failed" && clock.monotonic() < state.retry_at) throw state.failure;
      attempt ??= start().finally(() => {
        attempt = undefined;
      });
      const waited = await inTime(attempt, { signal });
      if (waited.kind === "done") return waited.value;
      throw giveUpWaiting();
    },
    onToolsChanged: (listener) => subscribe(toolsListeners, listener),
    onNotice: (listener) => subscribe(noticeListeners, listener),
    onStateChanged: (listener) => subscribe(stateListeners, listener),
    async close() {
      if (state.kind !== "closed") {
        enter({ kind: "closed" });
        stop.abort();
        ending = Promise.all([ending, link?.end(), attempt?.catch(() => {})]).then(() => {});
      }
      await ending;
    },
  };

  async function start(): Promise<ConnectedServer> {
    enter({ kind: "connecting" });
    try {
      requireVariables();
      // Two of one server at a time could fight over a port or a file.
      await ending;
      const fresh = await connect({
        entry,
        options,
        clock,
        knownEra,
        stop: stop.signal,
        onToolsChanged: () => tell(toolsListeners, undefined),
        onNotice: (notice) => tell(noticeListeners, notice),
        onAnswered() {
          failures = 0;
        },
        onLost: lost,
      });
      if (stop.signal.aborted) {
        await fresh.end();
        throw new McpServerFailure("closed", `${name} was closed.`);
      }
      link = fresh;
      knownEra = fresh.server.era;
      failures += 1;
      enter({ kind: "connected", server: fresh.server });
      return fresh.server;
    } catch (error) {
      const failure = error as McpServerFailure;
      knownEra = undefined;
      failures += 1;
      fail(failure, backoffMs(failures));
      throw failure;
    }
  }

  /** One that had answered is started again at once; one that never did may be beyond help. */
  function lost(why: string | McpServerFailure): void {
    if (link !== undefined) ending = link.end();
    link = undefined;
    if (typeof why !== "string") return fail(why, backoffMs(Math.max(failures, 1)));
    const failure = new McpServerFailure("lost", `${name} is gone: ${why}.`);
    return fail(failure, failures === 0 ? 0 : backoffMs(failures));
  }

  function fail(failure: McpServerFailure, pauseMs: number): void {
    if (state.kind === "closed") return;
    enter({ kind: "failed", failure, retry_at: clock.monotonic() + pauseMs });
  }

  function requireVariables(): void {
    const { missing_variables: names, place } = entry;
    if (names.length === 0) return;
    const message = `${name} was not started: its entry (${place.file}:${place.line}) refers to ${names.join(", ")}, not set in the environment.`;
    throw new McpServerFailure("variable_missing", message);
  }

  function enter(next: McpConnectionState): void {
    state = next;
    tell(stateListeners, next);
  }

  function giveUpWaiting(): McpServerFailure {
    return new McpServerFailure("aborted", `Waiting for ${name} was given up.`);
  }
}

function subscribe<T>(listeners: Set<T>, listener: T): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

/** One listener's error is not the server's, and not the other listeners'. */
function tell<T>(listeners: ReadonlySet<(value: T) => void>, value: T): void {
  for (const listener of listeners) {
    try {
      listener(value);
    } catch {
      continue;
    }
  }
}
