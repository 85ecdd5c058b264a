// Reads the commands of a shell script without running any of it (PERM-16). It knows words, quotes,
// substitutions, redirections and what separates commands. A word that only the shell could tell (a
// variable, a pattern) ends what is known of its command; all else that is not understood is opaque.

import type { KnownCommand, ShellWord } from "./known-command.ts";
import { isAssignment, isHarmlessAssignment } from "./known-command.ts";

export interface ScriptCommands {
  readonly commands: readonly KnownCommand[];
  /** Some of it is not understood. */
  readonly opaque: boolean;
}

export function readShellScript(script: string): ScriptCommands {
  const reader = new ScriptReader(script, 0);
  reader.read();
  return { commands: reader.commands, opaque: reader.opaque || SPLIT_SIGN.test(script) };
}

/** The shell puts a line that continues together first, so these begin something else than they seem to. */
const SPLIT_SIGN = /[$({<>]\\\n/;

const MOST_NESTED = 20;

/** Behind these a new command begins. */
const RESERVED: ReadonlySet<string> = new Set(
  "! { } if then else elif fi while until do done".split(" "),
);

interface Word {
  /** Quotes taken off. */
  text: string;
  isQuoted: boolean;
  isPattern: boolean;
  hasBrace: boolean;
  isAssignment: boolean;
  /** What the part of it becomes that only the shell could tell. */
  unknown: Unknown | undefined;
}

type Unknown = Extract<ShellWord, object>["unknown"];

/** Whether it is between double quotes, where it becomes one word. */
type Place = "quoted" | "unquoted";

class ScriptReader implements ScriptCommands {
  readonly commands: KnownCommand[] = [];
  opaque = false;
  #at = 0;
  #words: string[] = [];
  #every: ShellWord[] = [];
  #open = false;
  #word: Word | undefined;
  #isRedirectTarget = false;
  #hereDocuments: { end: string; tabs: boolean }[] = [];
  readonly #script: string;
  readonly #nested: number;

  constructor(script: string, nested: number) {
    this.#script = script;
    this.#nested = nested;
  }

  /** Up to `end`, or to the end of the script. */
  read(end?: ")"): void {
    while (this.#at < this.#script.length) {
      const char = this.#next();
      if (char === end) return this.#endCommand();
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
      case "&":
        // Also in `&>`: to dash that is the end of a command and a redirection of the next one.
        return this.#endCommand();
      case "#":
        return this.#word === undefined ? this.#skipComment() : this.#addText(char);
      case "\\": {
        const next = this.#next();
        return next === "\n" ? undefined : this.#addText(next, true);
      }
      case "'":
        return this.#addText(this.#upTo("'"), true);
      case '"':
        return this.#takeDoubleQuoted();
      case "$":
        return this.#takeDollar("unquoted");
      case "`":
        return this.#takeBackquoted("unquoted");
      case "<":
      case ">":
        return this.#takeRedirection(char);
      case "(":
        // A function, an array or a pattern of some shell, unless a command may begin here. `((…))` is arithmetic.
        if (this.#word !== undefined || this.#every.length > 0) this.opaque = true;
        if (this.#peek() === "(") this.opaque = true;
        this.#endCommand();
        return this.#takeInner();
      case ")":
        // The pattern of a `case`, or a slip.
        this.opaque = true;
        return this.#endCommand();
      default:
        if (char === "*" || char === "?" || char === "[") this.#current().isPattern = true;
        if (char === "{") this.#current().hasBrace = true;
        if (char === "=") this.#noteAssignment();
        this.#addText(char);
    }
  }

  #takeDoubleQuoted(): void {
    this.#addText("", true);
    while (this.#at < this.#script.length) {
      const char = this.#next();
      if (char === '"') return;
      if (char === "\\" && '$`"\\\n'.includes(this.#peek())) {
        const escaped = this.#next();
        if (escaped !== "\n") this.#addText(escaped);
      } else if (char === "$") this.#takeDollar("quoted");
      else if (char === "`") this.#takeBackquoted("quoted");
      else this.#addText(char);
    }
    this.opaque = true;
  }

  #takeDollar(place: Place): void {
    const rest = this.#script.slice(this.#at, this.#at + 200);
    const [plain] = PLAIN_VARIABLE.exec(rest) ?? [];
    if (plain !== undefined) {
      this.#at += plain.length;
      this.#addUnknown(becomes(plain, place));
      // A subscript to zsh, which evaluates it.
      if (this.#peek() === "[") this.opaque = true;
    } else if (rest.startsWith("(")) {
      // Arithmetic: the names in it are evaluated, with any value.
      if (rest.startsWith("((")) this.opaque = true;
      this.#at += 1;
      this.#takeSubstitution(place);
    } else if (place === "quoted" && /^['"]/.test(rest)) this.#addText("$");
    else if (/^[{'"[~=^+]/.test(rest)) {
      // Operators of `${…}`, the escapes of `$'…'`, and what only some shells know: `$"…"`, `$[…]`, `$~x`.
      this.opaque = true;
      this.#addUnknown("words");
    } else this.#addText("$");
  }

  /** `$(…)`, `<(…)`: its commands are run, and what they write is not known. */
  #takeSubstitution(place: Place): void {
    this.#addUnknown(place === "quoted" ? "word" : "words");
    this.#takeInner();
  }

  #takeBackquoted(place: Place): void {
    this.#addUnknown(place === "quoted" ? "word" : "words");
    let script = "";
    while (this.#at < this.#script.length && this.#peek() !== "`") {
      if (this.#peek() === "\\") {
        const escaped = this.#script[this.#at + 1] ?? "";
        // Shells differ in whether this one loses its backslash.
        if (escaped === '"' && place === "quoted") this.opaque = true;
        if (!"$`\\".includes(escaped)) script += "\\";
        this.#at += 1;
      }
      script += this.#next();
    }
    if (this.#at >= this.#script.length || SPLIT_SIGN.test(script)) this.opaque = true;
    this.#at += 1;
    this.#adopt(script);
  }

  /** Up to the parenthesis that ends it. */
  #takeInner(): void {
    this.#at += this.#adopt(this.#script.slice(this.#at), ")");
  }

  /** How much of the inner script was read. */
  #adopt(script: string, end?: ")"): number {
    if (this.#nested >= MOST_NESTED) {
      this.opaque = true;
      return 0;
    }
    const inner = new ScriptReader(script, this.#nested + 1);
    inner.read(end);
    for (const command of inner.commands) this.commands.push(command);
    this.opaque ||= inner.opaque;
    return inner.#at;
  }

  #takeRedirection(char: string): void {
    const word = this.#word;
    // `2>`: a number right before the sign belongs to it.
    if (word !== undefined && isLiteral(word) && /^[0-9]+$/.test(word.text)) this.#word = undefined;
    // `{name}>`: a variable, whose subscript is evaluated.
    if (word?.hasBrace === true) this.opaque = true;
    this.#endWord();
    if (this.#peek() === "(") {
      this.#at += 1;
      return this.#takeSubstitution("quoted");
    }
    if (char === "<" && this.#peek() === "<") {
      this.#at += 1;
      if (this.#peek() !== "<") return this.#takeHereDocument();
      this.#at += 1;
    } else while (["&", "|", ">"].includes(this.#peek())) this.#at += 1;
    this.#isRedirectTarget = true;
  }

  #takeHereDocument(): void {
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
        const line = this.#upTo("\n", true);
        if ((tabs ? line.replace(/^\t+/, "") : line) === end) break;
      }
    }
    this.#hereDocuments = [];
  }

  #skipComment(): void {
    this.#upTo("\n", true);
    this.#at -= this.#script[this.#at - 1] === "\n" ? 1 : 0;
  }

  #upTo(mark: string, mayEnd = false): string {
    const found = this.#script.indexOf(mark, this.#at);
    if (found === -1 && !mayEnd) this.opaque = true;
    const until = found === -1 ? this.#script.length : found;
    const text = this.#script.slice(this.#at, until);
    this.#at = until + 1;
    return text;
  }

  #peek(): string {
    return this.#script[this.#at] ?? "";
  }

  #next(): string {
    const char = this.#peek();
    this.#at += 1;
    return char;
  }

  #current(): Word {
    return (this.#word ??= {
      text: "",
      isQuoted: false,
      isPattern: false,
      hasBrace: false,
      isAssignment: false,
      unknown: undefined,
    });
  }

  #addUnknown(unknown: Unknown): void {
    const word = this.#current();
    const isWider = word.unknown === "words" || unknown === "words";
    word.unknown = word.unknown === undefined ? unknown : isWider ? "words" : "word";
  }

  /** Only a name that is written as such is set; `"LANG=x/y"` is a program. */
  #noteAssignment(): void {
    const word = this.#current();
    if (isLiteral(word) && isAssignment(`${word.text}=`)) word.isAssignment = true;
  }

  #addText(text: string, isQuoted = false): void {
    const word = this.#current();
    word.text += text;
    word.isQuoted ||= isQuoted;
  }

  #endWord(): void {
    const word = this.#word;
    if (word === undefined) return;
    this.#word = undefined;
    if (this.#isRedirectTarget) {
      this.#isRedirectTarget = false;
      return;
    }
    const isFirst = this.#every.length === 0;
    if (isFirst && word.isAssignment) {
      if (word.unknown !== undefined || !isHarmlessAssignment(word.text)) this.opaque = true;
      return;
    }
    if (isFirst && !word.isQuoted && RESERVED.has(word.text)) return;
    const isUnsure = isUncertain(word, isFirst);
    const known = word.unknown === undefined ? { text: word.text } : {};
    this.#every.push(isUnsure ? { unknown: findUnknown(word), ...known } : word.text);
    if (isUnsure) this.#open = true;
    if (!this.#open) this.#words.push(word.text);
  }

  #endCommand(): void {
    this.#endWord();
    this.#isRedirectTarget = false;
    // The signs that end other commands are operators between `[[` and `]]`, and what is behind them is evaluated.
    if (this.#words[0] === "[[" && this.#every.at(-1) !== "]]") this.opaque = true;
    if (this.#every.length > 0) {
      const every = this.#open ? { every: this.#every } : {};
      this.commands.push({ words: this.#words, open: this.#open, ...every });
    }
    this.#words = [];
    this.#every = [];
    this.#open = false;
  }
}

/** Without operators: with them a value may be evaluated. */
const PLAIN_VARIABLE =
  /^(?:#?[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?!$-]|\{#?(?:[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?!$-])\})/;

function becomes(variable: string, place: Place): Unknown {
  if (/^(?:[#?!$]|\{[#?!$]\}|\{#.+\})$/.test(variable)) return "number";
  return place === "quoted" && !variable.includes("@") ? "word" : "words";
}

/** A number is one only on its own. */
function findUnknown({ text, unknown, isPattern, hasBrace }: Word): Unknown {
  if (unknown === undefined || isPattern || hasBrace) return "words";
  return unknown === "number" && text !== "" ? "word" : unknown;
}

function isLiteral({ isQuoted, unknown }: Word): boolean {
  return !isQuoted && unknown === undefined;
}

/** Only the shell knows what, and how many words, it becomes. */
function isUncertain(word: Word, isFirst: boolean): boolean {
  const { text, isPattern, hasBrace, unknown, isQuoted } = word;
  if (unknown !== undefined) return true;
  if (isPattern && text !== "[" && text !== "[[") return true;
  if (hasBrace && /,|\.\./.test(text)) return true;
  // `=program` of zsh.
  return isFirst && !isQuoted && text.startsWith("=");
}
