// Every regular expression that comes from outside runs here, on an engine whose time grows with the
// text and not with the cleverness of the pattern (SCHEMA-8). ECMAScript's syntax goes in.

import { RE2JS } from "re2js";
import { translatePattern } from "./pattern-syntax.ts";

export type RegexMatch = {
  index: number;
  text: string;
  /** The captured groups in order, the first group first. */
  groups: (string | undefined)[];
  named: { [name: string]: string | undefined };
};

export type LinearRegex = {
  readonly source: string;
  /** Instructions of the compiled program; a test costs at most this times the text's length. */
  readonly size: number;
  test: (text: string) => boolean;
  /** The first match at or after `from`. */
  exec: (text: string, from?: number) => RegexMatch | null;
};

export type RegexResult = { ok: true; regex: LinearRegex } | { ok: false; message: string };

const MAX_SOURCE = 5_000;
const MAX_PROGRAM = 5_000;

/**
 * Compiles an ECMAScript pattern. Flags: `i`, `m`, `s`; `u`, `g` and `d` change nothing here. Lookaheads
 * directly after a leading `^` work; other lookarounds and backreferences are refused. With `m` only `\n`
 * ends a line.
 */
export function createRegex(source: string, flags = ""): RegexResult {
  if (source.length > MAX_SOURCE) {
    return refusePattern(source, `it is longer than ${MAX_SOURCE} characters`);
  }
  if (!/^[imsugd]*$/.test(flags))
    return refusePattern(source, `the flags "${flags}" are not supported`);
  const translated = translatePattern(source, {
    dotAll: flags.includes("s"),
    multiline: flags.includes("m"),
  });
  if (!translated.ok) return refusePattern(source, translated.message);

  const engineFlags =
    (flags.includes("i") ? RE2JS.CASE_INSENSITIVE : 0) |
    (flags.includes("m") ? RE2JS.MULTILINE : 0);
  try {
    const main = RE2JS.compile(translated.main, engineFlags);
    const ahead = translated.ahead.map(({ source, wanted, captures }) => ({
      engine: RE2JS.compile(source, engineFlags),
      wanted,
      captures,
    }));
    const size = ahead.reduce((sum, { engine }) => sum + engine.programSize(), main.programSize());
    if (size > MAX_PROGRAM)
      return refusePattern(source, "it is too large once its repeats are written out");

    const aheadHolds = (text: string): boolean =>
      ahead.every(({ engine, wanted }) => engine.test(text) === wanted);
    const test =
      ahead.length === 0
        ? (text: string): boolean => main.test(text)
        : (text: string): boolean => main.test(text) && aheadHolds(text);
    const captures = ahead.reduce((sum, one) => sum + one.captures, 0);
    const exec = (text: string, from = 0): RegexMatch | null =>
      from > text.length || !aheadHolds(text) ? null : firstMatch(main, text, from, captures);
    return { ok: true, regex: { source, size, test, exec } };
  } catch (error) {
    return refusePattern(source, engineMessage(error));
  }
}

function firstMatch(
  engine: RE2JS,
  text: string,
  from: number,
  leadingCaptures: number,
): RegexMatch | null {
  const matcher = engine.matcher(text);
  if (!matcher.find(from)) return null;
  // Groups inside the lookaheads are counted but were matched elsewhere.
  const groups = Array.from<string | undefined>({ length: leadingCaptures });
  for (let group = 1; group <= matcher.groupCount(); group += 1) {
    groups.push(matcher.group(group) ?? undefined);
  }
  const named: { [name: string]: string | undefined } = {};
  for (const [name, group] of Object.entries(engine.namedGroups())) {
    named[name] = matcher.group(group) ?? undefined;
  }
  return { index: matcher.start(), text: matcher.group() ?? "", groups, named };
}

function refusePattern(source: string, reason: string): RegexResult {
  const shown = source.length > 60 ? `${source.slice(0, 57)}…` : source;
  return { ok: false, message: `the pattern /${shown}/ cannot be used: ${reason}` };
}

function engineMessage(error: unknown): string {
  const message = error instanceof Error ? error.message : "the engine refused it";
  return message.replace(/^error parsing regexp: /, "").slice(0, 120);
}
