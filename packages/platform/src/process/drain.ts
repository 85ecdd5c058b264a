// What is still in a pipe when all known processes of a command have ended: read to the end. An end of
// file may never come, when somebody unknown holds the pipe, so it stops when nothing moves any more.

import type { Output } from "./output.ts";

/** Counted in rounds of the event loop, not by the clock, which runs on while the runtime is busy. */
const TICK_MS = 20;
const IDLE_TICKS = 10;

/** More than any pipe holds: what comes after it was written by somebody who is still there. */
const PIPE_BYTES = 4 * 1024 * 1024;

/**
 * "cut" when it had to leave something unread. A consumer may take its time, unless the process was
 * stopped: then all that is left has to go through in a moment.
 */
export function drainOutput(output: Output, isStopped: () => boolean): Promise<"complete" | "cut"> {
  const first = output.progress();
  if (first.isFinished) return Promise.resolve("complete");
  return new Promise((resolve) => {
    let { steps } = first;
    let idleTicks = 0;
    const timer = setInterval(() => {
      const now = output.progress();
      if (isStopped()) idleTicks += 1;
      else if (now.steps !== steps || now.isConsumerBusy) idleTicks = 0;
      else idleTicks += 1;
      steps = now.steps;
      if (idleTicks < IDLE_TICKS && now.bytes - first.bytes <= PIPE_BYTES) return;
      resolve("cut");
      output.cut();
    }, TICK_MS);
    void output.finished.then(() => {
      clearInterval(timer);
      resolve("complete");
    });
  });
}
