// Reads the commands of a shell script without running any of it (PERM-16). It knows words, quotes,
// substitutions, redirections and what separates commands. A word that only the shell could tell (a
// variable, a pattern) ends what is known of its command; whatever else is not understood is opaque.

import type { KnownCommand } from "./known-command.ts";
import { assignedName, isHarmlessVariable } from "./known-command.ts";

export interface ScriptCommands {
  readonly commands: readonly KnownCommand[];
  /** Some of it is not understood. */
  readonly opaque: boolean;
}

export function readShellScript(script: string): ScriptCommands {
  const reader = new ScriptReader(script, 0);
  reader.read();
  return reader;
}

const MOST_NESTED = 20;

/** Behind these a new command begins. */
const RESERVED: ReadonlySet<string> = new Set(
  "! { } if then else elif fi while until do done".split(" "),
);

class ScriptReader implements ScriptCommands {
  readonly commands: KnownCommand[] = [];
  opaque = false;
  readonly #script: string;
  readonly #nested: number;
  #at = 0;
  #words: string[] = [];
  #open = false;
  #word: Word | undefined;
  #isRedirectTarget = false;
  #hereDocuments: { end: string; tabs: boolean }[] = [];

  constructor(script: string, nested: number) {
    this.#script = script;
    this.#nested = nested;
  }

  /** Up to `end`, or to the end of the script. */
  read(end?: ")"): void {
    while (this.#at < this.#script.length) {
      const char = this.#script[this.#at] ?? "";
      this.#at += 1;
      if (char === end) {
        this.#endCommand();
        return;
      }
      this.#take(char);
    }
    // Quotes or parentheses without an end are the shell's to make sense of.
    if (end !== undefined) this.opaque = true;
    this.#endCommand();
  }

