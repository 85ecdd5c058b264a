// Text of models, tools, servers and files in front of the user (PERM-19): every character that a terminal or a page would
// hide, obey or use to reorder others is written out as an escape. Decided by Unicode categories, so that no list has to be
// kept. Terminal, page, gateway and log lines all use these functions.

/** For text of several lines: line breaks and tabs stay, and so does what makes one picture of several characters. */
export function visible(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(HIDDEN, unlessEmoji);
}

/** Without colours, titles and movements of the cursor, which say nothing where they are not obeyed. */
export function stripEscapes(text: string): string {
  return text.includes("\u001b") ? text.replaceAll(ESCAPES, "") : text;
}

/* oxlint-disable no-control-regex -- what a terminal obeys is what this is about */
const ESCAPES =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[()][A-Z0-9]|[=>78cM])/g;
/* oxlint-enable no-control-regex */

/** For a name or a sentence: stays on one line. */
export function visibleLine(text: string): string {
  return text.replace(HIDDEN_IN_LINE, unlessEmoji);
}

/** For what the user approves: nothing is excepted but line breaks and tabs, and only the ordinary space is a space. */
export function exactText(text: string): string {
  return text.replace(EXACT, escape);
}

export function exactLine(text: string): string {
  return text.replace(EXACT_IN_LINE, escape);
}

/** JSON on one line; parsing it gives the same value. */
export function visibleJson(value: unknown): string {
  return (JSON.stringify(value) ?? "null").replace(EXACT, jsonEscape);
}

/*
 * Other (controls, format, private use, unassigned, halves of pairs), separators of lines and paragraphs, all that a font may
 * leave out by definition (soft hyphen, fillers, joiners, variation selectors, tags), and the Braille pattern without dots.
 */
const NOT_SEEN = "\\p{C}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\u2800";
/** Every space but the ordinary one looks like it, or like nothing. */
const NOT_EXACT = `${NOT_SEEN}\\p{Zs}`;
const HIDDEN = new RegExp(`(?![\\n\\t])[${NOT_SEEN}]`, "gu");
const HIDDEN_IN_LINE = new RegExp(`[${NOT_SEEN}]`, "gu");
const EXACT = new RegExp(`(?![\\n\\t ])[${NOT_EXACT}]`, "gu");
const EXACT_IN_LINE = new RegExp(`(?! )[${NOT_EXACT}]`, "gu");

const SHORT: ReadonlyMap<string, string> = new Map([
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
]);

function escape(char: string): string {
  const short = SHORT.get(char);
  if (short !== undefined) return short;
  const code = (char.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\u{${code.toUpperCase()}}` : `\\u${code.padStart(4, "0")}`;
}

/** JSON knows no braces: a pair is two escapes. */
function jsonEscape(char: string): string {
  const units = Array.from({ length: char.length }, (_, index) => char.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}

const JOINER = "\u200d";
const EMOJI_STYLE = "\ufe0f";

function unlessEmoji(char: string, at: number, whole: string): string {
  if (char === JOINER && joinsPictures(whole, at)) return char;
  if (char === EMOJI_STYLE && /\p{Emoji}$/u.test(whole.slice(Math.max(0, at - 2), at))) return char;
  return escape(char);
}

function joinsPictures(text: string, at: number): boolean {
  return (
    /[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]$/u.test(
      text.slice(Math.max(0, at - 2), at),
    ) && /^\p{Extended_Pictographic}/u.test(text.slice(at + 1, at + 3))
  );
}
