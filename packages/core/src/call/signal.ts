// An abort signal for one call, made on first use: most handlers never look at it, and making one costs more than the
// rest of a call.

export interface CallAbort {
  readonly signal: AbortSignal;
  readonly aborted: boolean;
  abort(reason: unknown): void;
}

export function createAbort(): CallAbort {
  return new LazyAbort();
}

class LazyAbort implements CallAbort {
  #controller: AbortController | undefined;
  #aborted = false;
  #reason: unknown;

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  abort(reason: unknown): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}
