// What the ways of serving share: the clients of one session, and one watch over its facts that tells each
// client what concerns it.

import type { FactType } from "@soong/core";
import { openRelay } from "../relay/relay.ts";
import type { GatewayOptions } from "./client-runs.ts";
import { createClient, type ClientNews, type GatewayClient } from "./client.ts";

export type Gateway = ReturnType<typeof openGateway>;

const WATCHED = new Set<FactType>([
  "tool.progress",
  "mcp.server.connected",
  "mcp.server.failed",
  "mcp.server.tools_changed",
]);

export function openGateway(options: GatewayOptions) {
  const clients = new Set<GatewayClient>();
  const { session, servers, only, broker, onError = () => {} } = options;
  const onProblem = (problem: string): void => onError(new Error(problem));
  const relay = servers && openRelay({ servers, only, host: broker.host, onProblem });
  const stopWatching = session.watch({ types: WATCHED }, (read) => {
    const fact = read();
    for (const client of clients) {
      if (fact.type === "tool.progress") client.progressed(fact);
      else client.notice();
    }
  });

  return {
    client(tell: (news: ClientNews) => void): GatewayClient {
      const client = createClient(options, relay, tell);
      clients.add(client);
      return client;
    },
    leave,
    async close(reason: string): Promise<void> {
      await Promise.all([...clients].map((client) => leave(client, reason)));
      relay?.close();
      stopWatching();
    },
  };

  /** Ends the calls of a client and its run; the session stays. */
  async function leave(client: GatewayClient, reason: string): Promise<void> {
    await client.close(reason);
    clients.delete(client);
  }
}
