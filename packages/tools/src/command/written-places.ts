// Where a command may write what matters most: files that something runs on its own (PATH-6), and the agent's home (PERM-14). The
// destinations of known programs are taken from their arguments; of any other program every path in its arguments may be one.

import type { Dirent } from "node:fs";
import { basename, join } from "node:path";
import type { Places, Restriction } from "@soong/core";
import {
  baseName,
  hasOption,
  innerCommands,
  isHarmlessGitKey,
  isReadingProgram,
  optionValues,
  readGitConfigArguments,
  selfRunningBy,
} from "@soong/core/internal";
import { isDirectory, lookAt, ranByGit, type JudgedPath } from "../path/index.ts";
import { gitDoes } from "./git-table.ts";
import { baseDirectories } from "./base-directories.ts";
import { gitArguments, repositoryAround } from "./git-arguments.ts";
import { programTable } from "./programs.ts";
import { dashedLetters } from "./walked-trees.ts";
import { isHarmlessAwkProgram } from "./harmless-programs.ts";
import { canonicalPath, isWithin, sensitivePath } from "./places-of-command.ts";
import { pathsInArguments } from "./restricted-arguments.ts";
import { listDirectory, shellNames, spelledCommands, type Command } from "./spelled-commands.ts";

type WritingPlaces = Pick<Places, "sensitiveBy" | "restrictedBy">;

/** Whether it may change a path that its arguments name: not one that its program is known to read alone. */
export function mayWriteNamed(
  command: Required<Command>,
  places: WritingPlaces,
): (path: string) => boolean {
  const { argv, cwd, home } = command;
  const { certain, possible, restored, bases } = findDestinations(command, places);
  const all = pathsInArguments({ argv: [...certain, ...possible, ...restored], bases, home });
  // A program of which nothing is known may write where it runs.
  const isOpen = possible.length > 0 && !isReadingProgram(baseName(argv[0]));
  return (path) => all.has(path) || (isOpen && path === cwd);
}

export function writtenPlaces(command: Required<Command>, places: WritingPlaces): JudgedPath[] {
  const { home } = command;
  const { sensitiveBy, restrictedBy } = places;
  const { certain, possible, unread, bases } = findDestinations(command, places);
  const written = pathsInArguments({ argv: certain, bases, home });
  const mayBeWritten = pathsInArguments({ argv: possible, bases, home });
  const removes = REMOVES.test(baseName(command.argv[0]));
  const found = [
    ...[...written.keys()].filter(
      (path) =>
        sensitiveBy(path) !== undefined ||
        (!removes && runsLater(path)) ||
        mayNotBeWritten(restrictedBy(path, "write")),
    ),
    ...[...mayBeWritten.keys()].filter(runsLater),
  ];
  const tooMany = unread.map((path) =>
    sensitivePath(path, "what is copied to it through links is too much to look at each"),
  );
  return [...[...new Set(found)].map(writtenPath), ...tooMany];
}

export function writtenPath(path: string): JudgedPath {
  const self_running = ranByGit(path);
  const written = { kind: "path", access: "write", path } as const;
  return self_running === undefined ? written : { ...written, self_running };
}

/** By a rule, or because it belongs to the runtime (PERM-14). */
export function mayNotBeWritten(restriction: Restriction | undefined): boolean {
  return restriction?.kind === "rule" || restriction?.decision === "deny";
}

export function runsLater(path: string): boolean {
  return selfRunningBy(path) !== undefined || ranByGit(path) !== undefined;
}

/** Arguments, or parts of them. */
interface Destinations {
  /** Written, if the command does anything at all. */
  readonly certain: readonly string[];
  /** No one can tell. */
  readonly possible: readonly string[];
  /** Removed, or put back as it was committed: nothing new can run through it. */
  readonly restored?: readonly string[];
  /** Directories, canonical, into which more is copied than is looked at. */
  readonly unread?: readonly string[];
}

const NONE: Destinations = { certain: [], possible: [] };

