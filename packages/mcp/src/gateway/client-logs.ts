// How much of what servers log one client wants to hear: said once in the older era, with each request in the newer.

import type { McpServer, ServerContext } from "@modelcontextprotocol/server";
import { LOG_LEVELS, rankOfLevel } from "../relay/index.ts";
import type { ClientRelay } from "./client-relay.ts";
import type { Waiter } from "./open-call.ts";

export interface ClientLogs {
  /** For the request that is being answered. */
  listen(context: ServerContext): Pick<Waiter, "log" | "logLevel">;
}

/** Of a request's `_meta`. */
const LOG_LEVEL = "io.modelcontextprotocol/logLevel";

export function createClientLogs({ server }: McpServer, relay: ClientRelay): ClientLogs {
  let once: string | undefined;
  server.setRequestHandler("logging/setLevel", ({ params }) => {
    once = params.level;
    relay.wantLogs(once);
    return {};
  });

  return {
    listen({ mcpReq }) {
      const envelope = (mcpReq.envelope ?? {}) as { [LOG_LEVEL]?: string };
      const logLevel = envelope[LOG_LEVEL] ?? once;
      if (logLevel === undefined) return {};
      if (logLevel !== once) relay.wantLogs(logLevel);
      return {
        logLevel,
        log(entry) {
          const level = LOG_LEVELS.find((known) => known === entry["level"]);
          if (level === undefined || rankOfLevel(level) < rankOfLevel(logLevel)) return;
          const params = { ...entry, level, data: entry["data"] };
          mcpReq.notify({ method: "notifications/message", params }).catch(() => {});
        },
      };
    },
  };
}
