// The two things that can be read, each as what it does with a key: a line with editing, and one key as the
// answer to a question. Neither knows where keys come from.

import { visibleLine, splitGraphemes, measureWidth } from "../output/index.ts";
import type { Key } from "./key-decoder.ts";
import {
  createLineEditor,
  pressKey,
  replaceWord,
  wordAtCursor,
  type LineEditor,
} from "./line-editor.ts";
import type { Screen } from "./screen.ts";
import type { PressedKey, ReadInput, ReadKey, Stoppable, Typed } from "./terminal.ts";

export interface Read extends Stoppable {
  press(key: Key): void;
  /** Every key is its own, shortcuts too. */
  readonly takesShortcuts?: true;
}

export interface Readable {
  readonly screen: Screen;
  readonly strayKeys: ReturnType<typeof createStrayKeys>;
  readonly columns: () => number;
}

export function readLine(
  { screen, strayKeys, columns }: Readable,
  options: ReadInput,
  done: (typed: Typed) => void,
): Read {
  const { prompt, history, initial } = options;
  let editor = createLineEditor(history, initial);
  let isOver = false;
  /** Keys behind a Tab that is still at work. */
  let held: Key[] | undefined;
  show();

  return {
    press,
    stop(why) {
      isOver = true;
      if (why === "aborted") held?.splice(0).forEach((key) => strayKeys.add(key));
      screen.input(undefined);
      done(why === "end" ? { kind: "end" } : { kind: why, text: editor.text });
    },
  };

  function press(key: Key): void {
    strayKeys.typing();
    if (held !== undefined) held.push(key);
    else if (key.kind === "tab") complete();
    else if (!pressOwn(key)) edit(key);
  }

  /** A key of the caller's. */
  function pressOwn(key: Key): boolean {
    const text = options.keys?.[key.kind]?.(editor.text);
    // The caller may have ended this read.
    if (isOver) return true;
    if (text !== undefined) {
      editor = createLineEditor(history, text);
      show();
      return true;
    }
    if (key.kind !== "escape" || options.keys?.escape !== undefined) return false;
    isOver = true;
    screen.input(undefined);
    done({ kind: "escape", text: editor.text });
    return true;
  }

  function edit(key: Key): void {
    const step = pressKey(editor, key.kind === "paste" ? pasted(key) : key);
    if (step.kind === "editing") {
      editor = step.editor;
      show();
      return;
    }
    isOver = true;
    strayKeys.sent();
    const isEchoed = options.isEchoed?.(editor.text) ?? true;
    if (step.kind === "sent" && isEchoed) screen.sent({ prompt, ...editor });
    screen.input(undefined);
    done(step.kind === "sent" ? { kind: "text", text: editor.text } : { kind: "end" });
  }

  /** Long pastes come in pieces, none of which is a path. */
  function pasted(key: { readonly kind: "paste"; readonly text: string }): Key {
    return { kind: "paste", text: options.paste?.(key.text) ?? key.text };
  }

  function show(notes: readonly string[] = []): void {
    const { pinned = false } = options;
    screen.input({ prompt, text: editor.text, cursor: editor.cursor, pinned }, notes);
  }

  /** What is typed behind Tab waits for it, but not long: candidates may be far away. */
  function complete(): void {
    held = [];
    const waited = setTimeout(release, LONGEST_HELD_MS);
    void offerCandidates().then(() => {
      clearTimeout(waited);
      release();
    });
  }

  function release(): void {
    const keys = held ?? [];
    held = undefined;
    for (const key of keys) {
      if (isOver) strayKeys.add(key);
      else press(key);
    }
  }

  async function offerCandidates(): Promise<void> {
    const asked = editor;
    const { word, line } = wordAtCursor(asked);
    const candidates = await candidatesFor(options, word, line);
    // Typed on meanwhile: this is about another word.
    if (isOver || editor !== asked || candidates.length === 0) return;
    const common = commonBeginning(candidates);
    editor = betterWord(asked, word, common);
    show(candidates.length === 1 ? [] : candidateLines(candidates, columns() - 1, MOST_LINES));
  }
}

