// One turn of another loop on the kernel: calls go in as the loop makes them, each has a promise of its one result.

import type { ConversationNode, RefusedCall, Run, ToolCall, ToolResult, Turn } from "@soong/core";
import type { HostApprovals } from "./host-approvals.ts";

/** What a call came to: its result, and what hooks and the tool add to the conversation after it. */
export interface CallOutcome {
  readonly result: ToolResult;
  readonly added: readonly ConversationNode[];
}

export interface CallOptions {
  /** The loop's own: when it fires, the whole turn is aborted, as the loop would drop all of it. */
  readonly signal?: AbortSignal | undefined;
  /** The host's user has approved this call, as the loop's own record says. */
  readonly isApproved?: boolean;
  /** The host's user, or the host, has refused it: it is not executed, and on record as rejected. */
  readonly denied?: RefusedCall;
}

export class BridgedTurn {
  readonly #run: Run;
  readonly #turn: Turn;
  readonly #approvals: HostApprovals | undefined;
  readonly #waiting: Waiting[] = [];
  readonly #signals = new Set<AbortSignal>();
  #isSettled = false;
  #nodes: readonly ConversationNode[] = [];
  #walked = 0;
  readonly #onAbort = (event: Event): void => {
    void this.abort(describeAbort(event.target as AbortSignal));
  };

  constructor(run: Run, approvals?: HostApprovals) {
    this.#run = run;
    this.#turn = run.openTurn();
    this.#approvals = approvals;
    void this.#settle();
  }

  /** The id that the call has on record: the loop's, or a new one where that is missing or was used before. */
  push(call: ToolCall, { signal, isApproved = false, denied }: CallOptions = {}): PushedCall {
    const waiting = new Waiting();
    // In the list before the call can end.
    this.#waiting.push(waiting);
    const tool_call_id = this.#turn.push(
      denied === undefined ? call : { ...call, refused: denied },
    );
    // A turn that was aborted before has ended already; what comes late has its result, too.
    if (this.#isSettled) void this.#settle();
    if (isApproved) this.#approvals?.approve(this.#run.identity.run_id, tool_call_id, call);
    this.abortOn(signal);
    return { tool_call_id, outcome: waiting.outcome };
  }

  /** For a signal that is not known when the calls are pushed. */
  abortOn(signal: AbortSignal | undefined): void {
    if (signal === undefined || this.#isSettled || this.#signals.has(signal)) return;
    if (signal.aborted) {
      void this.abort(describeAbort(signal));
    } else {
      this.#signals.add(signal);
      signal.addEventListener("abort", this.#onAbort, { once: true });
    }
  }

  /** No more calls come: those that wait for the end of the answer may start. */
  end(): void {
    this.#turn.end();
  }

  async abort(reason: string): Promise<void> {
    await this.#turn.abort(reason);
  }

  /** The loop throws the answer away, to request it again: what changed nothing is taken back (SCHED-6). */
  async discard(reason: string): Promise<void> {
    await this.#turn.discard(reason);
  }

  /** Every call has its result, and no more come. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Set when a hook ended the run. */
  get stopped(): Turn["stopped"] {
    return this.#turn.stopped;
  }

  async #settle(): Promise<void> {
    this.#isSettled = false;
    let at: number;
    do {
      at = 0;
      for await (const result of this.#turn.results()) {
        this.#waiting[at]?.resolve({ result, added: this.#addedAfter(result.tool_call_id) });
        at += 1;
      }
      // A call may have come while the reading ended.
    } while (at < this.#waiting.length);
    this.#isSettled = true;
    for (const signal of this.#signals) signal.removeEventListener("abort", this.#onAbort);
  }

  /** Results come in call order, as nodes do: so each list is walked once, and a new one made only for what it lacks. */
  #addedAfter(tool_call_id: string): ConversationNode[] {
    let own = findResult(this.#nodes, tool_call_id, this.#walked);
    if (own === -1) {
      this.#nodes = this.#turn.nodes;
      own = findResult(this.#nodes, tool_call_id, 0);
    }
    const added: ConversationNode[] = [];
    if (own === -1) return added;
    for (let at = own + 1; at < this.#nodes.length; at += 1) {
      const node = this.#nodes[at];
      if (node === undefined || node.kind === "tool_result") break;
      added.push(node);
    }
    this.#walked = own + 1 + added.length;
    return added;
  }
}

function findResult(
  nodes: readonly ConversationNode[],
  tool_call_id: string,
  from: number,
): number {
  for (let at = from; at < nodes.length; at += 1) {
    const node = nodes[at];
    if (node?.kind === "tool_result" && node.tool_call_id === tool_call_id) return at;
  }
  return -1;
}

export interface PushedCall {
  readonly tool_call_id: string;
  /** Never rejects: every call has one result. */
  readonly outcome: Promise<CallOutcome>;
}

class Waiting {
  readonly outcome: Promise<CallOutcome>;
  resolve: (outcome: CallOutcome) => void = () => {};

  constructor() {
    this.outcome = new Promise((resolve) => {
      this.resolve = resolve;
    });
  }
}

function describeAbort({ reason }: AbortSignal): string {
  const why: unknown = reason;
  return why instanceof Error
    ? why.message
    : typeof why === "string"
      ? why
      : "the loop was aborted";
}
