// From ECMAScript's pattern syntax to the linear-time engine's (RE2): where the two spell or mean a thing
// differently it is rewritten, where the engine has no equal it is refused in words. Text to text only.

export type TranslatedPattern =
  | { ok: true; main: string; ahead: LookAhead[] }
  | { ok: false; message: string };

/** A condition on the text from its start, checked as a pattern of its own. */
export type LookAhead = { source: string; wanted: boolean; captures: number };

/** `dotAll` and `multiline` are the flags `s` and `m`: they change what `.` and `^` mean here. */
export function translatePattern(
  source: string,
  flags: { dotAll: boolean; multiline: boolean },
): TranslatedPattern {
  const split = splitLookAheads(source, flags.multiline);
  const main = rewrite(split.main, flags.dotAll);
  if (typeof main !== "string") return { ok: false, message: main.refused };
  const ahead: LookAhead[] = [];
  for (const { body, wanted } of split.ahead) {
    const inner = rewrite(body, flags.dotAll);
    if (typeof inner !== "string") return { ok: false, message: inner.refused };
    ahead.push({
      source: `^(?:${inner})`,
      wanted,
      captures: maskLiterals(body).match(/\((?!\?[^P<])/g)?.length ?? 0,
    });
  }
  return { ok: true, main, ahead };
}

/**
 * `^(?=A)(?!B)C` asks three questions about the start of the text, and each alone is linear: A and C
 * match from there, B does not. Only lookaheads in that place can be taken apart like this.
 */
function splitLookAheads(
  source: string,
  multiline: boolean,
): { main: string; ahead: { body: string; wanted: boolean }[] } {
  const ahead: { body: string; wanted: boolean }[] = [];
  const masked = maskLiterals(source);
  let at = 1;
  while (source.startsWith("(?=", at) || source.startsWith("(?!", at)) {
    const end = groupEnd(masked, at);
    if (end < 0) break;
    ahead.push({ body: source.slice(at + 3, end), wanted: source[at + 2] === "=" });
    at = end + 1;
    if (/^[*+?{]/.test(source.slice(at, at + 1))) return { main: source, ahead: [] };
  }
  const apart = ahead.length > 0 && source.startsWith("^") && !multiline && !hasChoice(masked);
  return apart ? { main: `^${source.slice(at)}`, ahead } : { main: source, ahead: [] };
}

type Refused = { refused: string };

function rewrite(source: string, dotAll: boolean): string | Refused {
  let out = "";
  let at = 0;
  while (at < source.length) {
    const char = source[at] as string;
    if (char === "\\") {
      const escape = readEscape(source, at, false);
      if ("refused" in escape) return escape;
      out += escape.text;
      at = escape.next;
    } else if (char === "[") {
      const set = readClass(source, at);
      if ("refused" in set) return set;
      out += set.text;
      at = set.next;
    } else if (char === "(" && source[at + 1] === "?") {
      const head = GROUP_HEAD.exec(source.slice(at, at + 40))?.[0];
      if (head === undefined) return { refused: groupRefusal(source.slice(at, at + 4)) };
      out += head;
      at += head.length;
    } else {
      out += char === "." ? (dotAll ? "(?s:.)" : NOT_NEWLINE) : char;
      at += 1;
    }
  }
  return out;
}

const NOT_NEWLINE = "[^\\n\\r\\x{2028}\\x{2029}]";
/** Groups the engine reads as ECMAScript does, and the inline `i` that other languages write. */
const GROUP_HEAD = /^\(\?(?::|-?i[:)]|P?<[A-Za-z_]\w*>)/;

function groupRefusal(head: string): string {
  if (head.startsWith("(?=") || head.startsWith("(?!")) {
    return "a lookahead is only possible at the very start, after ^";
  }
  if (head.startsWith("(?<=") || head.startsWith("(?<!")) return "lookbehind is not supported";
  return `the group ${head} is not supported`;
}

// A backspace in a set, whitespace and its opposite: the engine knows them differently or not at all.
const SPACES =
  "\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}";
const NOT_SPACES =
  "\\x00-\\x08\\x0e-\\x1f!-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}" +
  "\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}";

type Read = { text: string; next: number };

function readClass(source: string, start: number): Read | Refused {
  const negated = source[start + 1] === "^";
  let at = start + (negated ? 2 : 1);
  if (source[at] === "]") {
    return { text: negated ? "(?s:.)" : "[^\\x00-\\x{10ffff}]", next: at + 1 };
  }
  let text = negated ? "[^" : "[";
  let afterSet = false;
  while (at < source.length) {
    const char = source[at] as string;
    if (char === "]") return { text: `${text}]`, next: at + 1 };
    const isSet = SET_ESCAPE.test(source.slice(at, at + 2));
    if (char === "\\") {
      const escape = readEscape(source, at, true);
      if ("refused" in escape) return escape;
      text += escape.text;
      at = escape.next;
    } else {
      // A dash beside a whole set, as in [\w-.], is a dash; beside a rewritten set it must say so.
      const dash = char === "-" && (afterSet || SET_ESCAPE.test(source.slice(at + 1, at + 3)));
      text += char === "[" || dash ? `\\${char}` : char;
      at += 1;
    }
    afterSet = isSet;
  }
  return { refused: "a character set is not closed: ] is missing" };
}

const SET_ESCAPE = /^\\[dDwWsSpP]/;

function readEscape(source: string, start: number, inClass: boolean): Read | Refused {
  const char = source[start + 1];
  const next = start + 2;
  if (char === undefined) return { refused: "it ends with a backslash" };
  if (char === "s") return { text: inClass ? SPACES : `[${SPACES}]`, next };
  if (char === "S") return { text: inClass ? NOT_SPACES : `[${NOT_SPACES}]`, next };
  if (char === "b" && inClass) return { text: "\\x08", next };
  if ("dDwWtnrfv".includes(char) || (!inClass && "bB".includes(char))) {
    return { text: `\\${char}`, next };
  }
  if (char === "0" && !/\d/.test(source[next] ?? "")) return { text: "\\x00", next };
  if (/\d/.test(char) || char === "k") return { refused: "backreferences are not supported" };
  if (char === "p" || char === "P") return readProperty(source, start);
  if (char === "u" || char === "x" || char === "c") return readCodePoint(source, start);
  if (/[A-Za-z]/.test(char)) return { refused: `\\${char} is not an ECMAScript escape` };
  const point = source.codePointAt(start + 1) as number;
  if (point < 0x80) return { text: `\\${char}`, next };
  return { text: String.fromCodePoint(point), next: start + (point > 0xffff ? 3 : 2) };
}

const CODE_POINT =
  /^(?:u(d[89ab][\da-f]{2})\\u(d[c-f][\da-f]{2})|u\{0*([\da-f]{1,6})\}|u([\da-f]{4})|x([\da-f]{2})|c([a-z]))/i;

function readCodePoint(source: string, start: number): Read | Refused {
  const match = CODE_POINT.exec(source.slice(start + 1, start + 24));
  if (match === null) return { refused: `\\${source[start + 1]} must be followed by a code` };
  const [text, high, low, braced, unit, byte, control] = match;
  let point = parseInt(braced ?? unit ?? byte ?? "", 16);
  if (high !== undefined && low !== undefined) {
    point = (parseInt(high, 16) - 0xd800) * 0x400 + (parseInt(low, 16) - 0xdc00) + 0x10000;
  } else if (control !== undefined) point = control.charCodeAt(0) % 32;
  return { text: `\\x{${point.toString(16)}}`, next: start + 1 + text.length };
}

function readProperty(source: string, start: number): Read | Refused {
  const match = /^\\[pP]\{(?:(?:Script|sc|General_Category|gc)=)?(\w+)\}/.exec(
    source.slice(start, start + 60),
  );
  if (!match)
    return { refused: "\\p must be followed by a property such as {L} or {Script=Greek}" };
  const name = match[1] ?? "";
  return {
    text: `\\${source[start + 1]}{${LONG_CATEGORIES.get(name) ?? name}}`,
    next: start + match[0].length,
  };
}

const LONG_CATEGORIES: ReadonlyMap<string, string> = new Map([
  ["Letter", "L"],
  ["Lowercase_Letter", "Ll"],
  ["Uppercase_Letter", "Lu"],
  ["Mark", "M"],
  ["Number", "N"],
  ["Decimal_Number", "Nd"],
  ["Punctuation", "P"],
  ["Symbol", "S"],
  ["Separator", "Z"],
  ["Space_Separator", "Zs"],
  ["Other", "C"],
  ["Control", "Cc"],
]);

/** With filler for escapes and sets: what is left of brackets and `|` has its own meaning. */
function maskLiterals(source: string): string {
  return source.replace(/\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]/g, (text) => "_".repeat(text.length));
}

/** The index of the parenthesis that closes the group opened at `start`, or -1. */
function groupEnd(masked: string, start: number): number {
  let depth = 0;
  for (let at = start; at < masked.length; at += 1) {
    if (masked[at] === "(") depth += 1;
    else if (masked[at] === ")" && --depth === 0) return at;
  }
  return -1;
}

/** Whether `|` is outside every group, so that `^` belongs to the first choice only. */
function hasChoice(masked: string): boolean {
  for (let at = 0; at < masked.length; at += 1) {
    if (masked[at] === "|") return true;
    if (masked[at] !== "(") continue;
    at = groupEnd(masked, at);
    if (at < 0) return true;
  }
  return false;
}
