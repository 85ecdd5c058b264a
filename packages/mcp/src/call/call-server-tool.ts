// One call (MCP-4, MCP-5): the server is asked once, its progress and its questions are passed on, and
// every outcome is a result.

import type { HandlerResult, JsonObject, ToolContext } from "@soong/core";
import { McpRequestFailure, type ConnectedServer } from "../connection/index.ts";
import { toToolFailure } from "./call-failure.ts";
import { awaitOnCancel, callOptions, type AskingCall } from "./call-options.ts";
import { readCallResult } from "./read-call-result.ts";
import { openRequiredUrls, requiredUrls } from "./required-urls.ts";

export interface ServerCall extends AskingCall {
  readonly server: Pick<ConnectedServer, "callTool">;
  /** What the server calls it. */
  readonly name: string;
  readonly arguments: JsonObject;
  /** Decides what a lost answer means: a read can be asked for again. */
  readonly isReadonly: boolean;
}

/** How often a server may send the user to a page before it does what it was asked. */
const MAX_ROUNDS = 3;

/** Throws a ToolFailure for anything that is not an answer of the tool. */
export async function callServerTool(
  call: ServerCall,
  context: ToolContext,
): Promise<HandlerResult> {
  for (let round = 1; ; round += 1) {
    try {
      return await readCallResult(await ask(call, context), context);
    } catch (error) {
      const urls = round < MAX_ROUNDS ? requiredUrls(error) : undefined;
      // The server has refused before doing anything: this is the one error after which it is asked again.
      if (urls !== undefined && (await openRequiredUrls(urls, context))) continue;
      throw error instanceof McpRequestFailure
        ? toToolFailure(error, call, context.toolName)
        : error;
    }
  }
}

async function ask(call: ServerCall, context: ToolContext): Promise<JsonObject> {
  const request = { name: call.name, arguments: call.arguments };
  const answer = call.server.callTool(request, callOptions(call, context));
  awaitOnCancel(answer, context);
  return answer;
}
