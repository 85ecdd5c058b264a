// The end of a process whose terminal is gone: its window was closed, or the connection to it. One place for all commands:
// however the command ended, the process ends as SIGHUP would have ended it.

import { closeSync } from "node:fs";
import { isatty } from "node:tty";

const ENDED_BY_SIGHUP = 129;

export function endWithTerminal(host: NodeJS.Process): void {
  const terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor));
  host.on("exit", () => {
    for (const descriptor of terminals) {
      if (isatty(descriptor)) continue;
      host.exitCode = ENDED_BY_SIGHUP;
      // Node puts the modes of its terminals back at the end, and aborts where that fails; it leaves out what is closed.
      closeSync(descriptor);
    }
  });
}
