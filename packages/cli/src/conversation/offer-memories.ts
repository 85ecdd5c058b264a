// What agents proposed to remember, put to the user when a turn has ended: one key for each (MEM-3).

import { visibleLine } from "../output/index.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { Keyboard } from "./keyboard.ts";
import { printText } from "./print-text.ts";
import type { ProposedMemory } from "./slash-command.ts";

export async function offerMemories(
  proposed: readonly ProposedMemory[],
  host: {
    readonly terminal: Terminal;
    readonly keyboard: Keyboard;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { terminal, keyboard, signal } = host;
  const { dim } = terminal.colours;
  for (const memory of proposed) {
    if (signal.aborted) return;
    printText(terminal, `Proposed to remember: ${visibleLine(memory.text)}`);
    const question = "Remember it? [y]es / [n]o / [l]ater: ";
    const pressed = await keyboard.first(() =>
      terminal.readKey({ question, keys: ["y", "n", "l"], signal }),
    );
    const key = pressed.kind === "key" ? pressed.key : "l";
    if (key === "y") printText(terminal, await memory.accept(), dim);
    else if (key === "n") await memory.discard();
    else
      return printText(terminal, "Later: `soong memory extract` keeps all that is proposed.", dim);
  }
}
