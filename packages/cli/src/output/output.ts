// Where a command's words go: what was asked for on stdout, everything else on stderr, in colours and columns. A reader
// that goes away (`| head -1`) is no error: what is written after that is dropped, and commands may look and stop.

import type { Writable } from "node:stream";
import { visibleJson, type Redactor } from "@soong/core";
import { exactText } from "@soong/core/internal";
import { graphemeWidth, measureWidth, splitGraphemes } from "./grapheme-width.ts";

/** A stream as the process has them; a terminal knows its width. */
export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

export type Output = ReturnType<typeof createOutput>;

/** `soong.<command>/<version>`: the version changes when a reader of the old one would misread. */
export type RecordSchema = `soong.${string}/${number}`;

const DEFAULT_WIDTH = 80;
const MIN_WIDTH = 40;

export function createOutput(
  stdout: OutputStream,
  stderr: OutputStream,
  env: Readonly<Record<string, string | undefined>>,
) {
  let isClosed = false;
  let lost: string | undefined;
  let redactor: Redactor | undefined;
  const noteColours = coloursFor(stderr, env);
  stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
    isClosed = true;
    if (code !== "EPIPE") lost ??= message;
    stdout.emit("drain");
  });
  // No one can read what would be reported.
  stderr.on("error", () => {});

  return {
    /** A line for users, on stdout. Text from outside is made visible before. */
    line: (text = "") => write(`${redact(text)}\n`),
    /** A part of a line, as it comes. */
    text: (text: string) => write(redact(text)),
    /** A record of the contract, on stdout: one line of JSON. Data has no `schema` of its own. */
    record(schema: RecordSchema, data: object): void {
      write(`${visibleJson({ schema, ...redactData(data) })}\n`);
    },
    /** A record of another standard, on stdout: one line of JSON. */
    json(data: object): void {
      write(`${visibleJson(redactData(data))}\n`);
    },
    /** From now on secrets in what is printed are replaced (REDACT-3). */
    hide(given: Redactor): void {
      redactor = given;
    },
    /** On stderr: what happens, what went wrong, what is asked. */
    note(text: string, colour?: "dim" | "red"): void {
      const shown = redact(text);
      stderr.write(`${colour === undefined ? shown : noteColours[colour](shown)}\n`);
    },
    /** For a question: no line break behind it. */
    prompt: (text: string) => void stderr.write(text),
    colours: coloursFor(stdout, env),
    noteColours,
    /** Columns of stdout; 80 where it is no terminal. */
    get width() {
      return stdout.isTTY === true
        ? Math.max(MIN_WIDTH, stdout.columns ?? DEFAULT_WIDTH)
        : DEFAULT_WIDTH;
    },
    /** No one reads stdout any more. */
    get isClosed() {
      return isClosed;
    },
    /** Why what was written got lost, other than that no one wanted it; such as a full disk. */
    get lost() {
      return lost;
    },
    /** When the reader of stdout has room again, or is gone. */
    async drained(): Promise<void> {
      // An error of the last write is reported in the next turn.
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
      if (isClosed || !stdout.writableNeedDrain) return;
      await new Promise<void>((resolve) => {
        stdout.once("drain", resolve);
      });
    },
  };

  function redact(text: string): string {
    return redactor?.text(text) ?? text;
  }

  function redactData(data: object): object {
    return redactor?.value(data) ?? data;
  }

  function write(text: string): void {
    if (!isClosed) stdout.write(text);
  }
}

type Colour = (text: string) => string;

export type Colours = Readonly<Record<keyof typeof CODES, Colour>>;

/** On a terminal, unless NO_COLOR is set; elsewhere only if FORCE_COLOR is. */
export function coloursFor(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): Colours {
  const isOn = isColoured(stream, env);
  const colours = Object.entries(CODES).map(([name, [on, off]]): [string, Colour] => [
    name,
    (text) => (isOn && text !== "" ? `\u001b[${on}m${text}\u001b[${off}m` : text),
  ]);
  return Object.fromEntries(colours) as Colours;
}

function isColoured(
  { isTTY = false }: { readonly isTTY?: boolean },
  { NO_COLOR = "", FORCE_COLOR, TERM }: Readonly<Record<string, string | undefined>>,
): boolean {
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== "") {
    return FORCE_COLOR !== "0" && FORCE_COLOR !== "false";
  }
  return isTTY && NO_COLOR === "" && TERM !== "dumb";
}

const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  italic: [3, 23],
  underline: [4, 24],
  strike: [9, 29],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  magenta: [35, 39],
  cyan: [36, 39],
} as const;

/** A unified diff: lines that come are green, lines that go are red. */
export function renderDiff(diff: string, colours: Colours): string {
  return exactText(diff)
    .split("\n")
    .map((line) => {
      if (line.startsWith("+++") || line.startsWith("---")) return colours.bold(line);
      if (line.startsWith("@@")) return colours.cyan(line);
      if (line.startsWith("+")) return colours.green(line);
      if (line.startsWith("-")) return colours.red(line);
      return line;
    })
    .join("\n");
}

/** Cut with an ellipsis where it is wider. */
export function fit(text: string, width: number): string {
  if (measureWidth(text) <= width) return text;
  let taken = "";
  let room = width - 1;
  for (const grapheme of splitGraphemes(text)) {
    room -= graphemeWidth(grapheme);
    if (room < 0) break;
    taken += grapheme;
  }
  return `${taken}…`;
}

/** In lines of at most this width, behind an indent; a longer word has a line of its own. */
export function wrap(text: string, width: number, indent = ""): string[] {
  const lines: string[] = [];
  let line = "";
  for (const [part] of text.matchAll(PARTS)) {
    const word = part.trimStart();
    const longer = line === "" ? word : line + (word === part ? "" : " ") + word;
    if (line !== "" && measureWidth(longer) + indent.length > width) {
      lines.push(indent + line);
      line = word;
    } else line = longer;
  }
  if (line !== "") lines.push(indent + line);
  return lines;
}

/** A word with the blanks before it; Chinese and Japanese break between characters, and not before what closes. */
const PARTS =
  /\s*(?:[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}][\p{M}\p{Pe}\p{Pf}\p{Po}ー々]*|[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+)/gu;

/** Padded to a width, by what is seen of it. */
export function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - measureWidth(text)));
}
