// The protocol side of one client: the requests of the SDK's server, both eras, turned into calls of the
// gateway's client and its steps back into results.

import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  inputRequired,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type CallToolResult,
  type ClientCapabilities,
  type Implementation,
  type InputRequiredResult,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { ToolResult } from "@soong/core";
import { safeLine } from "../catalog/index.ts";
import { abilitiesOf, answersOf, inputRequests, pushQuestion } from "./client-question.ts";
import { createClientLogs } from "./client-logs.ts";
import type { CallRequest, ClientNews, GatewayClient } from "./client.ts";
import { throwIfRefused } from "./map-relayed.ts";
import { mapResult } from "./map-result.ts";
import type { Waiter } from "./open-call.ts";
import { answerRelayed, onlyPage, relayCapabilities } from "./relay-requests.ts";

export type Era = "legacy" | "modern";

export interface ServerIdentity {
  readonly name: string;
  readonly version: string;
}

const INSTRUCTIONS =
  "Tools of a Soong session. Every call is checked against the user's rules and recorded; some need the user's " +
  "permission first. A long result is shortened and says how to read the rest.";

export function createProtocolServer(
  client: GatewayClient,
  era: Era,
  identity: ServerIdentity,
): McpServer {
  const { relay } = client;
  const mcp = new McpServer(
    { name: identity.name, version: identity.version },
    {
      capabilities: { tools: { listChanged: true }, ...relayCapabilities(relay) },
      instructions: INSTRUCTIONS,
    },
  );
  const logs = relay?.capabilities().logging === true ? createClientLogs(mcp, relay) : undefined;

  mcp.server.setRequestHandler("tools/list", async ({ params }, context) => {
    clientOf(context);
    onlyPage(params);
    return { tools: await client.tools() };
  });

  mcp.server.setRequestHandler("tools/call", ({ params }, context) =>
    conduct(
      { name: params.name, arguments: params.arguments ?? {} },
      context,
      (result, reader): CallToolResult => {
        throwIfRefused(result, params.name);
        return mapResult(result, reader);
      },
    ),
  );

  if (relay !== undefined) answerRelayed(mcp, relay, conduct);
  return mcp;

  async function conduct<T>(
    request: CallRequest,
    context: ServerContext,
    read: (result: ToolResult, reader: string | undefined) => T,
  ): Promise<T | InputRequiredResult> {
    const waiter = waiterOf(context);
    const state = context.mcpReq.requestState<string>();
    const step =
      state === undefined
        ? await client.call(request, waiter, answersOf(context))
        : await client.resume(state, request, answersOf(context), waiter);
    if (step.kind === "ended") return read(step.result, step.reader);
    return inputRequired({
      inputRequests: inputRequests(step.questions),
      requestState: step.state,
    });
  }

  function waiterOf(context: ServerContext): Waiter {
    const { name, capabilities } = clientOf(context);
    const { mcpReq, http } = context;
    const gone = http?.req?.signal;
    const token = mcpReq._meta?.progressToken;
    return {
      request_id: mcpReq.id,
      client: name,
      signal: gone === undefined ? mcpReq.signal : eitherOf(mcpReq.signal, gone),
      abilities: abilitiesOf(capabilities),
      standsAlone: era === "modern" && http !== undefined,
      ...logs?.listen(context),
      ...(era === "modern"
        ? {}
        : { push: (question, signal) => pushQuestion(context, question, signal) }),
      ...(token === undefined
        ? {}
        : {
            progress(update) {
              const params = { progressToken: token, ...update };
              // A client that does not take it any more gets the result, or is gone.
              mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
            },
          }),
    };
  }

  /** Said with every request in the newer era, once at the beginning in the older. */
  function clientOf({ mcpReq }: ServerContext): {
    name: string;
    capabilities: ClientCapabilities;
  } {
    const named = (info: Implementation | undefined): string =>
      info === undefined ? "unknown" : safeLine(`${info.name} ${info.version}`, 100);
    if (era === "modern") {
      // Checked by the SDK, which gives it no type.
      const envelope = (mcpReq.envelope ?? {}) as {
        [CLIENT_INFO_META_KEY]?: Implementation;
        [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities;
      };
      return {
        name: named(envelope[CLIENT_INFO_META_KEY]),
        capabilities: envelope[CLIENT_CAPABILITIES_META_KEY] ?? {},
      };
    }
    // The only place the SDK keeps what the older handshake said.
    // oxlint-disable-next-line typescript/no-deprecated
    const capabilities = mcp.server.getClientCapabilities();
    if (capabilities === undefined) {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidRequest,
        `send initialize before ${mcpReq.method}`,
      );
    }
    // oxlint-disable-next-line typescript/no-deprecated
    return { name: named(mcp.server.getClientVersion()), capabilities };
  }
}

/** Without what AbortSignal.any costs, which makes one that is collected late. */
function eitherOf(...signals: readonly AbortSignal[]): AbortSignal {
  const over = new AbortController();
  for (const signal of signals) {
    const end = (): void => over.abort(signal.reason);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  }
  return over.signal;
}

/** A client that cannot be notified is gone, was never promised it, or will see for itself. */
export function announce({ server }: McpServer, news: ClientNews): void {
  const notify = async (): Promise<void> => {
    if (news.kind === "tools") await server.sendToolListChanged();
    else if (news.kind === "prompts") await server.sendPromptListChanged();
    else if (news.kind === "resources") await server.sendResourceListChanged();
    else await server.sendResourceUpdated({ uri: news.uri });
  };
  notify().catch(() => {});
}
