// What later facts refer back to: the calls, runs and threads that are open. Nothing of what has ended is kept.

export class OpenWork {
  readonly #calls = new Map<string, OpenCall>();
  /** Runs that were queued and have not started. */
  readonly #queued = new Set<string>();
  /** The thread of a child closes with the child; any other is open as long as its session. */
  readonly #threads = new Set<string>();

  /** Whether it is new. */
  openThread(threadId: string): boolean {
    if (this.#threads.has(threadId)) return false;
    this.#threads.add(threadId);
    return true;
  }

  closeThread(threadId: string): void {
    this.#threads.delete(threadId);
  }

  queueRun(turnId: string): void {
    this.#queued.add(turnId);
  }

  /** Whether it was queued. */
  leaveQueue(turnId: string): boolean {
    return this.#queued.delete(turnId);
  }

  openCall(toolCallId: string): void {
    this.#calls.set(toolCallId, new OpenCall());
  }

  /** Undefined where its request was not seen, or its end was. */
  findCall(toolCallId: string | undefined): OpenCall | undefined {
    return toolCallId === undefined ? undefined : this.#calls.get(toolCallId);
  }

  closeCall(toolCallId: string): OpenCall | undefined {
    const call = this.#calls.get(toolCallId);
    this.#calls.delete(toolCallId);
    return call;
  }
}

export class OpenCall {
  /** The request for approval that no one has answered yet. */
  actionId: string | undefined = undefined;
  /** The last decision of the policy, and of the user: the fact, and its event. */
  evaluated: Decision | undefined = undefined;
  answered: Decision | undefined = undefined;

  findDecision(factId: string | undefined): string | undefined {
    if (factId === undefined) return undefined;
    if (this.answered?.factId === factId) return this.answered.eventId;
    return this.evaluated?.factId === factId ? this.evaluated.eventId : undefined;
  }
}

interface Decision {
  readonly factId: string;
  readonly eventId: string;
}
