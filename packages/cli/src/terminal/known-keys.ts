// Which key is meant by what a terminal sends for it. Keys that mean the same have one name.

export type KeyName =
  | "enter"
  | "newline"
  | "tab"
  | "escape"
  | "backspace"
  | "delete"
  | "left"
  | "right"
  | "up"
  | "down"
  | "line_start"
  | "line_end"
  | "word_left"
  | "word_right"
  | "cut_to_line_start"
  | "cut_to_line_end"
  | "cut_word_left"
  | "cut_word_right"
  | "put_back"
  | "clear_screen"
  | "interrupt"
  | "end_of_input"
  | "suspend";

export const CONTROLS: Readonly<Record<string, KeyName>> = {
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
  "\u0010": "up",
  "\u0015": "cut_to_line_start",
  "\u0017": "cut_word_left",
  "\u0019": "put_back",
  "\u001a": "suspend",
  "\u007f": "backspace",
};

export const WITH_ALT: Readonly<Record<string, KeyName>> = {
  "\r": "newline",
  "\n": "newline",
  "\u0008": "cut_word_left",
  "\u007f": "cut_word_left",
  b: "word_left",
  d: "cut_word_right",
  f: "word_right",
};

export const NUMBERED: Readonly<Record<string, KeyName>> = {
  1: "line_start",
  3: "delete",
  4: "line_end",
  7: "line_start",
  8: "line_end",
};
export const LETTERS: Readonly<Record<string, KeyName>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  F: "line_end",
  H: "line_start",
};
export const LETTERS_BY_WORD: Readonly<Record<string, KeyName>> = {
  C: "word_right",
  D: "word_left",
};
/** The keypad's Enter, and rxvt's arrows with Ctrl. */
export const SS3_ONLY: Readonly<Record<string, KeyName>> = {
  M: "enter",
  c: "word_right",
  d: "word_left",
};
