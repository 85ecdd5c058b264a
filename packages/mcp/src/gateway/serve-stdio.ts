// The gateway for one client over a pipe (GATE-1): the client ends it by closing its side.

import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { followListened } from "./client-relay.ts";
import type { ClientNews } from "./client.ts";
import { openGateway, type GatewayOptions } from "./gateway.ts";
import { createLineTransport } from "./line-transport.ts";
import { announce, createProtocolServer } from "./protocol-server.ts";

export interface GatewayStdioOptions extends GatewayOptions {
  readonly input?: Readable;
  /** Nothing but protocol may be written to it by anyone. */
  readonly output?: Writable;
}

export interface ServedStdio {
  /** The client is gone, its calls have ended and its run is closed. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

export function serveGatewayStdio(options: GatewayStdioOptions): ServedStdio {
  const gateway = openGateway(options);
  const { input = process.stdin, output = process.stdout } = options;
  let disconnected: () => void = () => {};
  const ended = new Promise<void>((resolve) => {
    disconnected = () => {
      gateway.close("the client has disconnected").then(resolve, resolve);
    };
  });
  const followed = new Map<unknown, () => void>();
  const transport = createLineTransport(input, output, () => disconnected(), follow);
  let tell = (_news: ClientNews): void => {};
  // A probe for the newer protocol may be thrown away for the older: both are the same client.
  const client = gateway.client((news) => tell(news));
  const handle = serveStdio(
    async ({ era }) => {
      await client.ready();
      const mcp = createProtocolServer(client, era, options.server);
      tell = (news) => announce(mcp, news);
      return mcp;
    },
    { transport, onerror: (error) => options.onError?.(error) },
  );
  return {
    ended,
    async close() {
      await handle.close();
      await transport.close();
      await ended;
    },
  };

  function follow(message: JSONRPCMessage): void {
    if (!("method" in message)) return;
    const unfollow = followListened(message, client.relay);
    if ("id" in message && unfollow !== undefined) followed.set(message.id, unfollow);
    if (message.method === "notifications/cancelled") {
      followed.get(message.params?.["requestId"])?.();
    }
  }
}
