// An abort signal for one call, made only when somebody looks at it: most handlers never do, and the
// platform's own costs more than the rest of a call.

import type { Signal, SignalLike } from "../tool/index.ts";

export interface CallAbort {
  readonly signal: Signal;
  readonly aborted: boolean;
  abort(reason: unknown): void;
}

interface Controller {
  readonly signal: unknown;
  abort(reason: unknown): void;
}

export function createAbort(): CallAbort {
  return new LazyAbort();
}

class LazyAbort implements CallAbort {
  #controller: Controller | undefined;
  #aborted = false;
  #reason: unknown;

  get signal(): Signal {
    if (this.#controller === undefined) {
      this.#controller = platformController() ?? bareController();
      if (this.#aborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal as Signal;
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

function platformController(): Controller | undefined {
  const { AbortController } = globalThis as { AbortController?: new () => Controller };
  return AbortController === undefined ? undefined : new AbortController();
}

/** For platforms without AbortController: the members handlers use. */
function bareController(): Controller {
  const listeners = new Set<() => void>();
  let aborted = false;
  let reason: unknown;
  const signal: SignalLike = {
    get aborted() {
      return aborted;
    },
    get reason() {
      return reason;
    },
    throwIfAborted() {
      if (aborted) throw reason;
    },
    addEventListener(_type, listener) {
      if (!aborted) listeners.add(listener);
    },
    removeEventListener(_type, listener) {
      listeners.delete(listener);
    },
  };
  return {
    signal,
    abort(why) {
      if (aborted) return;
      aborted = true;
      reason = why;
      for (const listener of listeners) {
        try {
          listener();
        } catch {
          // A listener that throws must not keep the others from hearing it.
        }
      }
      listeners.clear();
    },
  };
}
