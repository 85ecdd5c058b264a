// A server that asks, behind the kernel, behind the gateway, and the hosts before it: the whole way of a question.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import {
  Client,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  StreamableHTTPClientTransport,
  type ClientCapabilities,
  type ElicitRequestParams,
  type ElicitResult,
} from "@modelcontextprotocol/client";
import { createKernel, createMemoryJournal, type AnyHook } from "@soong/core";
import {
  createGatewayBroker,
  createPins,
  openConnection,
  openMcpServers,
  serveGatewayHttp,
  type ServerFact,
} from "@soong/mcp";
import { afterAll, afterEach } from "vitest";
import type { EraMode } from "./sdk-host.ts";
import { entryOf } from "./source-stage.ts";

const PROGRAM = fileURLToPath(new URL("servers/asking-server.mjs", import.meta.url));
export const TOKEN = "correct-horse-battery-staple";

export type ServerWay = "2025" | "2026" | "http-2025";

/** A message of the host's model. */
export interface Said {
  role: "assistant";
  content: { type: "text"; text: string };
  model: string;
}

export interface Answering {
  readonly elicit?: (params: ElicitRequestParams) => ElicitResult | Promise<ElicitResult>;
  readonly sample?: (words: string) => Said | Promise<Said>;
  readonly roots?: readonly string[];
}

/** What comes of a request by hand. */
export interface RoundAnswer {
  readonly result?: {
    readonly resultType?: string;
    readonly inputRequests?: Record<string, object>;
    readonly requestState?: string;
    readonly content?: readonly object[];
  };
  readonly error?: { readonly code: number; readonly message: string };
}

export type AskingGateway = Awaited<ReturnType<ReturnType<typeof askingWorld>["serve"]>>;

/** Hosts are closed after each test of the file that calls this, servers after all: they take long to start. */
export function askingWorld() {
  const servers: (() => Promise<unknown>)[] = [];
  const cleanUp: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const clean of cleanUp.splice(0).toReversed()) await clean();
  });
  afterAll(async () => {
    for (const clean of servers.splice(0).toReversed()) await clean();
  });

  return {
    async serve(way: ServerWay, hooks: readonly AnyHook[] = []) {
      const transport =
        way === "http-2025"
          ? ({ kind: "http", url: await httpServer(), headers: {} } as const)
          : ({
              kind: "stdio",
              command: process.execPath,
              args: [PROGRAM, way],
              env: {},
            } as const);
      const journal = createMemoryJournal();
      const kernel = createKernel();
      const broker = createGatewayBroker();
      const facts: ServerFact[] = [];
      const behind = openMcpServers({
        entries: [entryOf("asking", { transport, readonly_tools: "all" })],
        registry: kernel.registry,
        connect: (entry) =>
          openConnection(entry, { canElicit: true, canSample: true, canListRoots: true }),
        pins: await createPins({
          load: () => Promise.resolve(undefined),
          save: () => Promise.resolve(),
        }),
        host: broker.host,
        record: (fact) => void facts.push(fact),
      });
      servers.push(() => behind.close());
      await behind.ready(new AbortController().signal, 30_000);
      const session = await kernel.openSession({
        journal,
        ask: () => ({ decision: "allow_once" }),
        elicit: broker.elicit,
        hooks,
        secrets: [{ name: "TOKEN", value: "hunter2-hunter2" }],
      });
      const server = { name: "soong", version: "1" };
      const served = await serveGatewayHttp({ session, broker, server, token: TOKEN });
      servers.push(() => served.close());
      return { url: served.url, journal, facts };
    },

    /** A request by hand, of the newer protocol. */
    async post(url: string, method: string, params: object, capabilities: object = {}) {
      const _meta = {
        [PROTOCOL_VERSION_META_KEY]: "2026-07-28",
        [CLIENT_INFO_META_KEY]: { name: "by hand", version: "1" },
        [CLIENT_CAPABILITIES_META_KEY]: capabilities,
      };
      const { name } = params as { name?: string };
      const response = await fetch(url, {
        method: "POST",
        headers: {
          authorization: `Bearer ${TOKEN}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": method,
          ...(name === undefined ? {} : { "mcp-name": name }),
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }),
      });
      const text = await response.text();
      const data = text.startsWith("{") ? text : (text.match(/^data: (\{.*\})$/mu)?.[1] ?? "{}");
      return JSON.parse(data) as RoundAnswer;
    },

    async host(url: string, mode: EraMode, answering: Answering = {}) {
      const { elicit, sample, roots } = answering;
      const capabilities: ClientCapabilities = {
        ...(elicit === undefined ? {} : { elicitation: { form: {}, url: {} } }),
        ...(sample === undefined ? {} : { sampling: {} }),
        ...(roots === undefined ? {} : { roots: {} }),
      };
      const client = new Client(
        { name: "host", version: "1" },
        { versionNegotiation: { mode }, capabilities },
      );
      if (elicit !== undefined) {
        client.setRequestHandler("elicitation/create", ({ params }) => elicit(params));
      }
      if (sample !== undefined) {
        client.setRequestHandler("sampling/createMessage", async ({ params }) => {
          const content = params.messages[0]?.content as { text: string };
          return { ...(await sample(content.text)) };
        });
      }
      if (roots !== undefined) {
        const listed = roots.map((uri) => ({ uri }));
        client.setRequestHandler("roots/list", () => ({ roots: listed }));
      }
      await client.connect(
        new StreamableHTTPClientTransport(new URL(url), {
          requestInit: { headers: { authorization: `Bearer ${TOKEN}` } },
        }),
      );
      cleanUp.push(() => client.close());
      return client;
    },
  };

  async function httpServer(): Promise<string> {
    const child = spawn(process.execPath, [PROGRAM, "http-2025"], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    servers.push(async () => {
      const ended = once(child, "exit");
      child.stdin.end();
      await ended;
    });
    const [line] = (await once(createInterface(child.stdout), "line")) as [string];
    return line;
  }
}

export const said = (text: string): Said => ({
  role: "assistant",
  content: { type: "text", text },
  model: "host-model",
});
