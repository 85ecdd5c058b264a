// Results out of a turn, in call order (SCHED-7): one by one as soon as all before are there, or all at once.

import type { Recorder } from "../journal/index.ts";
import type { ToolResult } from "../tool/index.ts";
import type { Call } from "./call.ts";

export class Delivery {
  streamEnded = false;
  readonly #recorder: Recorder;
  /** Grows as calls are pushed. */
  readonly #calls: readonly Call[];
  readonly #onSettled: (() => void) | undefined;
  /** Readers that wait for the next result, and those that wait for all of them. */
  #waiting: (() => void)[] = [];
  readonly #waitingForAll: (() => void)[] = [];
  #delivered = 0;
  #yielded = 0;

  constructor(recorder: Recorder, calls: readonly Call[], onSettled: (() => void) | undefined) {
    this.#recorder = recorder;
    this.#calls = calls;
    this.#onSettled = onSettled;
  }

  endStream(): void {
    this.streamEnded = true;
    this.#announce();
  }

  /** The result of one more call is there. */
  deliver(): void {
    this.#delivered += 1;
    this.#announce();
  }

  async settled(): Promise<ToolResult[]> {
    if (!this.#isSettled) await woken(this.#waitingForAll);
    await this.#flush();
    this.#recordYields(this.#calls.slice(this.#yielded));
    return this.#calls.map(({ result }) => result as ToolResult);
  }

  async *results(): AsyncGenerator<ToolResult, undefined> {
    for (let i = 0; ;) {
      const next = this.#calls[i];
      if (next?.result !== undefined) {
        await this.#flush();
        if (i === this.#yielded) this.#recordYields([next]);
        yield next.result;
        i += 1;
      } else if (next === undefined && this.streamEnded) {
        return undefined;
      } else {
        await woken(this.#waiting);
      }
    }
  }

  get #isSettled(): boolean {
    return this.streamEnded && this.#delivered === this.#calls.length;
  }

  #announce(): void {
    if (this.#isSettled) {
      this.#onSettled?.();
      for (const wake of this.#waitingForAll) wake();
    }
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  /** What the model is told must be on record first. */
  async #flush(): Promise<void> {
    try {
      await this.#recorder.flush();
    } catch {
      // Every later call and record says so; the results stay what they are.
    }
  }

  /** In call order, each once, however many read. */
  #recordYields(calls: readonly Call[]): void {
    if (calls.length === 0) return;
    this.#yielded += calls.length;
    try {
      this.#recorder.commit(
        calls.map((call) =>
          this.#recorder.draft("tool.yielded", { status: call.result?.status }, call),
        ),
      );
    } catch {
      // As above.
    }
  }
}

/** Settles when the owner of the list wakes those on it. */
function woken(list: (() => void)[]): Promise<void> {
  return new Promise((resolve) => {
    list.push(resolve);
  });
}
