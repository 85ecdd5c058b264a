// One pattern of the gitignore kind: `*`, `?` and `[…]` inside a segment, `**` for whole segments, `\`
// before a literal character. Patterns come from projects and models, so none of them is run on a
// backtracking engine: a match takes time in proportion to the name, for any pattern.

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
  const segments = pattern.split("/");
  let source = "^";
  for (const [index, segment] of segments.entries()) {
    const isLast = index === segments.length - 1;
    const part = segment === "**" ? "" : segmentSource(segment);
    if (part === undefined) return undefined;
    if (segment === "**") source += isLast ? ".+" : "(?:.*/)?";
    else source += isLast ? part : `${part}/`;
  }
  const compiled = createRegex(`${source}$`, "s");
  return compiled.ok ? compiled.regex.test : undefined;
}

const SPECIAL_BUT_STAR = /[?[\\]/;
/** A run of stars, a question mark, a quoted character, a set (its sign and members), any other character. */
const PART = /(\*+)|(\?)|\\(.)|\[(?:([!^])|(?![!^]))((?:\\.|[^\\])(?:\\.|[^\]\\])*)\]|([^[\\])/suy;

function segmentSource(segment: string): string | undefined {
  let source = "";
  PART.lastIndex = 0;
  for (let at = 0; at < segment.length; at = PART.lastIndex) {
    const match = PART.exec(segment);
    if (match === null) return undefined;
    const [, stars, one, quoted, sign, members, plain] = match;
    if (stars !== undefined) source += "[^/]*";
    else if (one !== undefined) source += "[^/]";
    else if (members === undefined) source += (quoted ?? plain ?? "").replace(SIGN, "\\$&");
    else {
      const set = setSource(members);
      if (set === undefined) return undefined;
      source += sign === undefined ? `[${set}]` : `[^${set}/]`;
    }
  }
  return source;
}

function setSource(members: string): string | undefined {
  let source = "";
  for (const [, first = "", last] of members.matchAll(/(\\?.)(?:-(\\?.))?/gsu)) {
    const low = first.replace(/^\\(?=.)/s, "");
    const high = last?.replace(/^\\(?=.)/s, "") ?? low;
    if ((high.codePointAt(0) ?? 0) < (low.codePointAt(0) ?? 0)) return undefined;
    source += low.replace(SIGN_IN_SET, "\\$&");
    if (last !== undefined) source += `-${high.replace(SIGN_IN_SET, "\\$&")}`;
  }
  return source;
}

const SIGN = /[\\^$.*+?()[\]{}|]/;
const SIGN_IN_SET = /[\\^\]\-[]/;
