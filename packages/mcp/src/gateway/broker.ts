// Who answers when a call needs the user (GATE-2, MCP-5), or its server something of the host. A session has one
// place to ask and may have many clients: a question goes to the client whose call it is about, and to no one
// else's.

import {
  messageOf,
  NoOneToAsk,
  visibleLine,
  type AskElicitation,
  type AskPermission,
  type ElicitationAnswer,
  type ElicitationRequest,
  type PermissionRequest,
} from "@soong/core";
import type { McpHost } from "../call/ask-server.ts";
import type { ClientQuestion } from "./client-question.ts";
import type { OpenCall } from "./open-call.ts";
import { howToAllow, permissionQuestion, readPermission } from "./permission-question.ts";

/** Open the session with `ask` and `elicit` of it, and the servers behind it with `host`. */
export interface GatewayBroker {
  readonly ask: AskPermission;
  readonly elicit: AskElicitation;
  /** What servers ask of a host, passed to the client whose call it is. */
  readonly host: McpHost;
  /** The calls of one run are answered for by its client from now on, until the returned function is called. */
  register(run_id: string, calls: AnsweringCalls): () => void;
}

export interface GatewayBrokerOptions {
  /** Asked where the client cannot be, or where no one was there to answer it: the control broker of the session. */
  readonly ask?: AskPermission;
  readonly elicit?: AskElicitation;
}

/** The calls of one client that have not ended. */
export interface AnsweringCalls {
  find(tool_call_id: string): AnsweringCall | undefined;
  /** The one there is; nothing when there are several. */
  only(): AnsweringCall | undefined;
}

export type AnsweringCall = Pick<
  OpenCall,
  "client" | "standsAlone" | "can" | "logLevel" | "put" | "expect"
>;

export function createGatewayBroker(options: GatewayBrokerOptions = {}): GatewayBroker {
  const callsByRun = new Map<string, AnsweringCalls>();

  return {
    async ask(request, context) {
      const call = findCall(request);
      let why = "this client cannot show questions (it declares no elicitation)";
      const question = permissionQuestion(request);
      if (question === undefined) why = "it is too long to be shown whole in this client";
      else if (call?.can("form") === true) {
        try {
          const answer = await elicitFrom(call, question, context.signal, true);
          // Unattended hosts dismiss every question: that is no answer.
          if (answer.action !== "cancel") return readPermission(request, answer, call.client);
          why = "the question was dismissed in the client";
        } catch (error) {
          why = `asking through the client failed (${messageOf(error)})`;
        }
      }
      if (options.ask === undefined) throw new NoOneToAsk(`${why}. ${howToAllow(request)}`);
      try {
        return await options.ask(request, context);
      } catch (error) {
        if (!(error instanceof NoOneToAsk)) throw error;
        throw new NoOneToAsk(`${why}; ${error.message}. ${howToAllow(request)}`);
      }
    },

    async elicit(request, context) {
      const { tool_call_id, tool_name, ...asked } = request;
      const question = { ...asked, message: `${findAsker(tool_name)}:\n${asked.message}` };
      const call = registeredCall(tool_call_id)?.call;
      let answer: ElicitationAnswer = { action: "decline" };
      if (call?.can(request.mode) === true) {
        try {
          answer = await elicitFrom(call, question, context.signal);
          if (answer.action !== "cancel") return answer;
        } catch {
          // Then any other responder, or none.
        }
      }
      return options.elicit === undefined ? answer : options.elicit(request, context);
    },

    host: {
      clientOf({ tool_call_id }) {
        const registered = registeredCall(tool_call_id);
        if (registered === undefined) return undefined;
        const { call, calls } = registered;
        return {
          identity: call.standsAlone ? call : calls,
          sampling: call.can("sampling"),
          roots: call.can("roots"),
          logLevel: call.logLevel,
          async ask(request, asking) {
            const question: ClientQuestion =
              request.method === "roots/list"
                ? { kind: "roots" }
                : { kind: "sampling", params: request.params };
            const given = await call.put(question, asking);
            if (given.kind === "elicitation") throw new Error("the client answered something else");
            return given.result;
          },
          expect: (keys) => call.expect(keys),
        };
      },
    },

    register(run_id, calls) {
      callsByRun.set(run_id, calls);
      return () => callsByRun.delete(run_id);
    },
  };

  /** A question of a subagent names its own call: it is known whose it is when only one call is open. */
  function findCall(request: PermissionRequest): AnsweringCall | undefined {
    const own = callsByRun.get(request.run_id);
    if (own !== undefined) return own.find(request.tool_call_id);
    return request.parent_run_id === undefined
      ? undefined
      : callsByRun.get(request.parent_run_id)?.only();
  }

  function registeredCall(tool_call_id: string) {
    for (const calls of callsByRun.values()) {
      const call = calls.find(tool_call_id);
      if (call !== undefined) return { call, calls };
    }
    return undefined;
  }
}

/** The client knows the gateway alone: who is behind it and asks, the question says first. */
function findAsker(tool_name: string): string {
  const server = /^mcp\.([^.]+)\./.exec(tool_name)?.[1];
  const asker = server === undefined ? "A tool" : `The MCP server ${visibleLine(server)}`;
  return `${asker} asks, for ${visibleLine(tool_name)}`;
}

async function elicitFrom(
  call: AnsweringCall,
  request: ElicitationRequest,
  signal: AbortSignal,
  isOwn = false,
): Promise<ElicitationAnswer> {
  const { key } = request;
  const given = await call.put({ kind: "elicitation", request, isOwn }, { signal, key });
  if (given.kind !== "elicitation") throw new Error("the client answered something else");
  return given.answer;
}
