// The calls of answers that the model in front has seen, by the SDK's ids: what `execute` and the next request find again.

import type { CallOutcome } from "../kernel/index.ts";
import type { FollowedCall } from "./followed-call.ts";

export interface StartedCall {
  readonly call: FollowedCall;
  /** The SDK executes the answer. Its signal may be another one than the request's, if it has a timeout. */
  readonly confirm: (signal: AbortSignal | undefined) => void;
}

export class SeenCalls {
  readonly #started = new Map<string, StartedCall>();
  readonly #paused = new Set<string>();
  readonly #refused = new Map<string, Promise<CallOutcome>>();

  /** Given or made unique: two calls with one id, in one answer or in two at a time, could not be distinguished later. */
  chooseId(given: string, taken: ReadonlySet<string>): string {
    const isTaken = (id: string): boolean =>
      id === "" || taken.has(id) || this.#started.has(id) || this.#paused.has(id);
    if (!isTaken(given)) return given;
    const stem = given === "" ? "call" : given;
    for (let nth = 2; ; nth += 1) {
      const id = `${stem}_${nth}`;
      if (!isTaken(id)) return id;
    }
  }

  start(id: string, call: StartedCall): void {
    this.#started.set(id, call);
  }

  isStarted(id: string): boolean {
    return this.#started.has(id);
  }

  /** For the one `execute` of the call. */
  take(id: string): StartedCall | undefined {
    const started = this.#started.get(id);
    this.#started.delete(id);
    return started;
  }

  forget(ids: Iterable<string>): void {
    for (const id of ids) {
      this.#started.delete(id);
      this.#paused.delete(id);
    }
  }

  /** The host has to ask for this call. */
  pause(id: string): void {
    this.#paused.add(id);
  }

  /** Whether the host was to be asked; once. */
  unpause(id: string): boolean {
    return this.#paused.delete(id);
  }

  /** A call that the SDK answers itself, such as one of an unknown tool. What the kernel says about it replaces that answer. */
  refuse(id: string, outcome: Promise<CallOutcome>): void {
    this.#refused.set(id, outcome);
  }

  get hasRefused(): boolean {
    return this.#refused.size > 0;
  }

  findRefused(id: string): Promise<CallOutcome> | undefined {
    return this.#refused.get(id);
  }
}
