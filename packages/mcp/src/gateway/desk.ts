// Who answers when a call needs a person (GATE-2, MCP-5). A session has one place to ask and may have many
// clients: a question goes to the client whose call it is about, and to nobody else's.

import {
  NobodyToAsk,
  type AskElicitation,
  type AskPermission,
  type ElicitationAnswer,
  type ElicitationRequest,
  type PermissionRequest,
  type Signal,
} from "@soong/core";
import { howToAllow, permissionQuestion, readPermission } from "./permission-question.ts";

/** Open the session with `ask` and `elicit` of it. */
export interface GatewayDesk {
  readonly ask: AskPermission;
  readonly elicit: AskElicitation;
  /** The calls of one run are answered for by its client from now on, until the returned function is called. */
  seat(run_id: string, calls: AnsweringCalls): () => void;
}

export interface GatewayDeskOptions {
  /** Asked where the client cannot be: the control desk of the session. */
  readonly ask?: AskPermission;
  readonly elicit?: AskElicitation;
}

/** The calls of one client that have not ended. */
export interface AnsweringCalls {
  find(tool_call_id: string): AnsweringCall | undefined;
  /** The one there is; nothing when there are several. */
  only(): AnsweringCall | undefined;
}

export interface AnsweringCall {
  readonly client: string;
  canAnswer(mode: ElicitationRequest["mode"]): boolean;
  /** Rejects when the client cannot be asked after all. */
  put(question: ElicitationRequest, signal: Signal): Promise<ElicitationAnswer>;
}

export function createGatewayDesk(options: GatewayDeskOptions = {}): GatewayDesk {
  const seats = new Map<string, AnsweringCalls>();

  return {
    async ask(request, context) {
      const call = callOf(request);
      let why = "this client cannot show questions (it declares no elicitation)";
      if (call?.canAnswer("form") === true) {
        try {
          const answer = await call.put(permissionQuestion(request), context.signal);
          return readPermission(request, answer, call.client);
        } catch (error) {
          why = `asking through the client failed (${messageOf(error)})`;
        }
      }
      if (options.ask === undefined) throw new NobodyToAsk(`${why}. ${howToAllow(request)}`);
      try {
        return await options.ask(request, context);
      } catch (error) {
        if (!(error instanceof NobodyToAsk)) throw error;
        throw new NobodyToAsk(`${why}; ${error.message}. ${howToAllow(request)}`);
      }
    },

    async elicit(request, context) {
      const { tool_call_id, tool_name: _tool, ...question } = request;
      const call = callById(tool_call_id);
      if (call?.canAnswer(request.mode) === true) {
        try {
          return await call.put(question, context.signal);
        } catch {
          // Then whoever else there is, or nobody.
        }
      }
      return options.elicit?.(request, context) ?? { action: "decline" };
    },

    seat(run_id, calls) {
      seats.set(run_id, calls);
      return () => seats.delete(run_id);
    },
  };

  /** A question of a subagent names its own call: it is known whose it is when only one call is open. */
  function callOf(request: PermissionRequest): AnsweringCall | undefined {
    const own = seats.get(request.run_id);
    if (own !== undefined) return own.find(request.tool_call_id);
    return request.parent_run_id === undefined
      ? undefined
      : seats.get(request.parent_run_id)?.only();
  }

  function callById(tool_call_id: string): AnsweringCall | undefined {
    for (const calls of seats.values()) {
      const call = calls.find(tool_call_id);
      if (call !== undefined) return call;
    }
    return undefined;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
