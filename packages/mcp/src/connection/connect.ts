// One attempt to connect: transport, era, handshake. What it started is ended again when it fails.

import { Client } from "@modelcontextprotocol/client";
import type { Clock, JsonObject } from "@soong/core";
import { inTime } from "@soong/platform";
import type { McpServerEntry } from "../settings/index.ts";
import { createRequests, NO_TIMEOUT } from "./client-requests.ts";
import { connectFailure } from "./connect-failure.ts";
import type { ConnectedServer, McpEra } from "./connected-server.ts";
import type { ConnectionOptions } from "./connection-types.ts";
import { McpServerFailure } from "./failure.ts";
import { loginFailure, withLoginFailures } from "./login-refusal.ts";
import { mirrorParameters } from "./parameter-headers.ts";
import { keepRawResults } from "./raw-results.ts";
import {
  listenForChanges,
  takeNotices,
  watchResource,
  type ServerNotice,
} from "./server-notices.ts";
import { capabilitiesOf } from "./server-questions.ts";
import {
  createServerTransport,
  endOf,
  endTransport,
  secretsOfWay,
  type ServerTransport,
} from "./server-transport.ts";

export interface Link {
  readonly server: ConnectedServer;
  /** Settles when nothing of it is left; never rejects. */
  end(): Promise<void>;
}

export interface ConnectParts {
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
const GOODBYE_MS = 1000;

/** Rejects with an McpServerFailure, when nothing of the attempt is left. */
export async function connect(parts: ConnectParts): Promise<Link> {
  const { entry, clock, stop } = parts;
  const name = nameOf(entry);
  const over = new AbortController();
  const cancelTimer = clock.after(entry.connect_timeout_ms, () => {
    const message = `${name} was not ready within ${entry.connect_timeout_ms} ms. If it needs longer, raise connect_timeout_ms in its entry.`;
    over.abort(new McpServerFailure("timeout", message));
  });
  const onStop = () => over.abort(new McpServerFailure("closed", `${name} was closed.`));
  stop.addEventListener("abort", onStop, { once: true });
  if (stop.aborted) onStop();
  try {
    if (over.signal.aborted) throw over.signal.reason;
    return await attempt(parts, parts.knownEra, over.signal);
  } catch (error) {
    const isProbed = entry.transport.kind === "stdio" && parts.knownEra !== "2025";
    const { reason } = error as McpServerFailure;
    if (!isProbed || reason !== "lost") throw error;
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
  const { entry, options } = parts;
  const way = createServerTransport(entry, options, parts.clock);
  keepRawResults(way.transport);
  const client = createClient(parts);
  let phase: "connecting" | "connected" | "over" = "connecting";
  let stopListening = () => {};
  const lose = (why: string | McpServerFailure) => {
    if (phase !== "connected") return;
    phase = "over";
    stopListening();
    parts.onLost(why);
    void endTransport(way);
  };
  const requests = createRequests({
    client,
    clock: parts.clock,
    offer: options,
    listTimeoutMs: entry.timeout_ms,
    hasOwnStreams: way.kind === "http",
    get secrets() {
      return secretsOfWay(way, entry);
    },
    end: () => endOf(way),
    onAnswered: parts.onAnswered,
    onLost: (failure) => lose(failure.message),
  });
  // The SDK's client takes one handler as a property; it is no event target.
  // oxlint-disable-next-line unicorn/prefer-add-event-listener
  client.onclose = () => lose(endOf(way) ?? "the connection was closed");
  try {
    await handshake(client, way, knownEra, over);
    phase = "connected";
    stopListening = listenForChanges(client, parts.clock, {
      tools: parts.onToolsChanged,
      notice: parts.onNotice,
    });
  } catch (error) {
    phase = "over";
    await endTransport(way);
    if (over.aborted) throw withGarbage(over.reason as McpServerFailure, way);
    const about = { name: nameOf(entry), end: endOf(way), secrets: secretsOfWay(way, entry) };
    throw loginFailure(error, way, entry) ?? connectFailure(error, about);
  }
  const usable = withLoginFailures(requests, way, entry, lose);
  const isMirrored = way.kind === "http" && client.getProtocolEra() === "modern";
  const mirror = isMirrored ? mirrorParameters(way.transport) : undefined;
  return {
    server: {
      ...describe(client),
      ...usable,
      async listToolsPage(cursor, signal) {
        const page = await usable.listToolsPage(cursor, signal);
        mirror?.note(page.tools);
        return page;
      },
      watch: (uri, signal) => watchResource(client, usable.request, uri, signal),
    },
    async end() {
      phase = "over";
      stopListening();
      if (way.kind === "http")
        await inTime(way.transport.terminateSession(), { ms: GOODBYE_MS }).catch(() => {});
      await endTransport(way);
    },
  };
}

function createClient({ entry, options, onToolsChanged, onNotice }: ConnectParts): Client {
  const client = new Client(options.clientInfo ?? DEFAULT_CLIENT, {
    capabilities: capabilitiesOf(options, "any"),
    versionNegotiation: {
      mode: "auto",
      // The other half is left for the older handshake, with a server that keeps silent.
      probe: { timeoutMs: Math.ceil(entry.connect_timeout_ms / 2) },
    },
  });
  client.setNotificationHandler("notifications/tools/list_changed", () => onToolsChanged());
  takeNotices(client, onNotice);
  return client;
}

async function handshake(
  client: Client,
  way: ServerTransport,
  knownEra: McpEra | undefined,
  over: AbortSignal,
): Promise<void> {
  const connecting = client.connect(way.transport, {
    timeout: NO_TIMEOUT,
    ...(knownEra === "2025" ? { prior: { kind: "legacy" } as const } : {}),
  });
  const connected = await inTime(connecting, { signal: over });
  if (connected.kind !== "done") throw over.reason as Error;
  if (endOf(way) !== undefined) throw new Error("the server is gone");
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
  const count = way.kind === "stdio" ? way.transport.garbageLines : 0;
  if (count === 0 || failure.reason !== "timeout") return failure;
  const hint = `It wrote ${count} lines to its standard output that are no messages.`;
  return new McpServerFailure("timeout", `${failure.message} ${hint}`);
}

function nameOf(entry: McpServerEntry): string {
  return `MCP server "${entry.server_id}"`;
}
