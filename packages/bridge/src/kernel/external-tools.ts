// For loops that execute tools themselves and only call back before and after: the kernel decides, orders and records; the
// handler of such a tool does nothing but wait for what the host reports.

import {
  defineTool,
  toolResult,
  type AnyTool,
  type JsonObject,
  type ToolCall,
  type ToolResult,
} from "@soong/core";
import type { CallOptions, CallOutcome } from "./bridged-turn.ts";
import type { Gate } from "./gate.ts";
import { renderText } from "./render-outcome.ts";

export type ExternalDefinition = Omit<AnyTool, "handler">;

export interface ExternalOutput {
  readonly text: string;
  readonly is_error?: boolean;
}

export type BeforeAnswer =
  /** The host may execute it, with this input. */
  | { readonly decision: "allow"; readonly input: JsonObject }
  /** It must not. The reason is for the model. */
  | { readonly decision: "deny"; readonly reason: string; readonly result: ToolResult };

export interface ExternalTools {
  /** Register them: `createKernel({ tools: [...external.tools] })`. */
  readonly tools: readonly AnyTool[];
  /** Before the host executes a call. */
  before(gate: Gate, call: ToolCall & { id: string }, options?: CallOptions): Promise<BeforeAnswer>;
  /** What the host's tool returned. Answers with what is on record; undefined for a call that was not let through, or has ended. */
  after(id: string, output: ExternalOutput): Promise<CallOutcome | undefined>;
}

export function createExternalTools(definitions: readonly ExternalDefinition[]): ExternalTools {
  const pending = new Map<string, PendingCall>();
  const tools = definitions.map((definition) =>
    defineTool({
      ...definition,
      handler: (input, { toolCallId, signal }) => runExternally(toolCallId, input, signal),
    }),
  );

  return { tools, before, after };

  async function before(
    gate: Gate,
    call: ToolCall & { id: string },
    options?: CallOptions,
  ): Promise<BeforeAnswer> {
    const allowed = new Promise<BeforeAnswer>((resolve) => {
      pending.set(call.id, { allow: (input) => resolve({ decision: "allow", input }) });
    });
    const ended = gate.execute(call, options);
    const one = pending.get(call.id);
    if (one !== undefined) one.ended = ended;
    const refused = ended.then((outcome): BeforeAnswer => {
      pending.delete(call.id);
      return { decision: "deny", reason: renderText(outcome), result: outcome.result };
    });
    return Promise.race([allowed, refused]);
  }

  async function after(id: string, output: ExternalOutput): Promise<CallOutcome | undefined> {
    const one = pending.get(id);
    if (one?.report === undefined) return undefined;
    one.report(output);
    return one.ended;
  }

  function runExternally(id: string, input: unknown, signal: AbortSignal): Promise<unknown> {
    const one = pending.get(id);
    if (one === undefined) {
      throw new Error("the host executes this tool itself; it cannot be called from here");
    }
    return new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      one.report = ({ text, is_error = false }) => {
        const content = [{ type: "text" as const, text }];
        resolve(
          is_error
            ? toolResult({
                status: "failed",
                content,
                error: { code: "host_failed", message: text },
              })
            : toolResult({ content }),
        );
      };
      one.allow(input as JsonObject);
    });
  }
}

interface PendingCall {
  readonly allow: (input: JsonObject) => void;
  report?: (output: ExternalOutput) => void;
  ended?: Promise<CallOutcome>;
}