function findDestinations(
  { argv, cwd, executable, home }: Required<Command>,
  { restrictedBy }: WritingPlaces,
): Required<Destinations> & { readonly bases: readonly string[] } {
  const inner = innerCommands(argv, executable);
  const bases = baseDirectories({ argv, cwd, executable, home }) ?? [cwd];
  const places: Where[] = bases.map((base) => ({
    cwd: base,
    home,
    isRestricted: (path) => mayNotBeWritten(restrictedBy(path, "write")),
  }));
  const unknown = (words: readonly string[]): Destinations => ({
    certain: [],
    possible: words.slice(1),
  });
  const own = places.flatMap((where) => ownDestinations(argv, where) ?? []);
  const runs = inner.commands.length > 0;
  // A wrapper or a shell writes what its commands write, and what they are redirected to.
  const runsOnly = runs && !inner.opaque;
  const commands = places.map((where) => ({
    where,
    spelled: runs ? spelledCommands({ argv, executable }, where.cwd) : [],
  }));
  const all = [
    ...(own.length > 0 || runsOnly ? own : [unknown(argv)]),
    ...commands.flatMap(({ where, spelled }) =>
      spelled.map((words) => ownDestinations(words, where) ?? unknown(words)),
    ),
  ];
  const redirected = commands.flatMap(({ where, spelled }) => {
    const scripts = runs ? new Set([...argv, ...spelled.flat()]) : [];
    return [...scripts].flatMap(redirections).flatMap((one) => shellNames(where.cwd, one));
  });
  const certain = [...new Set([...redirected, ...all.flatMap((one) => one.certain)])];
  const possible = [...new Set(all.flatMap((one) => one.possible))];
  const restored = [...new Set(all.flatMap((one) => one.restored ?? []))];
  // What is written may be meant from there.
  const writes = certain.length > 0 || possible.length > 0;
  return {
    certain,
    possible: writes ? [...possible, ...bases.slice(1)] : [],
    restored,
    unread: [...new Set(all.flatMap((one) => one.unread ?? []))],
    bases,
  };
}

/** The word behind each sign, and its first part: a quote behind it may end the script that it is in. */
function redirections(script: string): string[] {
  const parts = script.matchAll(/>[>|&]*\s*(?:"([^"]+)"|'([^']+)'|([^\s"';|&<>()]+))/g);
  const words = script.matchAll(
    />[>|&]*\s*((?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\;|&<>()])+)/gs,
  );
  return [
    ...Array.from(parts, ([, double, single, plain]) => double ?? single ?? plain ?? ""),
    ...Array.from(words, ([, word = ""]) => unquote(word)),
  ];
}

function unquote(word: string): string {
  return word.replaceAll(
    /\$?"((?:[^"\\]|\\.)*)"|\$?'([^']*)'|\\(.)/gs,
    (_, double?: string, single?: string, escaped?: string) =>
      double?.replaceAll(/\\(.)/gs, "$1") ?? single ?? escaped ?? "",
  );
}

interface Where {
  readonly cwd: string;
  readonly home: string;
  /** By a rule about writing. */
  readonly isRestricted: (path: string) => boolean;
}

/** Undefined for a program of which nothing is known. */
function ownDestinations(words: readonly string[], where: Where): Destinations | undefined {
  const [program, ...args] = words;
  const name = baseName(program);
  if (isReadingProgram(name)) return NONE;
  if (Object.hasOwn(DESTINATIONS, name)) return DESTINATIONS[name]?.(args, where);
  const { marks } = programTable(name);
  if (marks.has("writes")) return { certain: args, possible: [] };
  if (marks.has("output"))
    return { certain: outputs(args), possible: marks.get("output") === "also" ? args : [] };
  return marks.has("quiet") ? NONE : undefined;
}

/** Nothing new can run through what they remove. */
const REMOVES = /^(?:rm|rmdir|unlink|shred)$/;

type Reader = (args: readonly string[], where: Where) => Destinations | undefined;

const copiedByName: Reader = (args, where) =>
  copyDestinations(args, where, {
    keepsPath: hasOption(args, "--pa*"),
    entersLinks: hasOption(args, "-L|--de*"),
  });
const writtenByAwk: Reader = (args) => (args.every(isHarmlessAwkProgram) ? NONE : undefined);

const DESTINATIONS: Readonly<Record<string, Reader>> = {
  cp: copiedByName,
  install: copiedByName,
  rsync: rsyncDestinations,
  scp: (args, where) => copyDestinations(withoutTimes(args), where, { entersLinks: true }),
  mv: movedOrLinked,
  ln: movedOrLinked,
  tar: archiveDestinations,
  gtar: archiveDestinations,
  bsdtar: archiveDestinations,
  awk: writtenByAwk,
  gawk: writtenByAwk,
  mawk: writtenByAwk,
  dd: (args) => ({ certain: args.filter((arg) => arg.startsWith("of=")), possible: [] }),
  // What it shows is logged by `-o`, `-O`, `--log-file`.
  less: (args) => ({ certain: hasOption(args, "-oO|--log*|--LOG*") ? args : [], possible: [] }),
  find: foundBy,
  sed: editDestinations,
  git: writtenByGit,
};

