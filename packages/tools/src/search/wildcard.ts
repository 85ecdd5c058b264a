// One pattern of the gitignore kind: `*`, `?` and `[…]` inside a segment, `**` for whole segments, `\`
// before a literal character. Patterns come from projects and models, so none of them is run on a
// backtracking engine: a match takes time in proportion to the name, whatever the pattern.

import { createRegex } from "@soong/schema";

export type Wildcard = (text: string) => boolean;

/** Undefined for a pattern that cannot mean anything (an open `[`, a range the wrong way round). */
export function compileWildcard(pattern: string): Wildcard | undefined {
  const star = pattern.indexOf("*");
  const simple = !SPECIAL_BUT_STAR.test(pattern) && star === pattern.lastIndexOf("*");
  if (simple && star === -1) return (text) => text === pattern;
  // Nearly every pattern in use is one of these; they must not cost a regular expression a name.
  if (simple && !pattern.includes("/")) {
    const head = pattern.slice(0, star);
    const tail = pattern.slice(star + 1);
    if (head === "") return (text) => text.endsWith(tail);
    return (text) =>
      text.length >= pattern.length - 1 && text.startsWith(head) && text.endsWith(tail);
  }
  const source = regexSource(pattern);
  const compiled = source === undefined ? undefined : createRegex(source, "s");
  return compiled?.ok === true ? compiled.regex.test : undefined;
}

const SPECIAL_BUT_STAR = /[?[\\]/;

function regexSource(pattern: string): string | undefined {
  const segments = pattern.split("/");
  let source = "^";
  for (const [index, segment] of segments.entries()) {
    const last = index === segments.length - 1;
    if (segment === "**") source += last ? ".+" : "(?:.*/)?";
    else {
      const part = segmentSource(Array.from(segment));
      if (part === undefined) return undefined;
      source += last ? part : `${part}/`;
    }
  }
  return `${source}$`;
}

function segmentSource(chars: readonly string[]): string | undefined {
  let source = "";
  for (let at = 0; at < chars.length; at += 1) {
    const char = chars[at] ?? "";
    if (char === "*") {
      while (chars[at + 1] === "*") at += 1;
      source += "[^/]*";
    } else if (char === "?") source += "[^/]";
    else if (char === "\\") {
      const literal = chars[(at += 1)];
      if (literal === undefined) return undefined;
      source += escaped(literal);
    } else if (char === "[") {
      const set = characterSet(chars, at + 1);
      if (set === undefined) return undefined;
      source += set.source;
      at = set.end;
    } else source += escaped(char);
  }
  return source;
}

function characterSet(
  chars: readonly string[],
  start: number,
): { source: string; end: number } | undefined {
  let at = start;
  const negated = chars[at] === "!" || chars[at] === "^";
  if (negated) at += 1;
  const members: string[] = [];
  for (let first = true; first || chars[at] !== "]"; first = false) {
    const low = memberAt(chars, at);
    if (low === undefined) return undefined;
    at = low.next;
    if (chars[at] !== "-" || chars[at + 1] === "]" || chars[at + 1] === undefined) {
      members.push(escapedInSet(low.char));
      continue;
    }
    const high = memberAt(chars, at + 1);
    if (high === undefined || codePoint(high.char) < codePoint(low.char)) return undefined;
    at = high.next;
    members.push(`${escapedInSet(low.char)}-${escapedInSet(high.char)}`);
  }
  const list = members.join("");
  return { source: negated ? `[^${list}/]` : `[${list}]`, end: at };
}

function memberAt(
  chars: readonly string[],
  at: number,
): { char: string; next: number } | undefined {
  const quoted = chars[at] === "\\";
  const char = chars[quoted ? at + 1 : at];
  return char === undefined ? undefined : { char, next: at + (quoted ? 2 : 1) };
}

function codePoint(char: string): number {
  return char.codePointAt(0) ?? 0;
}

function escaped(char: string): string {
  return /[\\^$.*+?()[\]{}|]/.test(char) ? `\\${char}` : char;
}

function escapedInSet(char: string): string {
  return /[\\^\]\-[]/.test(char) ? `\\${char}` : char;
}
