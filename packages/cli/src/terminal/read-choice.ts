// One item of a list: arrows move, typed words filter, Enter chooses, Esc leaves it.

import { visibleLine, type Colours, measureWidth } from "../output/index.ts";
import { createLineEditor, pressKey } from "./line-editor.ts";
import { cutToWidth } from "./styled-text.ts";
import type { Key } from "./key-decoder.ts";
import type { Read, Readable } from "./reads.ts";
import type { Choice, ChoiceItem, ReadChoice } from "./terminal.ts";

export interface ChoosableScreen extends Pick<Readable, "screen" | "columns"> {
  readonly rows: () => number;
  readonly colours: Colours;
}

export function readChoice(
  { screen, columns, rows, colours }: ChoosableScreen,
  { title, items }: ReadChoice,
  done: (choice: Choice) => void,
): Read {
  let filter = createLineEditor();
  let matches = filterItems(items, "");
  /** Which of the matches. */
  let at = 0;
  /** The first of them that is shown. */
  let top = 0;
  show();

  return {
    press,
    takesShortcuts: true,
    stop(why) {
      screen.input(undefined);
      done({ kind: why });
    },
  };

  function press(key: Key): void {
    switch (key.kind) {
      case "escape":
        screen.input(undefined);
        return done({ kind: "cancelled" });
      case "enter":
        return choose();
      case "up":
      case "down":
        return moveBy(key.kind === "up" ? -1 : 1);
      // A list has one line to type in.
      case "newline":
      case "tab":
        return;
      default:
        return edit(key);
    }
  }

  function choose(): void {
    const index = matches[at];
    if (index === undefined) return;
    screen.sent({ prompt: `${title} `, text: items[index]?.label ?? "", cursor: 0 });
    screen.input(undefined);
    done({ kind: "chosen", index });
  }

  function moveBy(count: number): void {
    at = Math.min(Math.max(0, at + count), Math.max(0, matches.length - 1));
    show();
  }

  function edit(key: Key): void {
    const step = pressKey(filter, key.kind === "paste" ? flatten(key) : key);
    if (step.kind === "end") return press({ kind: "escape" });
    if (step.kind === "editing") {
      const isChanged = step.editor.text !== filter.text;
      filter = step.editor;
      if (isChanged) {
        matches = filterItems(items, filter.text);
        at = 0;
        top = 0;
      }
    }
    show();
  }

  /** How many items there is room for, with the title, the line that is typed, and a row to spare. */
  function room(): number {
    return Math.max(1, Math.min(MOST_SHOWN, rows() - 4));
  }

  function show(): void {
    const count = room();
    top = Math.min(Math.max(top, at - count + 1), at);
    const shown = matches.slice(top, top + count);
    const listed = shown.flatMap((index, offset) => {
      const item = items[index];
      return item === undefined ? [] : [renderItem(item, top + offset === at)];
    });
    const counted = matches.length > shown.length ? ` ${at + 1} of ${matches.length}` : "";
    const keys = colours.dim(`${counted} · ↑↓, type to filter, Enter, Esc`);
    const none = items.length === 0 ? "  nothing to choose from" : "  nothing matches";
    screen.input({ prompt: FILTER, text: filter.text, cursor: filter.cursor }, [
      colours.bold(title) + keys,
      ...(listed.length === 0 ? [colours.dim(none)] : listed),
    ]);
  }

  /** The hint at the right end, where both fit; the label gets what a hint leaves, but never less than half. */
  function renderItem({ label, hint = "" }: ChoiceItem, isCurrent: boolean): string {
    const width = columns() - 1 - MARK.length;
    const about = width < NARROW ? "" : cutToWidth(visibleLine(hint), Math.floor(width / 2)).text;
    const left = width - (about === "" ? 0 : measureWidth(about) + 2);
    const name = cutToWidth(visibleLine(label), Math.max(1, left));
    const gap = about === "" ? "" : " ".repeat(Math.max(2, left - name.width + 2));
    return isCurrent
      ? `${colours.cyan(MARK + name.text)}${gap}${colours.dim(about)}`
      : `${" ".repeat(MARK.length)}${name.text}${gap}${colours.dim(about)}`;
  }
}

/** By index: those that have every word somewhere in what is shown of them, in either case. */
export function filterItems(items: readonly ChoiceItem[], filter: string): number[] {
  const words = filter
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  return items.flatMap(({ label, hint = "" }, index) => {
    const text = `${label} ${hint}`.toLowerCase();
    return words.every((word) => text.includes(word)) ? [index] : [];
  });
}

function flatten(key: Extract<Key, { kind: "paste" }>): Key {
  return { kind: "paste", text: key.text.replaceAll(/\s+/g, " ") };
}

const MARK = "❯ ";
const FILTER = "› ";
const MOST_SHOWN = 10;
/** In columns: no room for two things. */
const NARROW = 16;
