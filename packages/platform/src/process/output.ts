// One output stream of a process, handed to its consumer piece by piece: a consumer that is not done yet
// holds the stream back, and with it the program, so that memory stays small however much is written.

import type { Readable } from "node:stream";

export type OutputConsumer = (chunk: Buffer) => void | Promise<void>;

type Output = ReturnType<typeof deliverOutput>;

export function deliverOutput(
  stream: Readable,
  consume: OutputConsumer,
  onFailure: (error: unknown) => void,
) {
  const waiting: Buffer[] = [];
  let state: "open" | "closed" | "finished" = "open";
  let isConsumerBusy = false;
  let steps = 0;
  let bytes = 0;
  let settle: () => void;
  const finished = new Promise<void>((resolve) => {
    settle = resolve;
  });

  function finish(): void {
    state = "finished";
    waiting.length = 0;
    settle();
  }

  function hand(chunk: Buffer): void {
    if (state === "finished") return;
    steps += 1;
    try {
      const pending = consume(chunk);
      if (!(pending instanceof Promise)) return;
      isConsumerBusy = true;
      stream.pause();
      pending.then(consumed, fail);
    } catch (error) {
      fail(error);
    }
  }

  function consumed(): void {
    isConsumerBusy = false;
    steps += 1;
    while (!isConsumerBusy && waiting.length > 0) hand(waiting.shift() as Buffer);
    if (isConsumerBusy || state === "finished") return;
    if (state === "closed") finish();
    else stream.resume();
  }

  function fail(error: unknown): void {
    if (state === "finished") return;
    stream.destroy();
    finish();
    onFailure(error);
  }

  stream.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    // When a process exits, Node resumes its streams on its own: what comes then has to wait here. It is
    // no more than the pipe held.
    if (!isConsumerBusy) return hand(chunk);
    waiting.push(chunk);
    stream.pause();
  });
  // A broken pipe has nothing more to give; "close" follows.
  stream.on("error", () => {});
  stream.once("close", () => {
    if (state === "open") state = "closed";
    if (state === "closed" && !isConsumerBusy) finish();
  });

  return {
    /** Settles when nothing more will be handed over. */
    finished,
    progress: () => ({ isFinished: state === "finished", isConsumerBusy, steps, bytes }),
    /** Ends it now, even if data is still in the pipe. */
    cut(): void {
      stream.destroy();
      finish();
    },
  };
}

/** Counted in rounds of the event loop, not by the clock, which runs on while the runtime is busy. */
const TICK_MS = 20;
const IDLE_TICKS = 10;

/** More than any pipe holds: what comes after it was written by someone who is still there. */
const PIPE_BYTES = 4 * 1024 * 1024;

/**
 * Reads what is still in a pipe when all known processes of a command have ended. An end of file may never come,
 * when someone unknown holds the pipe, so it stops when nothing moves any more. "cut" when it had to leave something unread. A consumer may take its time, unless the process was
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
