// The files whose contents a git command prints without naming them (PATH-3), as git itself tells by their names. Nothing here looks at the
// work tree through git: to compare a file, git may run a filter that its config names.

import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { readSubcommand } from "./git-reach.ts";

/** What git prints for these arguments; undefined where it fails. */
export type AskGit = (args: readonly string[]) => Promise<string | undefined>;

export interface PrintingCommand {
  readonly argv: readonly string[];
  readonly workTree: string;
  /** Only these are looked at in the work tree: a path from its root. */
  readonly counts: (name: string) => boolean;
}

/** From the root of the work tree; undefined where there are too many to tell. */
export async function printedNames(
  { argv, workTree, counts }: PrintingCommand,
  ask: AskGit,
): Promise<string[] | undefined> {
  const [name, args] = readSubcommand(argv);
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  const options = args.slice(0, end);
  const has = (option: RegExp): boolean => options.some((arg) => option.test(arg));
  const isPatch = has(
    /^-[a-zA-Z]*[pu]$|^-U|^--(?:patch|unified|binary|full-diff|remerge|cc$)|^-c$/,
  );
  const isSummary = has(
    /^--(?:stat|shortstat|numstat|dirstat|name-|summary|raw|quiet|check|no-patch)|^-s$/,
  );
  const isOperand = (arg: string, index: number): boolean =>
    !arg.startsWith("-") && !TAKES_VALUE.test(options[index - 1] ?? "");
  const given = [...options.filter(isOperand), ...args.slice(end)];
  // Where git does not understand the same words, anything of the history may be printed.
  const namesBy = async (...query: string[]) =>
    namesIn(await ask(query)) ?? (await namesInHistory(ask));
  const logged = (...more: string[]) => namesBy("log", ...NAMES, "--format=", "-m", ...more);
  switch (name) {
    case "diff": {
      if ((isSummary && !isPatch) || has(/^--no-index/)) return [];
      // Of two sides since they parted, everything either of them changed.
      if (given.some((arg) => arg.includes("..."))) return logged(...given);
      const staged = await ask(["diff", "--cached", ...NAMES, ...given]);
      if (staged === undefined) {
        return namesBy("diff-tree", "-r", ...NAMES, ...given);
      }
      const isStagedAlone = has(/^--(?:cached|staged)$/);
      const hasCommit = given.some((arg) => arg !== "--") || isStagedAlone;
      return [
        ...(hasCommit ? (namesIn(staged) ?? []) : []),
        ...(isStagedAlone ? [] : await changedNames(workTree, counts, given, ask)),
      ];
    }
    case "status":
      return has(/^-[a-zA-Z]*v|^--verb/) ? namesBy("diff", "--cached", ...NAMES) : [];
    case "show": {
      if (isSummary && !isPatch) return [];
      const types = await Promise.all(given.map((one) => ask(["cat-file", "-t", one])));
      const blobs = given.filter((_, index) => types[index]?.trim() === "blob");
      const ofBlobs = await Promise.all(blobs.map((one) => printedObjects([], [one], ask)));
      if (ofBlobs.includes(undefined)) return undefined;
      const others = given.filter((one) => !blobs.includes(one));
      const isAll = blobs.length > 0 && others.length === 0;
      const ofCommits = isAll ? [] : await namesBy("show", ...NAMES, "--format=", "-m", ...others);
      return ofCommits && [...ofBlobs.flatMap((names) => names ?? []), ...ofCommits];
    }
    case "log":
    case "whatchanged":
    case "reflog":
      return isPatch ? logged(...listCounted(options), ...given) : [];
    case "stash": {
      if (options[0] !== "show" || !isPatch) return [];
      const isWhole = has(/^-u$|^--(?:include|only)-untr/);
      // Without a stash it shows nothing.
      const query = ["stash", "show", ...NAMES, ...(isWhole ? ["--include-untracked"] : [])];
      return namesIn((await ask([...query, ...given.slice(1)])) ?? "");
    }
    case "format-patch": {
      const [since] = given;
      if (since === undefined || has(/^-\d+$/)) return logged(...listCounted(options), ...given);
      return logged(since.includes("..") ? since : `${since}..HEAD`, ...given.slice(1));
    }
    case "diff-tree":
    case "diff-index":
    case "diff-files":
      return isPatch ? namesInHistory(ask) : [];
    case "cat-file":
      return printedObjects(options, given, ask);
    case "bundle":
      return given[0] === "create" ? namesInHistory(ask) : [];
    case "fast-export":
      return namesInHistory(ask);
    default:
      return [];
  }
}

