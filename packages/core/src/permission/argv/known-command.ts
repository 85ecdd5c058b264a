// A command as far as its words are known, and what a look at one found inside it.

/** The words known from the front; `open` where others that are not known may follow. */
export interface KnownCommand {
  readonly words: readonly string[];
  readonly open: boolean;
  /** All words, where it is open and the script that has it says what is known of them. */
  readonly every?: readonly ShellWord[];
}

/** A word of a script: its text, or what a word becomes that only the shell could tell. */
export type ShellWord =
  | string
  | {
      readonly unknown: "number" | "word" | "words";
      /** The pattern or the braces that the shell makes names of, where no variable is among them. */
      readonly text?: string;
    };

/** What a command runs besides itself. */
export interface InnerCommands {
  /** The commands it names. */
  readonly commands: readonly KnownCommand[];
  /** It may run something that it does not name. */
  readonly opaque: boolean;
  /** The arguments that say what else is run: an allow has to spell them out. */
  readonly runArguments: readonly number[] | "all";
  /** To run what it is given is what the program is for: an allow by its name allows that. */
  readonly by_nature: boolean;
}

export function runs(
  commands: readonly KnownCommand[],
  runArguments: InnerCommands["runArguments"],
  { opaque = false, by_nature = false } = {},
): InnerCommands {
  return { commands, opaque, runArguments, by_nature };
}

export const RUNS_NOTHING: InnerCommands = Object.freeze(runs([], []));

/** An option or operand that could not be read: anything may follow from it. */
export const NOT_UNDERSTOOD: InnerCommands = Object.freeze(runs([], "all", { opaque: true }));

/** Nothing is known of the program. An allow by its name allows what it does. */
export const ANYTHING: InnerCommands = Object.freeze({ ...NOT_UNDERSTOOD, by_nature: true });

export function mergeInner(all: readonly InnerCommands[]): InnerCommands {
  const runArguments = all.map((one) => one.runArguments);
  return {
    commands: all.flatMap((one) => one.commands),
    opaque: all.some((one) => one.opaque),
    runArguments: runArguments.includes("all")
      ? "all"
      : [...new Set(runArguments.flat() as number[])],
    by_nature: all.every((one) => one.by_nature || one.runArguments.length === 0),
  };
}

/** The indexes from `start` up to, not including, `end`. */
export function indexes(start: number, end: number): number[] {
  return Array.from({ length: Math.max(0, end - start) }, (_, index) => start + index);
}

/**
 * `NAME=value` of a variable that changes no more than how a program's output looks. Its value may be evaluated by a shell that
 * takes it for a number, so it is plain text.
 */
export function isHarmlessAssignment(word: string): boolean {
  return /^(?:LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|COLORTERM|NO_COLOR|FORCE_COLOR|CLICOLOR|COLUMNS|LINES|CI|DEBUG|NODE_ENV)\+?=[\w.,:@/+*-]*$/.test(
    word,
  );
}

/** `NAME=value` */
export function isAssignment(word: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*\+?=/.test(word);
}
