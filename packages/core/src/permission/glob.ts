// Path globs (CONF-4): `*` and `?` inside one segment, `**` for any number of whole segments, `\` before
// a character that is meant literally. Nothing is turned into a regular expression: a match costs at
// most the length of the glob times the length of the path, for any glob and path.

/** A matcher for a glob that `globProblem` finds nothing wrong with. */
export function compileGlob(glob: string): (path: string) => boolean {
  const parsed = parseGlob(glob);
  if (typeof parsed === "string")
    throw new TypeError(`The glob ${JSON.stringify(glob)} ${parsed}.`);
  if (parsed.every((segment) => typeof segment === "string")) {
    const literal = parsed.join("/");
    return (path) => path === literal;
  }
  // Most paths fail by their beginning or end, which costs less to see than to match.
  const isWild = (segment: Item<Segment>) => typeof segment !== "string";
  const head = parsed.slice(0, parsed.findIndex(isWild)).join("/");
  const tail = parsed.slice(parsed.findLastIndex(isWild) + 1).join("/");
  return (path) =>
    path.startsWith(head) &&
    path.endsWith(tail) &&
    matchesItems(parsed, path.split("/"), segmentFits);
}

/** Says what is wrong with a glob, in words that follow its name; undefined when nothing is. */
export function globProblem(glob: string): string | undefined {
  const parsed = parseGlob(glob);
  return typeof parsed === "string" ? parsed : undefined;
}

/** The text to match for exactly one path: the inverse of reading a glob without wildcards. */
export function escapeGlob(path: string): string {
  return path.replace(/[\\*?[\]{}]/g, "\\$&");
}

/** The literal path a glob begins with, and what follows it; `rest` is empty for a literal glob. */
export function literalPrefix(glob: string): { path: string; rest: string } {
  const parsed = parseGlob(glob);
  const segments = typeof parsed === "string" ? [] : parsed;
  const wild = segments.findIndex((segment) => typeof segment !== "string");
  const literal = (wild === -1 ? segments : segments.slice(0, wild)).join("/");
  const rest = wild === -1 ? "" : glob.split("/").slice(wild).join("/");
  // A directory written with its slash means what is in it.
  return { path: literal === "" ? "/" : literal, rest: wild !== -1 && rest === "" ? "**" : rest };
}

/**
 * What a glob that restricts says of the inside of a directory: globs relative to it, and "" where the directory itself is
 * restricted. None where it says nothing of it. `fold`: how names are compared.
 */
export function globsInside(
  glob: string,
  directory: string,
  fold: (text: string) => string = (text) => text,
): string[] {
  const pattern = glob.split("/");
  const names = directory === "/" ? [""] : directory.split("/");
  const found = new Set<string>();
  const seen = new Set<string>();
  follow(0, 0);
  return [...found];

  /** `pattern` from `p` on, against what is left of the directory. */
  function follow(p: number, n: number): void {
    const key = `${p} ${n}`;
    if (seen.has(key)) return;
    seen.add(key);
    const text = pattern[p];
    // Of what is restricted, all is that is inside.
    if (text === undefined || n === names.length) {
      found.add(pattern.slice(p).join("/"));
      return;
    }
    const isRun = text === "**" || (text === "" && p > 0);
    if (isRun) {
      follow(p + 1, n);
      follow(p, n + 1);
    } else if (fits(text, names[n] as string)) follow(p + 1, n + 1);
  }

  function fits(text: string, name: string): boolean {
    return text === "" || name === "" ? text === name : compileGlob(fold(text))(fold(name));
  }
}

const ANY_RUN = Symbol("*");
const ANY_ONE = Symbol("?");
type Token = string | typeof ANY_RUN | typeof ANY_ONE;
type Segment = string | readonly Token[];
type Item<T> = T | typeof ANY_RUN;
const SPECIAL = /[*?\\[\]{}]/;

function parseGlob(glob: string): Item<Segment>[] | string {
  if (glob === "") return "is empty";
  if (glob.includes("\0")) return "contains a NUL character";
  const texts = glob.split("/");
  const segments: Item<Segment>[] = [];
  for (const [index, text] of texts.entries()) {
    const last = index === texts.length - 1;
    if (text === "" && index === 0 && !last) segments.push("");
    // A directory written with its slash means what is in it: it must not quietly match nothing.
    else if (text === "" && last) segments.push(ANY_RUN);
    else if (text === "**") segments.push(ANY_RUN);
    else {
      const segment = parseSegment(text);
      if ("problem" in segment) return segment.problem;
      segments.push(segment.segment);
    }
  }
  return segments;
}

function parseSegment(text: string): { segment: Segment } | { problem: string } {
  if (text === "") return { problem: "has an empty segment" };
  if (text === "." || text === "..") return { problem: `has the segment "${text}"` };
  if (text.includes("**")) {
    return { problem: 'has "**" beside other characters; it must be alone between slashes' };
  }
  if (!SPECIAL.test(text)) return { segment: text };
  const tokens: Token[] = [];
  const chars = Array.from(text);
  for (let i = 0; i < chars.length; i += 1) {
    const char = chars[i] as string;
    if (char === "*") tokens.push(ANY_RUN);
    else if (char === "?") tokens.push(ANY_ONE);
    else if (char === "\\") {
      const literal = chars[(i += 1)];
      if (literal === undefined) return { problem: 'ends a segment in "\\"' };
      tokens.push(literal);
    } else if ("[]{}".includes(char)) {
      // Refused, not read as text: a deny that silently matches nothing is worse than an error.
      const instead = "{}".includes(char) ? "for alternatives, write a rule for each; " : "";
      const problem = `uses "${char}", which is not a wildcard here; ${instead}write "\\${char}" to mean it`;
      return { problem };
    } else tokens.push(char);
  }
  const literal = tokens.every((token) => typeof token === "string");
  return { segment: literal ? tokens.join("") : tokens };
}

function segmentFits(pattern: Segment, segment: string): boolean {
  if (typeof pattern === "string") return pattern === segment;
  return matchesItems(pattern as readonly Item<Token>[], Array.from(segment), tokenFits);
}

function tokenFits(token: Token, char: string): boolean {
  return token === ANY_ONE || token === char;
}

/** Items against a pattern in which ANY_RUN matches any number of them. Only the last run is ever
 * widened: an earlier one cannot help where a later one failed. */
function matchesItems<P, S>(
  pattern: readonly Item<P>[],
  items: readonly S[],
  fits: (pattern: P, item: S) => boolean,
): boolean {
  let p = 0;
  let i = 0;
  let run = -1;
  let runEnd = 0;
  while (i < items.length) {
    const wanted = pattern[p];
    if (p < pattern.length && wanted === ANY_RUN) {
      run = p;
      runEnd = i;
      p += 1;
    } else if (p < pattern.length && fits(wanted as P, items[i] as S)) {
      p += 1;
      i += 1;
    } else if (run !== -1) {
      p = run + 1;
      runEnd += 1;
      i = runEnd;
    } else return false;
  }
  while (p < pattern.length && pattern[p] === ANY_RUN) p += 1;
  return p === pattern.length;
}
