// The protocol side of one client: the requests of the SDK's server, both eras, turned into calls of the gateway's
// client and its steps back into results. Prompts, resources and completion (GATE-6) are offered only where some
// server behind us has them; getting a prompt and reading a resource are calls like those of tools.

import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  inputRequired,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ClientCapabilities,
  type Implementation,
  type InputRequiredResult,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { ToolResult } from "@soong/core";
import { asRecord } from "@soong/schema";
import { safeLine } from "../catalog/safe-text.ts";
import { LOG_LEVEL_KEY } from "../connection/client-requests.ts";
import { LOG_LEVELS, rankOfLevel } from "../relay/relay.ts";
import { inputRequests, pushQuestion, readAbilities, readAnswers } from "./client-question.ts";
import type { ClientRelay } from "./client-relay.ts";
import type { GatewayOptions } from "./client-runs.ts";
import type { CallRequest, ClientNews, GatewayClient } from "./client.ts";
import { mapPrompt, mapResource, mapResult, throwIfRefused } from "./map-result.ts";
import type { Waiter } from "./open-call.ts";

type Era = "legacy" | "modern";

const INSTRUCTIONS =
  "Tools of a Soong session. Every call is checked against the user's rules and recorded; some need the user's " +
  "permission first. A long result is shortened and says how to read the rest.";

/** Checked by the SDK, which gives it no type. */
interface Envelope {
  readonly [CLIENT_INFO_META_KEY]?: Implementation;
  readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities;
  readonly [LOG_LEVEL_KEY]?: string;
}