/** `-o file`, `-ofile`, `--output=file`, also shortened. */
function outputs(args: readonly string[]): string[] {
  return optionValues(args, "-o|--o*");
}

interface Copying {
  /** Below the target it has the whole path by which it is named. */
  readonly keepsPath?: boolean;
  /** What links to directories lead to is copied, too. */
  readonly entersLinks?: boolean;
  /** Of each directory what is in it, not itself. */
  readonly isContent?: boolean;
}

/** Where it is copied to, and what is then there that runs later. */
function copyDestinations(
  args: readonly string[],
  { cwd, isRestricted }: Where,
  { keepsPath = false, entersLinks = false, isContent = false }: Copying = {},
): Destinations {
  const { sources, targets } = copiedOperands(args);
  const inside: string[] = [];
  const unread: string[] = [];
  for (const target of targets) {
    const directory = canonicalPath(cwd, target);
    if (directory === undefined || !isDirectory(directory)) continue;
    for (const source of sources) {
      const from = canonicalPath(cwd, source);
      if (from === undefined) continue;
      const names = [
        basename(source),
        // rsync keeps what follows a lone dot.
        ...(keepsPath ? [source, source.slice(source.lastIndexOf("/./") + 1)] : []),
        ...(isContent || isItsContent(source, args) ? [""] : []),
      ];
      for (const to of new Set(names.map((name) => join(directory, name)))) {
        const below = runLaterBelow({ from, to, isRestricted, entersLinks });
        inside.push(to, ...below.found);
        if (!below.isWhole && entersLinks) unread.push(directory);
      }
    }
  }
  return { certain: [...targets, ...inside], possible: [], unread };
}

function rsyncDestinations(args: readonly string[], where: Where): Destinations {
  const isListed = hasOption(args, "--files-f*");
  return copyDestinations(withoutTimes(args), where, {
    keepsPath: isListed || hasOption(args, "-R|--rel*"),
    entersLinks: hasOption(args, "-Lk|--copy-*"),
    isContent: isListed,
  });
}

/** Here `-t` names no target. */
function withoutTimes(args: readonly string[]): string[] {
  return args.filter((arg) => !hasOption([arg], "-t"));
}

/** What is copied, moved or linked, and where to. */
export function copiedOperands(args: readonly string[]): { sources: string[]; targets: string[] } {
  const targets = optionValues(args, TARGET);
  const isNext = (index: number): boolean =>
    /^-[A-Za-z]*t$|^--ta[a-z-]*$/.test(args[index - 1] ?? "");
  const operands = args.filter((arg) => !arg.startsWith("-"));
  if (targets.length === 0) return { sources: operands.slice(0, -1), targets: operands.slice(-1) };
  // `-St` may be a suffix, and then the last operand is the target.
  const isUnsure = args.some((arg) => /^-[A-Za-z]*S.*t/.test(arg));
  return {
    sources: args.filter((arg, index) => !arg.startsWith("-") && (isUnsure || !isNext(index))),
    targets: isUnsure ? [...targets, ...operands.slice(-1)] : targets,
  };
}

const TARGET = "-t|--ta*";

