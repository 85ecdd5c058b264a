// What a client asks for beside tools (GATE-6): prompts, resources, completion. Offered only where some server
// behind us has it; getting a prompt and reading a resource are calls like those of tools.

import {
  ProtocolError,
  ProtocolErrorCode,
  type InputRequiredResult,
  type McpServer,
  type ServerCapabilities,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { ToolResult } from "@soong/core";
import type { ClientRelay } from "./client-relay.ts";
import type { CallRequest } from "./client.ts";
import { promptResult, resourceResult } from "./map-relayed.ts";

/** Makes the call for a request; `read` its result, unless it ends in a question. */
export type Conduct = <T>(
  request: CallRequest,
  context: ServerContext,
  read: (result: ToolResult, reader: string | undefined) => T,
) => Promise<T | InputRequiredResult>;

export function relayCapabilities(relay: ClientRelay | undefined): ServerCapabilities {
  if (relay === undefined) return {};
  const { prompts, resources, subscribe, completions, logging } = relay.capabilities();
  return {
    ...(prompts ? { prompts: { listChanged: true } } : {}),
    ...(resources
      ? { resources: { listChanged: true, ...(subscribe ? { subscribe: true } : {}) } }
      : {}),
    ...(completions ? { completions: {} } : {}),
    ...(logging ? { logging: {} } : {}),
  };
}

export function answerRelayed({ server }: McpServer, relay: ClientRelay, conduct: Conduct): void {
  const { prompts, resources, subscribe, completions } = relay.capabilities();
  if (prompts) {
    server.setRequestHandler("prompts/list", async ({ params }) => {
      onlyPage(params);
      return { prompts: await relay.prompts() };
    });
    server.setRequestHandler("prompts/get", async ({ params }, context) => {
      const call = await relay.promptCall(params.name, params.arguments);
      return conduct({ ...call, through: "relay" }, context, promptResult);
    });
  }
  if (resources) {
    server.setRequestHandler("resources/list", async ({ params }) => {
      onlyPage(params);
      return { resources: await relay.resources() };
    });
    server.setRequestHandler("resources/templates/list", async ({ params }) => {
      onlyPage(params);
      return { resourceTemplates: await relay.templates() };
    });
    server.setRequestHandler("resources/read", async ({ params: { uri } }, context) => {
      const call = await relay.resourceCall(uri);
      return conduct({ ...call, through: "relay" }, context, (result, reader) =>
        resourceResult(result, uri, reader),
      );
    });
  }
  if (subscribe) {
    server.setRequestHandler("resources/subscribe", async ({ params }) => {
      await relay.watch(params.uri);
      return {};
    });
    server.setRequestHandler("resources/unsubscribe", ({ params }) => {
      relay.unwatch(params.uri);
      return {};
    });
  }
  if (completions) {
    server.setRequestHandler("completion/complete", async ({ params }, { mcpReq }) => ({
      completion: await relay.complete(params, mcpReq.signal),
    }));
  }
}

/** All there is comes at once. */
export function onlyPage(params: { readonly cursor?: string | undefined } | undefined): void {
  if (params?.cursor === undefined) return;
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    "there is only one page; leave the cursor out",
  );
}
