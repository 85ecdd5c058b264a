// Calls of Claude Code's own tools between the hook before and the hook after them: the kernel has let them through, and the
// host executes them.

import { isDeepStrictEqual } from "node:util";
import type { FactType } from "@soong/core";
import { renderText, type BridgeRun, type CallOutcome } from "../kernel/index.ts";
import type { ClaudeTools } from "./built-in-tools.ts";
import type { HostToolCall } from "./host-calls.ts";
import type { KernelCalls } from "./kernel-calls.ts";

export interface OpenCall {
  /** The agent of the host that made it; the main one has no name. */
  readonly agent: string;
  /** A user has approved it, and not only a rule. */
  isApproved: boolean;
  /** As the host is to execute it. */
  input: unknown;
}

export interface OpenOptions {
  readonly agent: string;
  readonly signal: AbortSignal;
  /** The host's user has approved it. */
  readonly isApproved: boolean;
}

export type OpenAnswer =
  /** In the form of the host, after hooks of the kernel. */
  | { readonly decision: "allow"; readonly input: Record<string, unknown> }
  | { readonly decision: "deny"; readonly reason: string };

export interface HostOutput {
  readonly text: string;
  readonly is_error: boolean;
  /** What the host has executed, if it says so. */
  readonly input?: unknown;
}

export interface OpenCalls {
  find(id: string): OpenCall | undefined;
  /** The kernel judges the call. */
  open(call: HostToolCall, options: OpenOptions): Promise<OpenAnswer>;
  /** What is on record then; undefined for a call that is not open. */
  end(id: string, output: HostOutput): Promise<CallOutcome | undefined>;
  /** The host has dropped the calls of an agent. */
  endAll(agent: string): Promise<void>;
  /** The host has closed the session. */
  close(): void;
}

export function createOpenCalls(
  run: BridgeRun,
  calls: KernelCalls,
  builtIn: ClaudeTools | undefined,
): OpenCalls {
  const opened = new Map<string, OpenCall>();
  let closing = new AbortController();

  return {
    find: (id) => opened.get(id),
    open,
    end,
    async endAll(agent) {
      const own = [...opened].filter(([, call]) => call.agent === agent);
      await Promise.all(own.map(([id]) => end(id, { text: INTERRUPTED, is_error: true })));
    },
    close() {
      closing.abort(new Error("the host has closed the session"));
      closing = new AbortController();
      opened.clear();
    },
  };

  async function open(call: HostToolCall, options: OpenOptions): Promise<OpenAnswer> {
    const { id, name, toolName, arguments: given } = call;
    if (builtIn === undefined || opened.has(id)) {
      const reason = "another call with this id has not ended; call it again";
      return { decision: "deny", reason: renderText(await calls.skip(call, reason)) };
    }
    const { agent, signal, isApproved } = options;
    const entry: OpenCall = { agent, isApproved, input: undefined };
    opened.set(id, entry);
    const stopWatching = watchApproval(run, id, () => {
      entry.isApproved = true;
    });
    const answer = await builtIn.external.before(
      calls.gate,
      { id, name, arguments: given },
      { signal: AbortSignal.any([signal, closing.signal]), isApproved },
    );
    stopWatching();
    if (answer.decision === "deny") {
      opened.delete(id);
      return { decision: "deny", reason: answer.reason };
    }
    const input = builtIn.toInput(toolName, answer.input);
    entry.input = input;
    return { decision: "allow", input };
  }

  async function end(id: string, output: HostOutput): Promise<CallOutcome | undefined> {
    const call = opened.get(id);
    if (call === undefined || !opened.delete(id)) return undefined;
    const { text, is_error, input } = output;
    const isOther = input !== undefined && !isDeepStrictEqual(input, call.input);
    const shown = isOther ? `${describeOther(input)}\n\n${text}` : text;
    return builtIn?.external.after(id, { text: shown, is_error: is_error || isOther });
  }
}

const INTERRUPTED = "The host has interrupted this call. It may have had an effect.";

/** Another hook of the host comes after the one of the bridge. */
function describeOther(input: unknown): string {
  return `The host has executed this call with another input, which was not judged: ${JSON.stringify(input)}`;
}

const ANSWERED = new Set<FactType>(["permission.resolved"]);

function watchApproval(
  { session, identity: { run_id } }: BridgeRun,
  id: string,
  onApproval: () => void,
): () => void {
  return session.watch({ types: ANSWERED, run_id }, (read) => {
    if (read().tool_call_id === id) onApproval();
  });
}
