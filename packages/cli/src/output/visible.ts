// Text from outside (file names, tool output, servers) on its way to a terminal: whatever a terminal would
// obey, or a reader could not see, is written out.

/** For text of several lines: line breaks and tabs stay, everything else that is not visible is written out. */
export function visible(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(INVISIBLE, writtenOut);
}

/** For a name or a sentence: stays on one line. */
export function visibleLine(text: string): string {
  return text.replace(INVISIBLE_IN_LINE, writtenOut);
}

/** JSON on one line, in plain characters where a terminal might take them for something else. */
export function visibleJson(value: unknown): string {
  // JSON writes the control characters below space out by itself; the same value comes back.
  return (JSON.stringify(value) ?? "null").replace(INVISIBLE, writtenOut);
}

/* Control characters, marks of direction, characters without width, separators of lines. */
const UNSEEN = "\\u007f-\\u009f\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u2069\\ufeff";
const LONE_SURROGATE =
  "[\\ud800-\\udbff](?![\\udc00-\\udfff])|(?<![\\ud800-\\udbff])[\\udc00-\\udfff]";
const INVISIBLE = new RegExp(`[\\u0000-\\u0008\\u000b-\\u001f${UNSEEN}]|${LONE_SURROGATE}`, "g");
const INVISIBLE_IN_LINE = new RegExp(`[\\u0000-\\u001f${UNSEEN}]|${LONE_SURROGATE}`, "g");

const SHORT: ReadonlyMap<string, string> = new Map([
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
]);

const JOINER = "\u200d";

function writtenOut(char: string, at: number, whole: string): string {
  if (char === JOINER && joinsPictures(whole, at)) return char;
  return SHORT.get(char) ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** What makes one picture of two hides nothing. */
function joinsPictures(text: string, at: number): boolean {
  return (
    /[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]$/u.test(
      text.slice(Math.max(0, at - 2), at),
    ) && /^\p{Extended_Pictographic}/u.test(text.slice(at + 1, at + 3))
  );
}
