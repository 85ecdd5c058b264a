// Whether words that begin with no command are a mistyped one, or a prompt. A prompt may begin with any word, so only
// what could hardly be one is taken for a slip.

import { editDistance } from "@soong/schema";

/** The words as they were probably meant; undefined: they are a prompt. `names`: every command, `mcp list` and the like. */
export function findTypo(words: readonly string[], names: readonly string[]): string | undefined {
  const [first = "", ...rest] = words;
  const tops = [...new Set(names.map((name) => name.split(" ")[0] ?? ""))];
  const near = findNear(first, tops);
  if (near === undefined) return undefined;
  const isMeant =
    rest.length === 0 || names.includes(`${near} ${rest[0]}`) || rest.every(isArgument);
  return isMeant ? [near, ...rest].join(" ") : undefined;
}

/** One slip, or two in a long word: a stricter measure than for names that have to be one of a list. */
function findNear(word: string, names: readonly string[]): string | undefined {
  const slips = (name: string): number => editDistance(word, name, MOST_SLIPS);
  const allowed = word.length < LONG ? 1 : MOST_SLIPS;
  const near = names.filter((name) => slips(name) <= allowed);
  return near.toSorted((one, other) => slips(one) - slips(other))[0];
}

const MOST_SLIPS = 2;
const LONG = 6;

/** An id, a path, a name of a tool, JSON: not a word of a sentence. */
function isArgument(word: string): boolean {
  return /[_/{\d]|\w[.:]\w/.test(word);
}