/** Of those that print commits or changes: the next word is no commit and no path. */
const TAKES_VALUE =
  /^(?:-[SGOnlo]|--(?:since|until|after|before|author|committer|grep|max-count|skip|date|format|pretty|output|diff-filter|output-directory|subject-prefix))$/;

const NAMES = ["--name-only", "-z", "--no-relative", "--no-renames", "--ignore-submodules"];

/** How many commits: `-3`, `-n 3`, `--max-count=3`. */
function listCounted(options: readonly string[]): string[] {
  return options.flatMap((arg, index) => {
    if (/^(?:-\d+|-n\d+|--max-count=\d+)$/.test(arg)) return [arg];
    return /^(?:-n|--max-count)$/.test(arg) ? [`-n${Number(options[index + 1] ?? 1)}`] : [];
  });
}

/** Tracked files that differ from what is staged. */
async function changedNames(
  workTree: string,
  counts: (name: string) => boolean,
  given: readonly string[],
  ask: AskGit,
): Promise<string[]> {
  // Without the two dashes, a word may be a commit.
  const paths = given[0] === "--" ? given.slice(1) : [];
  const below = paths.length === 0 ? [":/"] : paths;
  const staged = (await ask(["ls-files", "-s", "-z", "--full-name", "--", ...below])) ?? "";
  return staged.split("\0").flatMap((entry) => {
    const [, object = "", name = ""] = /^\d+ ([0-9a-f]+) \d\t(.*)$/s.exec(entry) ?? [];
    return name !== "" && counts(name) && isChanged(join(workTree, name), object) ? [name] : [];
  });
}

const MOST_BYTES = 1024 * 1024;

function isChanged(path: string, object: string): boolean {
  try {
    if (statSync(path).size > MOST_BYTES) return true;
    const content = readFileSync(path);
    const hash = createHash(object.length === 64 ? "sha256" : "sha1");
    return hash.update(`blob ${content.length}\0`).update(content).digest("hex") !== object;
  } catch {
    // What was removed is printed as it was.
    return true;
  }
}

async function printedObjects(
  options: readonly string[],
  given: readonly string[],
  ask: AskGit,
): Promise<string[] | undefined> {
  if (options.some((arg) => arg.startsWith("--batch"))) return namesInHistory(ask);
  if (options.some((arg) => /^-[set]$/.test(arg))) return [];
  const object = await ask(["rev-parse", "--verify", "--quiet", given.at(-1) ?? ""]);
  if (object === undefined) return [];
  return namesInHistory(ask, object.trim());
}

/** Of everything that refs, the index and logs of refs reach, or of one object. */
async function namesInHistory(ask: AskGit, object = ""): Promise<string[] | undefined> {
  const all = ["rev-list", "--objects", "--all", "--reflog", "--indexed-objects"];
  const found = await ask(all);
  return found?.split("\n").flatMap((line) => {
    const [id = "", name = ""] = line.split(/ (.*)/s);
    return name !== "" && id.startsWith(object) ? [name] : [];
  });
}

function namesIn(text: string | undefined): string[] | undefined {
  return text
    ?.split("\0")
    .map((name) => name.replace(/^\n+/, ""))
    .filter((name) => name !== "");
}

// Objects of a repository that a git command is given by their ids. What was staged once and never committed is still there, and so is a
// commit that no branch has any more: the names that refs know say nothing about it.

export interface GivenObjects {
  /** They name what they hold, whether a ref reaches them or not. */
  readonly commits: readonly string[];
  /** A file or directory may be shown of which it is unknown what it was called. */
  readonly nameless: boolean;
}

export async function givenObjects(argv: readonly string[], ask: AskGit): Promise<GivenObjects> {
  const [, args] = readSubcommand(argv);
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
  const reached = splitLines(await ask(["rev-list", "--objects", ...REACHED, ...commits]));
  const all = isEverything ? splitLines(await ask(ALL_OBJECTS)) : contents;
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

function splitLines(text: string | undefined): string[] | undefined {
  return text?.split("\n").filter((line) => line !== "");
}
