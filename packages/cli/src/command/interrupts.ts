// Ctrl-C: the first one asks what is under way to end and be recorded, the second ends the process at once.

import { EXIT } from "../output/index.ts";

export interface Interrupts {
  /** Called at the first one. Without a listener, the first one ends the process. */
  on(listener: () => void): () => void;
}

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