  #take(char: string): void {
    switch (char) {
      case " ":
      case "\t":
        return this.#endWord();
      case "\n":
        this.#endCommand();
        return this.#skipHereDocuments();
      case ";":
      case "|":
        return this.#endCommand();
      case "&":
        return this.#peek() === ">" ? this.#endWord() : this.#endCommand();
      case "#":
        return this.#word === undefined ? this.#skipComment() : this.#addText(char);
      case "\\":
        return this.#takeEscaped();
      case "'":
        return this.#addQuoted(this.#upTo("'"));
      case '"':
        return this.#takeDoubleQuoted();
      case "$":
        return this.#takeDollar();
      case "`":
        return this.#takeBackquoted();
      case "<":
      case ">":
        return this.#takeRedirection(char);
      case "(":
        return this.#takeGroup();
      case ")":
        // The pattern of a `case`, or a slip.
        this.opaque = true;
        return this.#endCommand();
      default:
        if (char === "*" || char === "?" || char === "[") this.#current().isPattern = true;
        if (char === "{") this.#current().hasBrace = true;
        this.#addText(char);
    }
  }

  #takeEscaped(): void {
    const next = this.#peek();
    this.#at += 1;
    if (next !== "\n") this.#addQuoted(next);
  }

  #takeDoubleQuoted(): void {
    const word = this.#current();
    word.isQuoted = true;
    while (this.#at < this.#script.length) {
      const char = this.#script[this.#at] ?? "";
      this.#at += 1;
      if (char === '"') return;
      if (char === "\\" && '$`"\\\n'.includes(this.#peek())) {
        if (this.#peek() !== "\n") word.text += this.#peek();
        this.#at += 1;
      } else if (char === "$") this.#takeDollar();
      else if (char === "`") this.#takeBackquoted();
      else word.text += char;
    }
    this.opaque = true;
  }

  #takeDollar(): void {
    const rest = this.#script.slice(this.#at, this.#at + 200);
    const [plain] =
      /^(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?!$-]|\{[A-Za-z0-9_@*#?!-]+\})/.exec(rest) ?? [];
    if (plain !== undefined) {
      this.#at += plain.length;
      this.#current().isUnknown = true;
    } else if (rest.startsWith("(")) {
      this.#at += 1;
      this.#takeSubstitution();
    } else if (/^[{'"]/.test(rest)) {
      // Operators of `${…}`, the escapes of `$'…'`, and `$"…"`, which some shells know and some do not.
      this.opaque = true;
      this.#current().isUnknown = true;
    } else this.#addText("$");
  }

  /** `$(…)`, `<(…)`: its commands are run, and what they write is not known. */
  #takeSubstitution(): void {
    this.#current().isUnknown = true;
    const inner = new ScriptReader(this.#script.slice(this.#at), this.#nested + 1);
    if (this.#nested >= MOST_NESTED) this.opaque = true;
    else this.#at += this.#adopt(inner, ")");
  }

  #takeBackquoted(): void {
    this.#current().isUnknown = true;
    let script = "";
    while (this.#at < this.#script.length && this.#peek() !== "`") {
      if (this.#peek() === "\\") this.#at += 1;
      script += this.#peek();
      this.#at += 1;
    }
    if (this.#at >= this.#script.length || this.#nested >= MOST_NESTED) this.opaque = true;
    this.#at += 1;
    if (this.#nested < MOST_NESTED) this.#adopt(new ScriptReader(script, this.#nested + 1));
  }

  /** How much of its script the inner reader took. */
  #adopt(inner: ScriptReader, end?: ")"): number {
    inner.read(end);
    for (const command of inner.commands) this.commands.push(command);
    this.opaque ||= inner.opaque;
    return inner.#at;
  }

  #takeGroup(): void {
    // A function, an array or a pattern of some shell, unless a command may begin here.
    if (this.#word !== undefined || this.#words.length > 0 || this.#open) this.opaque = true;
    this.#endCommand();
    const inner = new ScriptReader(this.#script.slice(this.#at), this.#nested + 1);
    if (this.#nested >= MOST_NESTED) this.opaque = true;
    else this.#at += this.#adopt(inner, ")");
  }

  #takeRedirection(char: string): void {
    // `2>`: a number right before the sign belongs to it.
    if (/^[0-9]+$/.test(this.#word?.text ?? "")) this.#word = undefined;
    this.#endWord();
    if (this.#peek() === "(") {
      this.#at += 1;
      return this.#takeSubstitution();
    }
    if (char === "<" && this.#peek() === "<") return this.#takeHereDocument();
    while (["&", "|", ">"].includes(this.#peek())) this.#at += 1;
    this.#isRedirectTarget = true;
  }

  #takeHereDocument(): void {
    this.#at += 1;
    if (this.#peek() === "<") {
      this.#at += 1;
      this.#isRedirectTarget = true;
      return;
    }
    this.opaque = true;
    const [all = "", dash = "", end = ""] =
      /^(-?)[ \t]*((?:\\.|'[^'\n]*'|"[^"\n]*"|[^\s;&|<>()])*)/.exec(
        this.#script.slice(this.#at, this.#at + 1000),
      ) ?? [];
    this.#at += all.length;
    this.#hereDocuments.push({ end: end.replaceAll(/['"\\]/g, ""), tabs: dash !== "" });
  }

  #skipHereDocuments(): void {
    for (const { end, tabs } of this.#hereDocuments) {
      while (this.#at < this.#script.length) {
        const line = this.#upTo("\n", "may_end");
        if ((tabs ? line.replace(/^\t+/, "") : line) === end) break;
      }
    }
    this.#hereDocuments = [];
  }

  #skipComment(): void {
    this.#upTo("\n", "may_end");
    this.#at -= this.#script[this.#at - 1] === "\n" ? 1 : 0;
  }

  #upTo(mark: string, atTheEnd: "may_end" | "must_not_end" = "must_not_end"): string {
    const found = this.#script.indexOf(mark, this.#at);
    if (found === -1 && atTheEnd === "must_not_end") this.opaque = true;
    const until = found === -1 ? this.#script.length : found;
    const text = this.#script.slice(this.#at, until);
    this.#at = until + 1;
    return text;
  }

  #peek(): string {
    return this.#script[this.#at] ?? "";
  }

  #current(): Word {
    this.#word ??= {
      text: "",
      isQuoted: false,
      isPattern: false,
      hasBrace: false,
      isUnknown: false,
    };
    return this.#word;
  }

  #addText(text: string): void {
    this.#current().text += text;
  }

  #addQuoted(text: string): void {
    const word = this.#current();
    word.text += text;
    word.isQuoted = true;
  }

  #endWord(): void {
    const word = this.#word;
    if (word === undefined) return;
    this.#word = undefined;
    if (this.#isRedirectTarget) {
      this.#isRedirectTarget = false;
      return;
    }
    if (this.#open) return;
    const isFirst = this.#words.length === 0;
    const assigned = isFirst ? assignedName(word.text) : undefined;
    if (assigned !== undefined) {
      if (!isHarmlessVariable(assigned)) this.opaque = true;
      return;
    }
    if (isFirst && !word.isQuoted && RESERVED.has(word.text)) return;
    if (isUncertain(word, isFirst)) this.#open = true;
    else this.#words.push(word.text);
  }

  #endCommand(): void {
    this.#endWord();
    this.#isRedirectTarget = false;
    if (this.#words.length > 0 || this.#open) {
      this.commands.push({ words: this.#words, open: this.#open });
    }
    this.#words = [];
    this.#open = false;
  }
}

interface Word {
  /** Quotes taken off. */
  text: string;
  isQuoted: boolean;
  isPattern: boolean;
  hasBrace: boolean;
  isUnknown: boolean;
}

/** Only the shell knows what, and how many words, it becomes. */
function isUncertain(word: Word, isFirst: boolean): boolean {
  const { text, isPattern, hasBrace, isUnknown, isQuoted } = word;
  if (isUnknown) return true;
  if (isPattern && text !== "[" && text !== "[[") return true;
  if (hasBrace && /,|\.\./.test(text)) return true;
  // `=program` of zsh.
  return isFirst && !isQuoted && text.startsWith("=");
}
