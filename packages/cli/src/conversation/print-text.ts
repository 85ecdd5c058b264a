// Sentences on the screen, with whole words in each row.

import { visible, wrap } from "../output/index.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** Text from outside is made visible. */
export function printText(
  terminal: Pick<Terminal, "print" | "columns">,
  text: string,
  paint: (row: string) => string = (row) => row,
): void {
  const rows = visible(text)
    .split("\n")
    .flatMap((line) => (line === "" ? [""] : wrap(line, terminal.columns - 1)));
  terminal.print(rows.map(paint).join("\n"));
}

export function printError(
  terminal: Pick<Terminal, "print" | "columns" | "colours">,
  error: unknown,
): void {
  const message = error instanceof Error ? error.message : String(error);
  printText(terminal, message, terminal.colours.red);
}
