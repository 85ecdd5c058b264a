// What reaches a run from outside while it is under way: an abort, and input that interrupts it (PIPE-7).

import type { Clock, Turn } from "@soong/core";
import { inTime } from "@soong/platform";

export interface RunControl {
  /** For the model's stream. */
  readonly signal: AbortSignal;
  /** Why, once the run is aborted. */
  readonly aborted: string | undefined;
  abort(reason: string): void;
  /** False once the run takes no more. */
  interrupt(input: string): boolean;
  /** Takes what has come in. */
  takeInput(): string[];
  /** From now on nothing more is taken; false when input has come in that was not taken. */
  close(): boolean;
  /** The turn that an abort or an interrupt reaches. */
  turn: Turn | undefined;
  /** Settles with the value, or as `aborted` once the run is. The work is then no longer waited for. */
  unlessAborted<T>(work: Promise<T>): Promise<T | "aborted">;
  /** Settles after the time, or as soon as the run is aborted. */
  wait(ms: number): Promise<"waited" | "aborted">;
}

export function createRunControl(clock: Clock): RunControl {
  const controller = new AbortController();
  let reason: string | undefined;
  let inputs: string[] = [];
  let closed = false;

  const control: RunControl = {
    signal: controller.signal,
    get aborted() {
      return reason;
    },
    abort(why) {
      if (reason !== undefined || closed) return;
      reason = why;
      controller.abort(new Error(why));
      void control.turn?.abort(why);
    },
    interrupt(input) {
      if (closed || reason !== undefined) return false;
      inputs.push(input);
      control.turn?.interrupt("new input came in");
      return true;
    },
    takeInput() {
      const taken = inputs;
      inputs = [];
      return taken;
    },
    close() {
      if (inputs.length > 0 && reason === undefined) return false;
      closed = true;
      return true;
    },
    turn: undefined,
    unlessAborted,
    wait: async (ms) => {
      const waited = await inTime(NEVER, { ms, clock, signal: controller.signal });
      return waited.kind === "late" ? "waited" : "aborted";
    },
  };
  return control;

  async function unlessAborted<T>(work: Promise<T>): Promise<T | "aborted"> {
    const waited = await inTime(work, { signal: controller.signal });
    return waited.kind === "done" ? waited.value : "aborted";
  }
}

const NEVER = new Promise<never>(() => {});
