// Signals to the process: Ctrl-C, and those that end it.

import { EXIT } from "../output/index.ts";

export interface Interrupts {
  /** Called at the first one. Without a listener, the first one ends the process. */
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
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) source.off("SIGINT", received);
      };
    },
  };
}

const CODES: readonly (readonly [NodeJS.Signals, number])[] = [
  ["SIGHUP", 129],
  ["SIGTERM", 143],
];

/** Called once, to end what is under way: a second signal ends the process as it would any other. */
export function onTermination(listener: (exitCode: number) => void): () => void {
  const handlers = CODES.map(([signal, code]) => {
    const handler = (): void => {
      stop();
      listener(code);
    };
    process.on(signal, handler);
    return [signal, handler] as const;
  });
  return stop;

  function stop(): void {
    for (const [signal, handler] of handlers) process.off(signal, handler);
  }
}

export interface End {
  /** Resolves to the exit code. */
  readonly bySignal: Promise<number>;
  stopListening(): void;
}

/** For a command that serves until a signal ends it. */
export function listenForEnd({ interrupts }: { readonly interrupts: Interrupts }): End {
  let end: (exitCode: number) => void = () => {};
  const bySignal = new Promise<number>((resolve) => {
    end = resolve;
  });
  const listening = [
    interrupts.on(() => end(EXIT.interrupted)),
    onTermination((exitCode) => end(exitCode)),
  ];
  return {
    bySignal,
    stopListening() {
      for (const stop of listening) stop();
    },
  };
}
