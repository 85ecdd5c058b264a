// The inspector's server (UI-1): one page and its records, on loopback, behind a token. Reads the store and never writes
// it; a slow reader delays no run and no other page (EVENT-4).

import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createRedactor, type JsonValue, type Redactor } from "@soong/core";
import type { Store } from "@soong/store";
import { refuseGarbage, sendBytes, sendError, sendJson } from "./answer.ts";
import { createAttendance, createHeartbeat } from "./attendance.ts";
import { createChanges } from "./changes.ts";
import { createGuard } from "./guard.ts";
import { createHandlers } from "./handlers.ts";
import { createHomeStore, type OpenStore } from "./home-store.ts";
import { createHomeWatch } from "./home-watch.ts";
import { readPageFile } from "./page-files.ts";
import { InspectorError, missing, type InspectorPorts } from "./ports.ts";
import { createRouter } from "./router.ts";
import { createSessionIndexes } from "./session-indexes.ts";
import { createSessionSummaries } from "./session-summaries.ts";
import { createTextLog } from "./text-log.ts";

export interface InspectorOptions {
  /** Opened for reading; the caller closes it. Or how to open it once it is there: what it opened is closed here. */
  readonly store: Store | OpenStore;
  readonly ports?: InspectorPorts;
  /** 0, or omitted: any free one. */
  readonly port?: number;
  /** A name of this machine that no other one can reach. Default: 127.0.0.1. */
  readonly host?: string;
  /** Shown on the page. */
  readonly home: string;
  readonly cwd: string;
  readonly version: string;
  /** The directory with the files of the page. Default: those of this package. */
  readonly assets?: string;
  /** Default: a random one. */
  readonly token?: string;
  /** How long a page may be away before no one counts as looking. Default: 90 seconds, for browsers let tabs in the background ask once a minute. */
  readonly graceMs?: number;
  /** How long a request for news is held. Default: 10 seconds. */
  readonly holdMs?: number;
  /** How long a body may take. Default: 10 seconds. */
  readonly bodyMs?: number;
  /** Hides secrets in what is shown of artifacts. Default: those recognised by their format. */
  readonly redactor?: Redactor;
}

export interface Inspector {
  /** With the token, after a `#`: a browser never sends that part. */
  readonly url: string;
  readonly port: number;
  /** Ends every request that is held, and leaves nothing behind. May be called twice. */
  close(): Promise<void>;
}

const LOOPBACK: readonly string[] = ["127.0.0.1", "localhost", "::1"];
const BEAT_MS = 150;
const HEADERS_MS = 10_000;
const IDLE_MS = 5000;
const MOST_CONNECTIONS = 256;

export async function serveInspector(options: InspectorOptions): Promise<Inspector> {
  const { ports = {}, host = "127.0.0.1", home, cwd, version, graceMs = 90_000 } = options;
  const { assets = ownPage(), token = newToken() } = options;
  const { holdMs = 10_000, bodyMs = 10_000, redactor = createRedactor() } = options;
  const redact = (text: string): string => redactor.text(text);
  refuseOptions(host, token);
  const store = createHomeStore(options.store);
  const summaries = createSessionSummaries(ports.summaries, ports.live);
  const heartbeat = createHeartbeat(BEAT_MS);
  const indexes = createSessionIndexes(store, { onNews: () => heartbeat.beat(), redactor });
  const attendance = createAttendance(ports.live, graceMs);
  const texts = createTextLog(() => heartbeat.beat());
  const changes = createChanges({
    serverId: randomBytes(8).toString("hex"),
    home: createHomeWatch(store, summaries, ports),
    indexes,
    live: ports.live,
    texts,
    attendance,
    heartbeat,
    holdMs,
  });
  const about = { version, home, cwd, pid: process.pid };
  const router = createRouter(
    createHandlers({ about, ports, store, summaries, indexes, changes, redact }),
    bodyMs,
  );
  const server = createServer({
    headersTimeout: HEADERS_MS,
    requestTimeout: HEADERS_MS + bodyMs,
    keepAliveTimeout: IDLE_MS,
    connectionsCheckingInterval: 2000,
    // It is refused here, like any other wrong one.
    requireHostHeader: false,
  });
  server.maxConnections = MOST_CONNECTIONS;
  const guard = createGuard(token, () => readPort(server));
  const take = (request: IncomingMessage, response: ServerResponse): void => {
    void answer(request, response);
  };
  server.on("request", take).on("checkExpectation", take);
  server.on("clientError", refuseGarbage);
  await listen(server, host, options.port ?? 0);
  const port = readPort(server);
  const stopListening = ports.live?.onChange(() => heartbeat.beat());
  const stopTexts = ports.live?.onText?.(texts.take);
  let closing: Promise<void> | undefined;

  return {
    url: `http://${host === "::1" ? "[::1]" : host}:${port}/#token=${token}`,
    port,
    close() {
      closing ??= close();
      return closing;
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    const isForRecords = path === "/api" || path.startsWith("/api/");
    try {
      const refusal = guard(request, isForRecords);
      if (refusal !== undefined) throw refusal;
      if (isForRecords) await answerRecord(request, response);
      else await answerFile(path, request, response);
    } catch (error) {
      // What is left of the body is not waited for.
      if (!request.complete && !response.headersSent) response.setHeader("connection", "close");
      sendError(response, error, redact);
    }
  }

  async function answerRecord(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const answered = (await router(request, gone.signal)) as JsonValue;
    sendJson(response, redactor.value(answered, { scope: "known_values" }));
  }

  async function answerFile(
    path: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const file = await readPageFile(assets, path);
    if (file === undefined) throw missing("The inspector has no such page.");
    if (request.method !== "GET") {
      const only = { status: 405, allow: ["GET"] };
      throw new InspectorError("bad_request", "A page can only be read.", only);
    }
    sendBytes(response, 200, file.type, file.bytes);
  }

  async function close(): Promise<void> {
    stopListening?.();
    stopTexts?.();
    texts.close();
    attendance.close();
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
    attendance.close();
    indexes.close();
    await store.close();
  }
}

/** Beside the built package. */
function ownPage(): string {
  return join(import.meta.dirname, "..", "page");
}

/** Known by its form to every redactor: other processes on this home never read it anywhere (REDACT-3). */
function newToken(): string {
  return `soong_inspect_${randomBytes(32).toString("base64url")}`;
}

function refuseOptions(host: string, token: string): void {
  if (!LOOPBACK.includes(host)) {
    throw new RangeError(
      `The inspector serves this machine only, so its host is one of ${LOOPBACK.join(", ")}, and not ${host}.`,
    );
  }
  if (!/^[\w-]{16,256}$/u.test(token)) {
    throw new RangeError(
      "The token of the inspector needs 16 to 256 letters, digits, underscores or hyphens.",
    );
  }
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, "listening");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why =
      code === "EADDRINUSE"
        ? "another program uses it"
        : code === "EACCES"
          ? "this user may not use it"
          : (error as Error).message;
    throw new Error(
      `The inspector cannot use port ${port}: ${why}. Choose another one, or none to get any that is free.`,
      { cause: error },
    );
  }
}

function readPort(server: Server): number {
  const address = server.address() as AddressInfo | null;
  return address?.port ?? 0;
}
