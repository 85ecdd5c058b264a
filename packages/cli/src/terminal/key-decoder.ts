// Keys from the bytes a terminal sends. Bytes come in pieces cut anywhere; a sequence no one knows is
// swallowed whole, and one that never continues is given up when the caller finds nothing follows.

import { StringDecoder } from "node:string_decoder";

/** Which key is meant by what a terminal sends for it. Keys that mean the same have one name. */
const CONTROLS = {
  "\u0001": "line_start",
  "\u0002": "left",
  "\u0003": "interrupt",
  "\u0004": "end_of_input",
  "\u0005": "line_end",
  "\u0006": "right",
  "\u0008": "backspace",
  "\t": "tab",
  "\n": "newline",
  "\u000b": "cut_to_line_end",
  "\u000c": "clear_screen",
  "\r": "enter",
  "\u000e": "down",
  "\u000f": "show_output",
  "\u0010": "up",
  "\u0015": "cut_to_line_start",
  "\u0017": "cut_word_left",
  "\u0019": "put_back",
  "\u001a": "suspend",
  "\u007f": "backspace",
} as const;

const WITH_ALT = {
  "\r": "newline",
  "\n": "newline",
  "\u0008": "cut_word_left",
  "\u007f": "cut_word_left",
  b: "word_left",
  d: "cut_word_right",
  f: "word_right",
  m: "show_raw",
} as const;

const NUMBERED = {
  1: "line_start",
  3: "delete",
  4: "line_end",
  7: "line_start",
  8: "line_end",
} as const;
const LETTERS = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  F: "line_end",
  H: "line_start",
  /** Shift-Tab. */
  Z: "next_mode",
} as const;
const LETTERS_BY_WORD = { C: "word_right", D: "word_left" } as const;
/** The keypad's Enter, and rxvt's arrows with Ctrl. */
const SS3_ONLY = { M: "enter", c: "word_right", d: "word_left" } as const;

type ValueOf<Table> = Table[keyof Table];
type KeyName =
  | ValueOf<typeof CONTROLS>
  | ValueOf<typeof WITH_ALT>
  | ValueOf<typeof NUMBERED>
  | ValueOf<typeof LETTERS>
  | ValueOf<typeof SS3_ONLY>
  | "escape";

export type Key =
  | { readonly kind: "text"; readonly text: string }
  /** Line breaks are `\n`. Long ones may come in several. */
  | { readonly kind: "paste"; readonly text: string }
  | { readonly kind: KeyName };

export function createKeyDecoder() {
  const utf8 = new StringDecoder("utf8");
  let waiting = "";
  let isPasting = false;

  return {
    push(bytes: Uint8Array): Key[] {
      // A paste whose end got lost must not swallow the one key that always works.
      if (isPasting && bytes.length === 1 && bytes[0] === CTRL_C) {
        isPasting = false;
        waiting = "";
        return [{ kind: "interrupt" }];
      }
      waiting += utf8.write(bytes);
      return decodeAll();
    },
    /** The beginning of something is there: call `giveUp` if nothing follows for a moment. */
    get isWaiting() {
      return waiting !== "";
    },
    giveUp(): Key[] {
      if (isPasting) return pasteSoFar();
      const left = waiting;
      waiting = "";
      // An ESC that nothing follows is the key; what else has begun with one means nothing.
      return left === ESC || left === ESC + ESC ? [{ kind: "escape" }] : [];
    },
  };

  function decodeAll(): Key[] {
    const keys: Key[] = [];
    for (;;) {
      if (isPasting) {
        const end = waiting.indexOf(PASTE_END);
        if (end < 0) {
          if (waiting.length > PASTE_PIECE) keys.push(...pasteSoFar());
          return keys;
        }
        keys.push(pasteEvent(waiting.slice(0, end)));
        waiting = waiting.slice(end + PASTE_END.length);
        isPasting = false;
        continue;
      }
      const next = decodeOne(waiting);
      if (next === "incomplete") return keys;
      waiting = waiting.slice(next.length);
      if (next.key === "paste_begins") isPasting = true;
      else if (next.key !== undefined) keys.push(next.key);
    }
  }

  /** All but what may be the beginning of the end, or of a line break. */
  function pasteSoFar(): Key[] {
    const kept = PASTE_END_BEGUN.exec(waiting)?.index ?? waiting.length;
    const text = waiting.slice(0, kept);
    waiting = waiting.slice(kept);
    return text === "" ? [] : [pasteEvent(text)];
  }
}

type Decoded =
  | { readonly length: number; readonly key: Key | "paste_begins" | undefined }
  | "incomplete";

function decodeOne(text: string): Decoded {
  if (text === "") return "incomplete";
  const plain = PLAIN.exec(text)?.[0];
  if (plain !== undefined) return { length: plain.length, key: { kind: "text", text: plain } };
  if (text.startsWith(ESC)) return decodeEscaped(text);
  return { length: 1, key: namedKey(lookUp(CONTROLS, text.charAt(0))) };
}

