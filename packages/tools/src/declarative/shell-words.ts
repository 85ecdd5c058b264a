// The words of the commands in a script, as far as templates need them: whether a place begins a word, whether
// that word is run as a program, whether the options of its command are closed.

import { baseName } from "@soong/core/internal";

export class ShellWords {
  #command: Command = emptyCommand();
  /** The commands around a substitution, which continue behind it. */
  readonly #around: Command[] = [];

  static endsWord(char: string): boolean {
    return BLANK.test(char) || OPERATOR.test(char);
  }

  get isOpen(): boolean {
    return this.#command.word !== undefined;
  }

  /** Values alone could make an option here: there is nothing before, or only values that may be empty. */
  get mayBeginOption(): boolean {
    return !this.#optionsAreClosed && /^\0*$/.test(this.#command.word ?? "");
  }

  get isRedirectTarget(): boolean {
    return this.#command.redirects !== undefined;
  }

  get #optionsAreClosed(): boolean {
    return this.isRedirectTarget || this.#command.words.includes("--");
  }

  /** Why no value may stand here, as a clause; undefined when one may. */
  templateProblem(): string | undefined {
    const { word = "", words, redirects } = this.#command;
    const isAssignment = ASSIGNMENT.test(word);
    // Some shells expand what is there once more.
    if (redirects === "to a descriptor") return "would choose a file descriptor";
    const [program] = words;
    if (program === undefined) {
      return this.isRedirectTarget || isAssignment ? undefined : "would be run as a program";
    }
    if (SETS_VARIABLES.has(program) && !isAssignment)
      return `would choose a variable of "${program}"`;
    return readsScripts(words) ? `would be read by "${program}" as part of a script` : undefined;
  }

  addText(text: string): void {
    this.#command.word = (this.#command.word ?? "") + text;
  }

  /** A value has no text we know; it keeps a word from being taken for another. */
  addValue(): void {
    this.addText("\0");
  }

  openSubstitution(): void {
    this.addText("$");
    this.#around.push(this.#command);
    this.#command = emptyCommand();
  }

  /** Takes a character that is no quote, expansion or comment; how many it took. */
  take(script: string, at: number): number {
    const char = script[at] ?? "";
    if (!ShellWords.endsWord(char)) {
      this.addText(char);
      return 1;
    }
    if (char === "<" || char === ">") {
      // `2>`: a number right before the sign belongs to it.
      if (/^[0-9]+$/.test(this.#command.word ?? "")) this.#command.word = undefined;
      this.#endWord();
      const next = script[at + 1] ?? "";
      this.#command.redirects = next === "&" ? "to a descriptor" : "to a file";
      return ["&", "|", ">"].includes(next) ? 2 : 1;
    }
    this.#endWord();
    if (BLANK.test(char)) return 1;
    this.#command = (char === ")" ? this.#around.pop() : undefined) ?? emptyCommand();
    return 1;
  }

  #endWord(): void {
    const { word, words, redirects } = this.#command;
    if (word === undefined) return;
    this.#command.word = undefined;
    this.#command.redirects = undefined;
    const isNoWord = words.length === 0 && (ASSIGNMENT.test(word) || RESERVED.has(word));
    if (redirects === undefined && !isNoWord) words.push(word);
  }
}

interface Command {
  /** The word so far; quotes taken off. Undefined between words. */
  word: string | undefined;
  /** The finished words, without assignments, redirections and reserved words. */
  words: string[];
  /** Where the next word is the target of a redirection. */
  redirects: "to a file" | "to a descriptor" | undefined;
}

function emptyCommand(): Command {
  return { word: undefined, words: [], redirects: undefined };
}

function readsScripts(words: readonly string[]): boolean {
  const [program = ""] = words;
  if (RUNS_ITS_WORDS.has(program)) return true;
  const isShell = SHELLS.has(baseName(program));
  return isShell && words.some((word) => /^-[A-Za-z]*c/.test(word));
}

const BLANK = /[ \t]/;
const OPERATOR = /[\n;&|()<>]/;
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*=/;

/** Behind these a new command begins. */
const RESERVED: ReadonlySet<string> = new Set(
  "! { } if then else elif fi while until do done esac time".split(" "),
);

/** They read their words once more, or run them: quotes that held before hold no longer. */
const RUNS_ITS_WORDS: ReadonlySet<string> = new Set(
  "eval . source trap alias exec command builtin let declare typeset [[".split(" "),
);

const SETS_VARIABLES: ReadonlySet<string> = new Set(
  "export readonly local read unset getopts".split(" "),
);

const SHELLS: ReadonlySet<string> = new Set("sh bash dash ash ksh mksh zsh busybox".split(" "));
