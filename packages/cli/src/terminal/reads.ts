// The two things that can be read, each as what it does with a key: a line with editing, and one key as the
// answer to a question. Neither knows where keys come from.

import { candidateLines, commonBeginning } from "./completion.ts";
import type { Key } from "./key-decoder.ts";
import {
  createLineEditor,
  pressKey,
  replaceWord,
  wordAtCursor,
  type LineEditor,
} from "./line-editor.ts";
import type { Stoppable } from "./one-read.ts";
import type { Screen } from "./screen.ts";
import type { StrayKeys } from "./stray-keys.ts";
import type { PressedKey, ReadInput, ReadKey, Typed } from "./terminal.ts";

export interface Read extends Stoppable {
  press(key: Key): void;
}

export interface Readable {
  readonly screen: Screen;
  readonly strayKeys: StrayKeys;
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
    else edit(key);
  }

  function edit(key: Key): void {
    const step = pressKey(editor, key);
    if (step.kind === "editing") {
      editor = step.editor;
      show();
      return;
    }
    isOver = true;
    strayKeys.sent();
    if (step.kind === "sent") screen.sent({ prompt, ...editor });
    screen.input(undefined);
    done(step.kind === "sent" ? { kind: "text", text: editor.text } : { kind: "end" });
  }

  function show(notes: readonly string[] = []): void {
    screen.input({ prompt, text: editor.text, cursor: editor.cursor }, notes);
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
