// A list to choose from, in an open conversation or in a command at a terminal.

import { openTerminal } from "./screen-terminal.ts";
import type { ChoiceItem, Terminal } from "./terminal.ts";

export interface PickOne<Value> {
  /** One line, as a question: "Resume which session?". */
  readonly title: string;
  readonly items: readonly (ChoiceItem & { readonly value: Value })[];
  readonly signal?: AbortSignal;
}

/** Undefined: nothing was chosen, by Esc, Ctrl-C, the signal, or because the terminal is gone. */
export async function pickOne<Value>(
  terminal: Pick<Terminal, "readChoice">,
  { title, items, signal }: PickOne<Value>,
): Promise<Value | undefined> {
  const choice = await terminal.readChoice({ title, items, signal });
  return choice.kind === "chosen" ? items[choice.index]?.value : undefined;
}

/** For a command without a conversation: on stderr, so that stdout has only what was asked for. */
export async function pickAtTerminal<Value>(
  { stdin, env }: { readonly stdin: NodeJS.ReadStream; readonly env: Environment },
  options: PickOne<Value>,
): Promise<Value | undefined> {
  const terminal = openTerminal({ stdin, stdout: process.stderr, env });
  try {
    return await pickOne(terminal, options);
  } finally {
    terminal.close();
  }
}

type Environment = Readonly<Record<string, string | undefined>>;
