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
  /** By the id on record. */
  const waiting = new Map<string, WaitingCall>();
  /** By the host's id, in the order they came: a host may use one twice. */
  const running = new Map<string, RunningCall[]>();
  const tools = definitions.map((definition) =>
    defineTool({
      ...definition,
      handler: (input, { toolCallId, signal }) => runExternally(toolCallId, input, signal),
    }),
  );

  return { tools, before, after };

  function before(
    gate: Gate,
    call: ToolCall & { id: string },
    options?: CallOptions,
  ): Promise<BeforeAnswer> {
    return new Promise((resolve) => {
      const { tool_call_id, outcome } = gate.push(call, options);
      waiting.set(tool_call_id, {
        run(input, report) {
          running.set(call.id, [...(running.get(call.id) ?? []), { report, outcome }]);
          resolve({ decision: "allow", input });
        },
      });
      void outcome.then((ended) => {
        waiting.delete(tool_call_id);
        const others = running.get(call.id)?.filter((one) => one.outcome !== outcome) ?? [];
        if (others.length === 0) running.delete(call.id);
        else running.set(call.id, others);
        resolve({ decision: "deny", reason: renderText(ended), result: ended.result });
      });
    });
  }

  async function after(id: string, output: ExternalOutput): Promise<CallOutcome | undefined> {
    const [first] = running.get(id) ?? [];
    first?.report(output);
    return first?.outcome;
  }

  function runExternally(id: string, input: unknown, signal: AbortSignal): Promise<unknown> {
    const call = waiting.get(id);
    if (call === undefined) {
      throw new Error("the host executes this tool itself; it cannot be called from here");
    }
    return new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      call.run(input as JsonObject, ({ text, is_error = false }) => {
        const content = [{ type: "text" as const, text }];
        const failed = { status: "failed", error: { code: "host_failed", message: text } } as const;
        resolve(toolResult(is_error ? { ...failed, content } : { content }));
      });
    });
  }
}

type Report = (output: ExternalOutput) => void;

interface WaitingCall {
  /** The kernel lets it through. */
  run(input: JsonObject, report: Report): void;
}

interface RunningCall {
  readonly report: Report;
  readonly outcome: Promise<CallOutcome>;
}
