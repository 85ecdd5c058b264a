// The process itself: from its arguments to its exit code.

import { closeSync } from "node:fs";
import { isatty } from "node:tty";
import { keepCompiledCode } from "./compile-cache.ts";
import { main } from "./index.ts";

const ENDED_BY_SIGHUP = 129;

endWithTerminal(process);
keepCompiledCode(process.env);
// Node's own code for a program that ends while it still waits.
process.exitCode = 13;
void main(process.argv.slice(2)).then((exitCode) => (process.exitCode = exitCode));

/** A process whose terminal is gone ends as SIGHUP would have ended it, with any command. */
function endWithTerminal(host: NodeJS.Process): void {
  const terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor));
  host.on("exit", () => {
    for (const descriptor of terminals) {
      if (isatty(descriptor)) continue;
      host.exitCode = ENDED_BY_SIGHUP;
      // Node restores the modes of its terminals at exit, and aborts where that fails; it skips what is closed.
      closeSync(descriptor);
    }
  });
}
