// Objects of a repository that a git command is given by their ids. What was staged once and never committed is still there, and so is a
// commit that no branch has any more: the names that refs know say nothing about it.

import { subcommandOf } from "./git-reach.ts";
import type { AskGit } from "./printed-names.ts";

export interface GivenObjects {
  /** They name what they hold, whether a ref reaches them or not. */
  readonly commits: readonly string[];
  /** A file or directory may be shown of which nobody can tell what it was called. */
  readonly nameless: boolean;
}

export async function givenObjects(argv: readonly string[], ask: AskGit): Promise<GivenObjects> {
  const [, args] = subcommandOf(argv);
  const ids = new Set(args.flatMap((word) => word.match(ID) ?? []));
  const commits: string[] = [];
  const contents: string[] = [];
  for (const id of [...ids].slice(0, MOST_IDS)) {
    const type = (await ask(["cat-file", "-t", id]))?.trim();
    if (type === "commit" || type === "tag") commits.push(id);
    else if (type !== undefined) contents.push(id.toLowerCase());
  }
  const isEverything = args.some((word) => SHOWS_EVERYTHING.test(word));
  if (!isEverything && contents.length === 0) return { commits, nameless: ids.size > MOST_IDS };
  const reached = linesOf(await ask(["rev-list", "--objects", ...REACHED, ...commits]));
  const all = isEverything ? linesOf(await ask(ALL_OBJECTS)) : contents;
  // Too many to tell.
  if (reached === undefined || all === undefined) return { commits, nameless: true };
  const known = reached.map((line) => line.split(" ", 1)[0] ?? "");
  const whole = new Set(known);
  const isKnown = (id: string): boolean =>
    whole.has(id) || (id.length < 40 && known.some((one) => one.startsWith(id)));
  return { commits, nameless: !all.every(isKnown) };
}

const ID = /(?<![0-9a-z])[0-9a-f]{4,64}(?![0-9a-z])/gi;
const MOST_IDS = 16;

/** `git cat-file --batch-all-objects`, `git fsck --lost-found`. */
const SHOWS_EVERYTHING = /^--(?:batch-a|lo)/;
const REACHED = ["--all", "--reflog", "--indexed-objects"];
const ALL_OBJECTS = ["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"];

function linesOf(text: string | undefined): string[] | undefined {
  return text?.split("\n").filter((line) => line !== "");
}
