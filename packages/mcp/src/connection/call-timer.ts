// The time one request may take: starts again when the server shows progress, and is paused while a
// user is asked (MCP-4, MCP-5).

import type { Clock } from "@soong/core";

export interface CallTimer {
  restart(): void;
  /** Until the returned function is called. Holds may overlap. */
  hold(): () => void;
  stop(): void;
}

export function startCallTimer(clock: Clock, ms: number, onOver: () => void): CallTimer {
  let left = ms;
  let startedAt = clock.monotonic();
  let holds = 0;
  let isStopped = false;
  let cancel: (() => void) | undefined = clock.after(left, over);

  function over(): void {
    isStopped = true;
    cancel = undefined;
    onOver();
  }

  function pause(): void {
    cancel?.();
    cancel = undefined;
  }

  function run(): void {
    if (isStopped || holds > 0) return;
    startedAt = clock.monotonic();
    cancel = clock.after(left, over);
  }

  return {
    restart() {
      pause();
      left = ms;
      run();
    },
    hold() {
      if (holds === 0 && cancel !== undefined) {
        pause();
        left = Math.max(0, left - (clock.monotonic() - startedAt));
      }
      holds += 1;
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        holds -= 1;
        run();
      };
    },
    stop() {
      isStopped = true;
      pause();
    },
  };
}
