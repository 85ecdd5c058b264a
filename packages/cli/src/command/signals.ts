// Signals to the process: Ctrl-C, and those that end it.

import { EXIT } from "../output/index.ts";

export interface Interrupts {
  /** Called at the first one, also where that came before. Without a listener, the first one ends the process. */
  on(listener: () => void): () => void;
}

/** Ctrl-C: the first one asks what is under way to end and be recorded, the second ends the process at once. */
export function listenForInterrupts(source: NodeJS.Process): Interrupts {
  const listeners = new Set<() => void>();
  let count = 0;
  const received = (): void => {
    count += 1;
    if (count > 1 || listeners.size === 0) source.exit(EXIT.interrupted);
    for (const listener of listeners) listener();
  };
  return {
    on(listener) {
      if (listeners.size === 0) source.on("SIGINT", received);
      listeners.add(listener);
      // What begins after it was asked to end is not begun.
      if (count > 0) queueMicrotask(() => void (listeners.has(listener) && listener()));
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) source.off("SIGINT", received);
      };
    },
  };
}

interface Interruptible {
  readonly interrupts: Interrupts;
}

/** Ctrl-C aborts the signal for as long as the work lasts. */
export async function withInterrupt<T>(
  { interrupts }: Interruptible,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const interrupted = new AbortController();
  const stopListening = interrupts.on(() => interrupted.abort("interrupted by the user"));
  try {
    return await work(interrupted.signal);
  } finally {
    stopListening();
  }
}

const CODES = { SIGHUP: 129, SIGTERM: 143 } as const;

/** Called once, to end what is under way: a second signal ends the process as it would any other. */
export function onTermination(listener: (exitCode: number) => void): () => void {
  const received = (signal: NodeJS.Signals): void => {
    stop();
    listener(CODES[signal as keyof typeof CODES]);
  };
  for (const signal of Object.keys(CODES)) process.on(signal, received);
  return stop;

  function stop(): void {
    for (const signal of Object.keys(CODES)) process.off(signal, received);
  }
}

/** For a command that serves until a signal ends it: `ended` resolves to the exit code. */
export async function untilSignal<T>(
  { interrupts }: Interruptible,
  work: (ended: Promise<number>) => Promise<T>,
): Promise<T> {
  let end: (exitCode: number) => void = () => {};
  const ended = new Promise<number>((resolve) => {
    end = resolve;
  });
  const listening = [
    interrupts.on(() => end(EXIT.interrupted)),
    onTermination((code) => end(code)),
  ];
  try {
    return await work(ended);
  } finally {
    for (const stop of listening) stop();
  }
}
