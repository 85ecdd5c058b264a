// For a command that serves until it is told to end: by Ctrl-C, or by whoever ends processes.

import { EXIT } from "../output/index.ts";
import type { CommandContext } from "./context.ts";
import { onTermination } from "./termination.ts";

export interface End {
  /** With the exit code it asks for. */
  readonly bySignal: Promise<number>;
  stopListening(): void;
}

export function listenForEnd({ interrupts }: Pick<CommandContext, "interrupts">): End {
  let end: (exitCode: number) => void = () => {};
  const bySignal = new Promise<number>((settle) => {
    end = settle;
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
