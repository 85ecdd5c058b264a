// What the ways of serving share: the clients of one session, and one reader of its facts that tells each
// client what concerns it.

import { openRelay } from "../relay/relay.ts";
import type { GatewayOptions } from "./client-runs.ts";
import { createClient, type ClientNews, type GatewayClient } from "./client.ts";

export type Gateway = ReturnType<typeof openGateway>;

export function openGateway(options: GatewayOptions) {
  const clients = new Set<GatewayClient>();
  const facts = options.session.facts();
  const { servers, only, broker, onError = () => {} } = options;
  const onProblem = (problem: string): void => onError(new Error(problem));
  const relay = servers && openRelay({ servers, only, host: broker.host, onProblem });
  let isReading = true;
  void read();

  return {
    client(tell: (news: ClientNews) => void): GatewayClient {
      const client = createClient(options, relay, tell);
      if (!isReading) client.learnedAll();
      clients.add(client);
      return client;
    },
    leave,
    async close(reason: string): Promise<void> {
      await Promise.all([...clients].map((client) => leave(client, reason)));
      relay?.close();
      await facts.return?.();
    },
  };

  /** Ends the calls of a client and its run; the session stays. */
  async function leave(client: GatewayClient, reason: string): Promise<void> {
    await client.close(reason);
    clients.delete(client);
  }

  async function read(): Promise<void> {
    try {
      for await (const fact of facts) for (const client of clients) client.learn(fact);
    } catch (error) {
      onError(error instanceof Error ? error : new Error(String(error)));
    }
    isReading = false;
    for (const client of clients) client.learnedAll();
  }
}