/** `from/.`, `from/` of rsync, `-T from`: not itself, but what is in it. */
function isItsContent(source: string, args: readonly string[]): boolean {
  return /(?:^|\/)\.{0,2}\/*$/.test(source) || hasOption(args, "-T|--no-t*");
}

/** As many entries as are looked through for sensitive files: a larger tree asks for that reason. */
const MOST_ENTRIES = 20_000;

interface CopiedTree {
  /** Canonical. */
  readonly from: string;
  readonly to: string;
  readonly isRestricted: (path: string) => boolean;
  readonly entersLinks: boolean;
}

/** What of a tree that is copied to another place would run there, in a directory that is there already, or may not be written. */
function runLaterBelow({ from, to, isRestricted, entersLinks }: CopiedTree): {
  readonly found: string[];
  readonly isWhole: boolean;
} {
  const found: string[] = [];
  const ahead = [{ from, to: canonicalPath("/", to) ?? to, through: [] as readonly string[] }];
  let left = MOST_ENTRIES;
  for (const at of ahead) {
    for (const entry of listDirectory(at.from)) {
      if ((left -= 1) < 0) return { found, isWhole: false };
      // A file that is there as a link is written where that leads.
      const path = linkedPath(join(at.to, entry.name));
      const by = selfRunningBy(path);
      if (isRestricted(path) || ranByGit(path) !== undefined) found.push(path);
      else if (by === undefined) {
        const inner = enteredBy(entry, at, entersLinks);
        if (inner !== undefined) ahead.push({ ...inner, to: path });
      } else if (isDirectory(path.slice(0, path.toLowerCase().lastIndexOf(`/${by}`)) || "/")) {
        found.push(path);
      }
    }
  }
  return { found, isWhole: true };
}

interface EnteredDirectory {
  readonly from: string;
  /** The links that led to it, by what they lead to. */
  readonly through: readonly string[];
}

function enteredBy(
  entry: Dirent,
  { from, through }: EnteredDirectory,
  entersLinks: boolean,
): EnteredDirectory | undefined {
  const path = join(from, entry.name);
  if (entry.isDirectory())
    return entry.name === "node_modules" ? undefined : { from: path, through };
  if (!entersLinks || !entry.isSymbolicLink()) return undefined;
  const real = canonicalPath("/", path);
  // A circle is not copied.
  if (real === undefined || !isDirectory(real) || isWithin(real, from) || through.includes(real))
    return undefined;
  return { from: real, through: [...through, real] };
}

function linkedPath(path: string): string {
  return lookAt(path)?.isSymbolicLink() === true ? (canonicalPath("/", path) ?? path) : path;
}

function movedOrLinked(args: readonly string[], where: Where): Destinations {
  const { certain } = copyDestinations(args, where);
  return { certain: [...args, ...certain], possible: [] };
}

function archiveDestinations(args: readonly string[]): Destinations {
  const dashed = dashedLetters(args);
  if (!hasOption(dashed.slice(0, 1), "-cru") && !hasOption(args, "--cr*"))
    return { certain: [], possible: args };
  const at = dashed.findIndex(
    (arg, index) => /^-[A-Za-z]*f$/.test(arg) || (index === 0 && /^-[A-Za-z]*f/.test(arg)),
  );
  const long = args.filter((arg) => arg.startsWith("--file="));
  return { certain: [...long, ...(at === -1 ? [] : [args[at + 1] ?? ""])], possible: [] };
}

function foundBy(args: readonly string[]): Destinations {
  const written = args.filter((_, index) => /^-(?:fprint|fls)/.test(args[index - 1] ?? ""));
  const action = args.findIndex((arg) => /^-(?:exec|ok)/.test(arg));
  const handed = action === -1 ? [] : args.slice(action + 1);
  return {
    certain: written,
    possible: isReadingProgram(baseName(handed[0])) ? [] : handed,
    restored: args.includes("-delete") ? args : [],
  };
}

/** In place, or by the `w` of its script. */
function editDestinations(args: readonly string[]): Destinations {
  const inPlace = hasOption(args, "-i|--in-place*");
  const { runArguments, opaque } = innerCommands(["sed", ...args], "/usr/bin/sed");
  const scripts =
    runArguments.length === 0 && !opaque ? [] : args.filter((arg) => /w\s*\S/.test(arg));
  return { certain: inPlace ? args : [], possible: scripts };
}

function writtenByGit(args: readonly string[], { cwd, home }: Where): Destinations {
  const { subcommand, rest, directories } = gitArguments(args);
  const directory = directories.reduce((at, one) => canonicalPath(at, one) ?? at, cwd);
  const operands = rest.filter((arg) => !arg.startsWith("-"));
  const certain = outputs(subcommand === "commit" ? [] : rest);
  if (subcommand === "config")
    return { certain: configWritten(rest, directory, home), possible: [] };
  if (subcommand === "clone") certain.push(...operands.slice(1));
  if (gitDoes(subcommand, "into")) certain.push(...rest);
  // It adds the hooks of the template to a repository that is there.
  if (subcommand.startsWith("init") && rest.some((arg) => arg.startsWith("--te")))
    certain.push(
      ...["", ...operands].map((one) => join(canonicalPath(directory, one) ?? one, ".git/hooks")),
    );
  return {
    certain,
    possible: rest.filter((arg) => /^--(?!mess|auth|grep|form|pret)[a-z-]+=/.test(arg)),
    restored: gitDoes(subcommand, "reads") ? [] : rest,
  };
}

/** The file that an option names, or the config that is written, if the key may name a program. */
function configWritten(args: readonly string[], directory: string, home: string): string[] {
  const use = readGitConfigArguments(args);
  if (use.kind === "reads") return [];
  if (use.file !== undefined) return [use.file];
  if (use.key !== undefined && isHarmlessGitKey(use.key)) return [];
  return [
    use.isGlobal ? join(home, ".gitconfig") : join(repositoryAround(directory), ".git/config"),
  ];
}