/** Shown once no one is in the middle of typing something else; only keys after that can be the answer. */
export function readOneKey(
  { screen, strayKeys }: Readable,
  { question, keys }: ReadKey,
  done: (pressed: PressedKey) => void,
): Read {
  let isShown = false;
  let waiting: NodeJS.Timeout | undefined;
  showWhenQuiet();

  return {
    press(key) {
      if (key.kind === "escape") {
        clearTimeout(waiting);
        if (isShown) screen.input(undefined);
        return done({ kind: "escape" });
      }
      if (!isShown) strayKeys.add(key);
      if (!isShown || key.kind !== "text") return;
      const pressed = Array.from(key.text.toLowerCase()).find((one) => keys.includes(one));
      if (pressed === undefined) return;
      strayKeys.answered();
      screen.sent({ prompt: question, text: pressed, cursor: 0 });
      screen.input(undefined);
      done({ kind: "key", key: pressed });
    },
    stop(why) {
      clearTimeout(waiting);
      if (isShown) screen.input(undefined);
      done({ kind: why });
    },
  };

  function showWhenQuiet(): void {
    const wait = strayKeys.msUntilQuiet();
    isShown = wait === 0;
    if (isShown) screen.input({ prompt: question, text: "", cursor: 0 });
    else waiting = setTimeout(showWhenQuiet, wait);
  }
}

/** None where they cannot be found: what is typed continues. */
async function candidatesFor(
  options: ReadInput,
  word: string,
  line: string,
): Promise<readonly string[]> {
  try {
    return (await options.complete?.(word, line)) ?? [];
  } catch {
    return [];
  }
}

/** Candidates that agree on less than what is typed, such as on its case, take nothing away. */
function betterWord(editor: LineEditor, word: string, common: string): LineEditor {
  return common.length < word.length ? editor : replaceWord(editor, common);
}

const MOST_LINES = 6;
const LONGEST_HELD_MS = 200;

/**
 * Keys that were pressed while nothing was read. A question must not be answered by what was meant for something else: it
 * waits until the typing pauses. What was typed for the next line is kept for it.
 */
export function createStrayKeys(now: () => number = Date.now) {
  let kept: Key[] = [];
  let last: { readonly of: "answer" | "line"; readonly at: number } | undefined;

  return {
    /** A key came while nothing was read. */
    add(key: Key): void {
      const of = last?.of === "answer" && msUntilQuiet() > 0 ? "answer" : "line";
      last = { of, at: now() };
      if (of === "line" && kept.length < MOST_KEPT) kept.push(key);
    },
    /** A key went into a line. */
    typing(): void {
      last = { of: "line", at: now() };
    },
    /** That line is done. */
    sent(): void {
      last = undefined;
    },
    /** A question was answered; further keys at once belong to that answer. */
    answered(): void {
      last = { of: "answer", at: now() };
    },
    /** For the next line. */
    take(): Key[] {
      const keys = kept;
      kept = [];
      return keys;
    },
    forget(): void {
      kept = [];
      last = undefined;
    },
    msUntilQuiet,
  };

  /** How long until a question may be put; 0: now. */
  function msUntilQuiet(): number {
    return last === undefined ? 0 : Math.max(0, last.at + QUIET_MS - now());
  }
}

const QUIET_MS = 300;
const MOST_KEPT = 1000;

/** The longest beginning all of them have, in whole characters as a reader sees them. */
export function commonBeginning(candidates: readonly string[]): string {
  const [first = "", ...others] = candidates;
  let common = "";
  for (const grapheme of splitGraphemes(first)) {
    const longer = common + grapheme;
    if (!others.every((other) => other.startsWith(longer))) break;
    common = longer;
  }
  return common;
}

/** In columns that are read downwards, as many as fit; the rest is counted. */
export function candidateLines(words: readonly string[], width: number, height: number): string[] {
  const candidates = words.map(visibleLine);
  const cell = Math.max(...candidates.map(measureWidth), 0) + GAP;
  const columns = Math.max(1, Math.floor((width + GAP) / cell));
  const fits = columns * height >= candidates.length;
  const rows = fits ? Math.ceil(candidates.length / columns) : Math.max(1, height - 1);
  const shown = candidates.slice(0, rows * columns);
  const lines = Array.from({ length: Math.min(rows, shown.length) }, (_, row) =>
    shown
      .filter((_, at) => at % rows === row)
      .map((candidate) => candidate + " ".repeat(cell - measureWidth(candidate)))
      .join("")
      .trimEnd(),
  );
  return fits ? lines : [...lines, `… and ${candidates.length - shown.length} more`];
}

const GAP = 2;