export function createProtocolServer(
  client: GatewayClient,
  era: Era,
  { name, version }: GatewayOptions["server"],
): McpServer {
  const { relay } = client;
  const has = relay?.capabilities();
  const mcp = new McpServer(
    { name, version },
    {
      capabilities: {
        tools: { listChanged: true },
        ...(has?.prompts && { prompts: { listChanged: true } }),
        ...(has?.resources && {
          resources: { listChanged: true, ...(has.subscribe && { subscribe: true }) },
        }),
        ...(has?.completions && { completions: {} }),
        ...(has?.logging && { logging: {} }),
      },
      instructions: INSTRUCTIONS,
    },
  );
  const { server } = mcp;
  /** How much of what servers log the client wants to hear: said once in the older era, with each request in the newer. */
  let wantedLevel: string | undefined;

  server.setRequestHandler("tools/list", async ({ params }, context) => {
    readClient(context);
    requireFirstPage(params);
    return { tools: await client.tools() };
  });
  server.setRequestHandler("tools/call", ({ params: { name, arguments: input = {} } }, context) =>
    conduct({ name, arguments: input }, context, (result, reader) => {
      throwIfRefused(result, name);
      return mapResult(result, reader);
    }),
  );
  if (relay !== undefined) answerRelayed(relay);
  return mcp;

  function answerRelayed(relay: ClientRelay): void {
    if (has?.prompts) {
      server.setRequestHandler("prompts/list", async ({ params }) => {
        requireFirstPage(params);
        return { prompts: await relay.prompts() };
      });
      server.setRequestHandler("prompts/get", async ({ params }, context) => {
        const call = await relay.promptCall(params.name, params.arguments);
        return conduct(call, context, mapPrompt);
      });
    }
    if (has?.resources) {
      server.setRequestHandler("resources/list", async ({ params }) => {
        requireFirstPage(params);
        return { resources: await relay.resources() };
      });
      server.setRequestHandler("resources/templates/list", async ({ params }) => {
        requireFirstPage(params);
        return { resourceTemplates: await relay.templates() };
      });
      server.setRequestHandler("resources/read", async ({ params: { uri } }, context) => {
        const call = await relay.resourceCall(uri);
        return conduct(call, context, (result, reader) => mapResource(result, uri, reader));
      });
    }
    if (has?.subscribe) {
      server.setRequestHandler("resources/subscribe", async ({ params }) => {
        await relay.watch(params.uri);
        return {};
      });
      server.setRequestHandler("resources/unsubscribe", ({ params }) => {
        relay.unwatch(params.uri);
        return {};
      });
    }
    if (has?.completions) {
      server.setRequestHandler("completion/complete", async ({ params }, { mcpReq }) => ({
        completion: await relay.complete(params, mcpReq.signal),
      }));
    }
    if (has?.logging) {
      server.setRequestHandler("logging/setLevel", ({ params }) => {
        wantedLevel = params.level;
        relay.wantLogs(params.level);
        return {};
      });
    }
  }

  /** Makes the call for a request; `read` its result, unless it ends in a question. */
  async function conduct<T>(
    request: CallRequest,
    context: ServerContext,
    read: (result: ToolResult, reader: string | undefined) => T,
  ): Promise<T | InputRequiredResult> {
    const waiter = createWaiter(context);
    const requestState = context.mcpReq.requestState<string>();
    const answers = readAnswers(context);
    const step =
      requestState === undefined
        ? await client.call(request, waiter, answers)
        : await client.resume(requestState, request, answers, waiter);
    if (step.kind === "ended") return read(step.result, step.reader);
    return inputRequired({
      inputRequests: inputRequests(step.questions),
      requestState: step.state,
    });
  }

  function createWaiter(context: ServerContext): Waiter {
    const { mcpReq, http } = context;
    const gone = http?.req?.signal;
    const progressToken = mcpReq._meta?.progressToken;
    const notify = (method: string, params: Record<string, unknown>): void => {
      // A client that does not take it any more gets the result, or is gone.
      mcpReq.notify({ method, params }).catch(() => {});
    };
    return {
      request_id: mcpReq.id,
      ...readClient(context),
      signal: gone === undefined ? mcpReq.signal : joinSignals(mcpReq.signal, gone),
      standsAlone: era === "modern" && http !== undefined,
      ...(era === "legacy" && {
        push: (question, signal) => pushQuestion(context, question, signal),
      }),
      ...(progressToken !== undefined && {
        progress: (update) => notify("notifications/progress", { progressToken, ...update }),
      }),
      ...(has?.logging && listenForLogs(context, notify)),
    };
  }

  function listenForLogs(
    { mcpReq }: ServerContext,
    notify: (method: string, params: Record<string, unknown>) => void,
  ): Pick<Waiter, "log" | "logLevel"> {
    const logLevel = ((mcpReq.envelope ?? {}) as Envelope)[LOG_LEVEL_KEY] ?? wantedLevel;
    if (logLevel === undefined) return {};
    if (logLevel !== wantedLevel) relay?.wantLogs(logLevel);
    return {
      logLevel,
      log(entry) {
        const level = LOG_LEVELS.find((known) => known === entry["level"]);
        if (level === undefined || rankOfLevel(level) < rankOfLevel(logLevel)) return;
        notify("notifications/message", { ...entry, level, data: entry["data"] });
      },
    };
  }

  /** Said with every request in the newer era, once at the beginning in the older. */
  function readClient({ mcpReq }: ServerContext): Pick<Waiter, "client" | "abilities"> {
    const envelope = (mcpReq.envelope ?? {}) as Envelope;
    // The only place the SDK keeps what the older handshake said.
    const [info, capabilities = era === "modern" ? {} : undefined] =
      era === "modern"
        ? [envelope[CLIENT_INFO_META_KEY], envelope[CLIENT_CAPABILITIES_META_KEY]]
        : // oxlint-disable-next-line typescript/no-deprecated
          [server.getClientVersion(), server.getClientCapabilities()];
    if (capabilities === undefined) {
      const message = `send initialize before ${mcpReq.method}`;
      throw new ProtocolError(ProtocolErrorCode.InvalidRequest, message);
    }
    return {
      client: info === undefined ? "unknown" : safeLine(`${info.name} ${info.version}`, 100),
      abilities: readAbilities(capabilities),
    };
  }
}

/** All there is comes at once. */
function requireFirstPage(params: { readonly cursor?: string } | undefined): void {
  if (params?.cursor === undefined) return;
  const message = "there is only one page; leave the cursor out";
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

/** Without what AbortSignal.any costs, which makes one that is collected late. */
function joinSignals(...signals: readonly AbortSignal[]): AbortSignal {
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
    if (news.kind === "updated") await server.sendResourceUpdated({ uri: news.uri });
    else if (news.kind === "tools") await server.sendToolListChanged();
    else if (news.kind === "prompts") await server.sendPromptListChanged();
    else await server.sendResourceListChanged();
  };
  notify().catch(() => {});
}

/** Of a message that may be anything. */
export function readMessageId(message: unknown): string | number | null {
  const { id } = asRecord(message);
  return typeof id === "string" || typeof id === "number" ? id : null;
}
