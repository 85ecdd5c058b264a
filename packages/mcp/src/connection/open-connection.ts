// One server over time: connected when first needed, not contacted for a while after a failure, started again at the
// next need when it was lost (MCP-2). Nothing is ever sent twice from here. And one attempt to connect: transport, era,
// handshake. What it started is ended again when it fails.

import { Client } from "@modelcontextprotocol/client";
import { systemClock, type Clock, type JsonObject } from "@soong/core";
import { inTime } from "@soong/platform";
import type { McpServerEntry } from "../settings/index.ts";
import { connectFailure, requestFailure, unusable } from "./classify-failure.ts";
import { createRequests, NO_TIMEOUT } from "./client-requests.ts";
import type {
  ConnectedServer,
  ConnectionOptions,
  McpConnection,
  McpConnectionState,
  McpEra,
  ServerNotice,
} from "./connected-server.ts";
import { McpServerFailure } from "./failure.ts";
import { mirrorParameters } from "./parameter-headers.ts";
import { keepRawResults } from "./raw-results.ts";
import { backoffMs, listenForChanges, takeNotices, watchResource } from "./server-notices.ts";
import { listCapabilities } from "./server-questions.ts";
import { createServerTransport, type ServerTransport } from "./server-transport.ts";

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

interface Link {
  readonly server: ConnectedServer;
  /** Settles when nothing of it is left; never rejects. */
  end(): Promise<void>;
}

interface ConnectParts {
  readonly entry: McpServerEntry;
  readonly options: ConnectionOptions;
  readonly clock: Clock;
  /** Of the connection before, so that a server of the older era is not asked for the newer again. */
  readonly knownEra: McpEra | undefined;
  readonly onToolsChanged: () => void;
  readonly onNotice: (notice: ServerNotice) => void;
  /** An answer came: the server works. */
  readonly onAnswered: () => void;
  /** Once, however it was noticed; not when we ended it. */
  readonly onLost: (why: string | McpServerFailure) => void;
  readonly stop: AbortSignal;
}

const DEFAULT_CLIENT = { name: "soong", version: "0.1.0" };

/** Rejects with an McpServerFailure, when nothing of the attempt is left. */
async function connect(parts: ConnectParts): Promise<Link> {
  const { entry, clock, stop, knownEra } = parts;
  const name = `MCP server "${entry.server_id}"`;
  const over = new AbortController();
  const cancelTimer = clock.after(entry.connect_timeout_ms, () => {
    const message = `${name} was not ready within ${entry.connect_timeout_ms} ms. If it needs longer, raise connect_timeout_ms in its entry.`;
    over.abort(new McpServerFailure("timeout", message));
  });
  const onStop = () => over.abort(new McpServerFailure("closed", `${name} was closed.`));
  stop.addEventListener("abort", onStop, { once: true });
  if (stop.aborted) onStop();
  try {
    over.signal.throwIfAborted();
    return await attempt(parts, knownEra, over.signal);
  } catch (error) {
    const isProbed = entry.transport.kind === "stdio" && knownEra !== "2025";
    if (!isProbed || (error as McpServerFailure).reason !== "lost") throw error;
    // Some servers of the older era end at a request they do not know: a fresh one is not asked it.
    return await attempt(parts, "2025", over.signal);
  } finally {
    cancelTimer();
    stop.removeEventListener("abort", onStop);
  }
}

async function attempt(
  parts: ConnectParts,
  knownEra: McpEra | undefined,
  over: AbortSignal,
): Promise<Link> {
  const { entry, options, clock, onAnswered } = parts;
  const way = createServerTransport(entry, options, clock);
  keepRawResults(way.transport);
  const client = createClient(parts);
  let phase: "connecting" | "connected" | "over" = "connecting";
  let stopListening = () => {};
  const lose = (why: string | McpServerFailure) => {
    if (phase !== "connected") return;
    phase = "over";
    stopListening();
    parts.onLost(why);
    void way.close();
  };
  // The SDK's client takes one handler as a property; it is no event target.
  // oxlint-disable-next-line unicorn/prefer-add-event-listener
  client.onclose = () => lose(way.end() ?? "the connection was closed");
  const requests = createRequests({
    client,
    clock,
    offer: options,
    listTimeoutMs: entry.timeout_ms,
    hasOwnStreams: way.kind === "http",
    onAnswered,
    readFailure(error) {
      const failure = requestFailure(error, way);
      if (failure.reason === "lost") lose(failure.message);
      else onAnswered();
      // Nothing can be asked of it any more, until someone has logged in.
      if (failure.reason === "unauthorized" && way.describeRefusal().isOver) {
        lose(unusable(entry.server_id, failure.message));
      }
      return failure;
    },
  });
  try {
    await shakeHands(client, way, knownEra, over);
    phase = "connected";
    stopListening = listenForChanges(client, clock, parts);
  } catch (error) {
    phase = "over";
    await way.close();
    if (over.aborted) throw withGarbage(over.reason as McpServerFailure, way);
    throw connectFailure(error, entry.server_id, way);
  }
  const isMirrored = way.kind === "http" && client.getProtocolEra() === "modern";
  const mirror = isMirrored ? mirrorParameters(way.transport) : undefined;
  return {
    server: {
      ...describe(client),
      ...requests,
      async listToolsPage(cursor, signal) {
        const page = await requests.listToolsPage(cursor, signal);
        mirror?.note(page.tools);
        return page;
      },
      watch: (uri, signal) => watchResource(client, requests.request, uri, signal),
    },
    async end() {
      phase = "over";
      stopListening();
      await way.leave();
      await way.close();
    },
  };
}

function createClient(parts: ConnectParts): Client {
  const { entry, options } = parts;
  const client = new Client(options.clientInfo ?? DEFAULT_CLIENT, {
    capabilities: listCapabilities(options, "any"),
    versionNegotiation: {
      mode: "auto",
      // The other half is left for the older handshake, with a server that keeps silent.
      probe: { timeoutMs: Math.ceil(entry.connect_timeout_ms / 2) },
    },
  });
  takeNotices(client, parts);
  return client;
}

async function shakeHands(
  client: Client,
  way: ServerTransport,
  knownEra: McpEra | undefined,
  over: AbortSignal,
): Promise<void> {
  const prior = knownEra === "2025" ? ({ kind: "legacy" } as const) : undefined;
  const connecting = client.connect(way.transport, { timeout: NO_TIMEOUT, prior });
  const connected = await inTime(connecting, { signal: over });
  if (connected.kind !== "done") throw over.reason as Error;
  if (way.end() !== undefined) throw new Error("the server is gone");
}

function describe(client: Client) {
  const info = client.getServerVersion();
  return {
    era: client.getProtocolEra() === "modern" ? "2026" : "2025",
    protocol_version: client.getNegotiatedProtocolVersion() ?? "",
    server_info: { name: info?.name ?? "", version: info?.version ?? "" },
    instructions: client.getInstructions(),
    capabilities: (client.getServerCapabilities() ?? {}) as JsonObject,
  } as const;
}

/** What a program says that is no MCP server, or writes to users where it should write to us. */
function withGarbage(failure: McpServerFailure, way: ServerTransport): McpServerFailure {
  const count = way.garbageLines();
  if (count === 0 || failure.reason !== "timeout") return failure;
  const hint = `It wrote ${count} lines to its standard output that are not messages.`;
  return new McpServerFailure("timeout", `${failure.message} ${hint}`);
}
