// Which kind of terminal this is: one with a screen, or one that only prints.

import { openPlainTerminal } from "./plain-terminal.ts";
import { openScreenTerminal } from "./screen-terminal.ts";
import type { Terminal, TerminalStreams } from "./terminal.ts";

export function openTerminal(streams: TerminalStreams): Terminal {
  const { stdin, stdout, env } = streams;
  const hasScreen = stdin.isTTY && stdout.isTTY && env["TERM"] !== "dumb";
  return hasScreen ? openScreenTerminal(streams) : openPlainTerminal(streams);
}
