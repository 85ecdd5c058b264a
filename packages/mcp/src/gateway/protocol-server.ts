// The protocol side of one client: the requests of the SDK's server, both eras, turned into calls of the
// gateway's client and its steps back into results.

import { randomUUID } from "node:crypto";
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  inputRequired,
  inputResponse,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type CallToolResult,
  type ClientCapabilities,
  type ElicitRequestFormParams,
  type Implementation,
  type InputRequest,
  type InputRequiredResult,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { ElicitationAnswer, ElicitationRequest, JsonObject } from "@soong/core";
import { safeLine } from "../catalog/index.ts";
import type { CallRequest, ClientStep, GatewayClient } from "./client.ts";
import { mapResult } from "./map-result.ts";
import type { Waiter } from "./open-call.ts";

export type Era = "legacy" | "modern";

export interface ServerIdentity {
  readonly name: string;
  readonly version: string;
}

const INSTRUCTIONS =
  "Tools of a Soong session. Every call is checked against the user's rules and recorded; some need the user's " +
  "permission first. A long result is shortened and says how to read the rest.";
/** A person may take their time; the call waits as long. */
const QUESTION_TIMEOUT_MS = 600_000;

type FormSchema = ElicitRequestFormParams["requestedSchema"];

export function createProtocolServer(
  client: GatewayClient,
  era: Era,
  identity: ServerIdentity,
): McpServer {
  const mcp = new McpServer(
    { name: identity.name, version: identity.version },
    { capabilities: { tools: { listChanged: true } }, instructions: INSTRUCTIONS },
  );

  mcp.server.setRequestHandler("tools/list", async ({ params }, context) => {
    clientOf(context);
    if (params?.cursor !== undefined) {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        "there is only one page of tools; leave the cursor out",
      );
    }
    return { tools: await client.tools() };
  });

  mcp.server.setRequestHandler("tools/call", async ({ params }, context) => {
    const waiter = waiterOf(context);
    const request: CallRequest = { name: params.name, arguments: params.arguments ?? {} };
    const state = context.mcpReq.requestState<string>();
    const step =
      state === undefined
        ? await client.call(request, waiter)
        : await client.resume(state, request, answersOf(context), waiter);
    return answerOf(step);
  });

  return mcp;

  function waiterOf(context: ServerContext): Waiter {
    const { name, capabilities } = clientOf(context);
    const { mcpReq, http } = context;
    const gone = http?.req?.signal;
    const token = mcpReq._meta?.progressToken;
    return {
      request_id: mcpReq.id,
      client: name,
      signal: gone === undefined ? mcpReq.signal : AbortSignal.any([mcpReq.signal, gone]),
      modes: modesOf(capabilities),
      ...(era === "modern" ? {} : { push: (question, signal) => push(context, question, signal) }),
      ...(token === undefined
        ? {}
        : {
            progress(update) {
              const params = { progressToken: token, ...update };
              // Whoever does not take it any more is told the result, or is gone.
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

/** A client that cannot be told is gone, or will see for itself. */
export function announceTools(mcp: McpServer): void {
  mcp.server.sendToolListChanged().catch(() => {});
}

/** A client that names no mode means forms. */
function modesOf({ elicitation }: ClientCapabilities): Waiter["modes"] {
  if (elicitation === undefined) return { form: false, url: false };
  const url = elicitation.url !== undefined;
  return { form: elicitation.form !== undefined || !url, url };
}

async function push(
  { mcpReq }: ServerContext,
  question: ElicitationRequest,
  signal: AbortSignal,
): Promise<ElicitationAnswer> {
  const { mode, message } = question;
  const params =
    mode === "form"
      ? { message, requestedSchema: question.requested_schema }
      : { mode, message, url: question.url, elicitationId: randomUUID() };
  const { action, content } = await mcpReq.send(
    { method: "elicitation/create", params },
    { signal, timeout: QUESTION_TIMEOUT_MS },
  );
  return content === undefined ? { action } : { action, content };
}

function answersOf({ mcpReq }: ServerContext): ReadonlyMap<string, ElicitationAnswer> {
  const answers = new Map<string, ElicitationAnswer>();
  for (const key of Object.keys(mcpReq.inputResponses ?? {})) {
    const given = inputResponse(mcpReq.inputResponses, key);
    if (given.kind !== "elicit") continue;
    const { action, content } = given;
    answers.set(
      key,
      content === undefined ? { action } : { action, content: content as JsonObject },
    );
  }
  return answers;
}

function answerOf(step: ClientStep): CallToolResult | InputRequiredResult {
  if (step.kind === "ended") return mapResult(step.result, step.reader);
  const asked = [...step.questions].map(([key, question]) => [key, inputRequest(question)]);
  return inputRequired({
    inputRequests: Object.fromEntries(asked) as Record<string, InputRequest>,
    requestState: step.state,
  });
}

function inputRequest(question: ElicitationRequest): InputRequest {
  const { message } = question;
  return question.mode === "form"
    ? inputRequired.elicit({
        mode: "form",
        message,
        requestedSchema: question.requested_schema as unknown as FormSchema,
      })
    : inputRequired.elicitUrl({ message, url: question.url });
}