function decodeEscaped(text: string): Decoded {
  const second = text.charAt(1);
  switch (second) {
    case "":
      return "incomplete";
    case "[":
      return decodeCsi(text);
    case "O":
      return decodeSs3(text);
    // Answers of the terminal, each up to its end.
    case "]":
    case "P":
    case "_":
    case "^":
    case "X": {
      const end = ANSWER_END.exec(text);
      if (end !== null) return dropSequence(end.index + end[0].length);
      return text.length > LONGEST_ANSWER ? dropSequence(text.length) : "incomplete";
    }
    case ESC: {
      // Alt with a key that has a sequence of its own.
      if (text.length === 2) return "incomplete";
      if (text.charAt(2) !== "[" && text.charAt(2) !== "O") {
        return { length: 1, key: { kind: "escape" } };
      }
      const inner = decodeEscaped(text.slice(1));
      if (inner === "incomplete") return inner;
      return { length: inner.length + 1, key: withAlt(inner.key) };
    }
    default: {
      const alt = lookUp(WITH_ALT, second);
      if (alt !== undefined) return { length: 2, key: namedKey(alt) };
      // Alt with a letter that means nothing; but a control key means what it always does.
      return second < " "
        ? { length: 1, key: { kind: "escape" } }
        : dropSequence(1 + measureSequence(text, 1));
    }
  }
}

function decodeCsi(text: string): Decoded {
  const [all, parameters = "", final = ""] = CSI.exec(text) ?? [];
  if (all === undefined) return isUnfinished(text, CSI_BEGUN);
  if (all === PASTE_BEGIN) return { length: all.length, key: "paste_begins" };
  // F keys of the Linux console have a letter behind a second bracket; with a sign it is an answer.
  if (all.startsWith("\u001b[[") || /^[<-?]/.test(parameters)) return dropSequence(all.length);
  const numbers = parameters.split(";");
  const byWord = numbers.length > 1 && isByWord(numbers.at(-1));
  const name =
    final === "~" || final === "u" ? numberedKey(final, numbers, byWord) : letterKey(final, byWord);
  return { length: all.length, key: namedKey(name) };
}

function decodeSs3(text: string): Decoded {
  const [all, modifier = "", final = ""] = SS3.exec(text) ?? [];
  if (all === undefined) return isUnfinished(text, SS3_BEGUN);
  const name = lookUp(SS3_ONLY, final) ?? letterKey(final, isByWord(modifier));
  return { length: all.length, key: namedKey(name) };
}

/** The beginning of a sequence, or one that something else broke off. */
function isUnfinished(text: string, begun: RegExp): Decoded {
  const [beginning = ""] = begun.exec(text) ?? [];
  const isBroken = beginning.length < text.length || text.length > LONGEST_SEQUENCE;
  return isBroken ? dropSequence(beginning.length) : "incomplete";
}

function numberedKey(
  final: "~" | "u",
  numbers: readonly string[],
  byWord: boolean,
): KeyName | undefined {
  // Enter with a modifier, where a terminal tells it apart from Enter.
  if (final === "u") return numbers[0] === "13" ? enterWith(numbers[1]) : undefined;
  if (numbers[0] === "27") return numbers[2] === "13" ? enterWith(numbers[1]) : undefined;
  const name = lookUp(NUMBERED, numbers[0] ?? "");
  return name === "delete" && byWord ? "cut_word_right" : name;
}

function enterWith(modifier: string | undefined): KeyName {
  return modifier === undefined || modifier === "" || modifier === "1" ? "enter" : "newline";
}

/** With Alt or Ctrl. */
function isByWord(modifier: string | undefined): boolean {
  return ((Number.parseInt(modifier ?? "", 10) - 1) & (ALT | CTRL)) !== 0;
}

function letterKey(final: string, byWord: boolean): KeyName | undefined {
  return (byWord ? lookUp(LETTERS_BY_WORD, final) : undefined) ?? lookUp(LETTERS, final);
}

function withAlt(key: Key | "paste_begins" | undefined): Key | "paste_begins" | undefined {
  if (key === undefined || key === "paste_begins") return key;
  if (key.kind === "left") return { kind: "word_left" };
  if (key.kind === "right") return { kind: "word_right" };
  return key;
}

function lookUp<Name>(table: Readonly<Record<string, Name>>, given: string): Name | undefined {
  return table[given];
}

function namedKey(name: KeyName | undefined): Key | undefined {
  return name === undefined ? undefined : { kind: name };
}

function dropSequence(length: number): Decoded {
  return { length, key: undefined };
}

function measureSequence(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

function pasteEvent(text: string): Key {
  return { kind: "paste", text: text.replaceAll(/\r\n?/g, "\n") };
}

const ESC = "\u001b";
const CTRL_C = 3;
const ALT = 2;
const CTRL = 4;
const PASTE_BEGIN = "\u001b[200~";
const PASTE_END = "\u001b[201~";
/** A paste is handed on in pieces of this size, so that a huge one is not searched again and again. */
const PASTE_PIECE = 65_536;
const LONGEST_SEQUENCE = 64;
const LONGEST_ANSWER = 65_536;

/* oxlint-disable no-control-regex -- control characters are what it is about */
const PLAIN = /^[^\u0000-\u001f\u007f-\u009f]+/;
const CSI = /^\u001b\[\[?([0-?]*)[ -/]*([@-Z\\-~])/;
const CSI_BEGUN = /^\u001b\[\[?[0-?]*[ -/]*/;
const SS3 = /^\u001bO([\d;]*)([ -/:<-~])/;
const SS3_BEGUN = /^\u001bO[\d;]*/;
/* Ctrl-C is no part of any answer. */
const ANSWER_END = /\u0007|\u001b\\|(?=\u0003)/;
const PASTE_END_BEGUN = /(?:\u001b(?:\[(?:2(?:01?)?)?)?|\r)$/;
/* oxlint-enable no-control-regex */
