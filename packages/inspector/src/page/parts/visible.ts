// Text of models, tools and servers on its way to a screen: what a reader could not see, or what would turn the words
// around it, is shown as a symbol.

/** For text of several lines: line breaks and tabs stay. */
export function visible(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(UNSEEN, symbol);
}

/** For a name or a sentence: stays on one line. */
export function visibleLine(text: string): string {
  return text.replace(UNSEEN_IN_LINE, symbol);
}

/* Marks of direction, characters without width, separators of lines, tags. */
const HIDDEN =
  "\\u007f-\\u009f\\u00ad\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}\\ud800-\\udfff";
const UNSEEN = new RegExp(`[\\u0000-\\u0008\\u000b-\\u001f${HIDDEN}]`, "gu");
const UNSEEN_IN_LINE = new RegExp(`[\\u0000-\\u001f${HIDDEN}]`, "gu");

const JOINER = "\u200d";

function symbol(char: string, at: number, whole: string): string {
  if (char === JOINER && joinsPictures(whole, at)) return char;
  const code = char.codePointAt(0) ?? 0;
  if (code === 0x0a) return "↵";
  if (code === 0x09) return "⇥";
  // Control characters have pictures of their own.
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return "␡";
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

/** What makes one picture of two hides nothing. */
function joinsPictures(text: string, at: number): boolean {
  return (
    /[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]$/u.test(
      text.slice(Math.max(0, at - 2), at),
    ) && /^\p{Extended_Pictographic}/u.test(text.slice(at + 1, at + 3))
  );
}
