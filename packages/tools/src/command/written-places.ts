// Where a command may write what matters most: files that something runs by itself (PATH-6), and the agent's home (PERM-14). The
// destinations of known programs are taken from their arguments; of any other program every path in its arguments may be one.

import { lstatSync, readdirSync, type Dirent } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Places, Restriction } from "@soong/core";
import {
  baseName,
  innerCommands,
  isHarmlessGitKey,
  isReadingProgram,
  readGitConfigArguments,
  selfRunningBy,
} from "@soong/core/internal";
import { existsThroughLinks, isDirectory, ranByGit, type JudgedPath } from "../path/index.ts";
import { baseDirectories } from "./base-directories.ts";
import { gitArguments } from "./git-arguments.ts";
import { isHarmlessAwkProgram } from "./harmless-programs.ts";
import { canonicalPath } from "./places-of-command.ts";
import { pathsInArguments, type CommandArguments } from "./restricted-arguments.ts";

export interface WritingCommand extends CommandArguments {
  readonly executable: string;
}

type WritingPlaces = Pick<Places, "sensitiveBy" | "restrictedBy">;

/** Whether it may change a path that its arguments name: not one that its program is known to read alone. */
export function mayWriteNamed(
  command: WritingCommand,
  places: WritingPlaces,
): (path: string) => boolean {
  const { argv, cwd, home } = command;
  const { certain, possible, restored, bases } = destinationsOf(command, places);
  const all = pathsInArguments({ argv: [...certain, ...possible, ...restored], bases, home });
  // A program of which nothing is known may write where it runs.
  const isOpen = possible.length > 0 && !isReadingProgram(baseName(argv[0]));
  return (path) => all.has(path) || (isOpen && path === cwd);
}

export function writtenPlaces(command: WritingCommand, places: WritingPlaces): JudgedPath[] {
  const { home } = command;
  const { sensitiveBy, restrictedBy } = places;
  const { certain, possible, bases } = destinationsOf(command, places);
  const written = pathsInArguments({ argv: certain, bases, home });
  const mayBeWritten = pathsInArguments({ argv: possible, bases, home });
  const removes = new Set(REMOVERS).has(baseName(command.argv[0]));
  const found = [
    ...[...written.keys()].filter(
      (path) =>
        sensitiveBy(path) !== undefined ||
        (!removes && runsLater(path)) ||
        mayNotBeWritten(restrictedBy(path, "write")),
    ),
    ...[...mayBeWritten.keys()].filter(runsLater),
  ];
  return [...new Set(found)].map(writtenPath);
}

export function writtenPath(path: string): JudgedPath {
  const self_running = ranByGit(path);
  return {
    kind: "path",
    access: "write",
    path,
    ...(self_running === undefined ? {} : { self_running }),
  };
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
  /** Nobody can tell. */
  readonly possible: readonly string[];
  /** Removed, or put back as it was committed: nothing new can run through it. */
  readonly restored?: readonly string[];
}

const NONE: Destinations = { certain: [], possible: [] };

function destinationsOf(
  { argv, cwd, executable, home }: WritingCommand,
  { restrictedBy }: WritingPlaces,
): Required<Destinations> & { readonly bases: readonly string[] } {
  const inner = innerCommands(argv, executable);
  const commands = inner.commands.map(({ words }) => words);
  const bases = baseDirectories({ argv, cwd, executable, home }) ?? [cwd];
  const places: Where[] = bases.map((base) => ({
    cwd: base,
    home,
    isRestricted: (path) => mayNotBeWritten(restrictedBy(path, "write")),
  }));
  const destinations = (words: readonly string[]): Destinations[] | undefined => {
    const found = places.flatMap((where) => ownDestinations(words, where) ?? []);
    return found.length === 0 ? undefined : found;
  };
  const unknown = (words: readonly string[]): Destinations[] => [
    { certain: [], possible: words.slice(1) },
  ];
  const own = destinations(argv);
  // A wrapper or a shell writes what its commands write, and what they are redirected to.
  const runsOnly = own === undefined && commands.length > 0 && !inner.opaque;
  const all = [
    ...(own ?? (runsOnly ? [] : unknown(argv))),
    ...commands.flatMap((words) => destinations(words) ?? unknown(words)),
  ];
  const redirected = commands.length === 0 ? [] : argv.flatMap(redirections);
  const certain = [...new Set([...redirected, ...all.flatMap((one) => one.certain)])];
  const possible = [...new Set(all.flatMap((one) => one.possible))];
  const restored = [...new Set(all.flatMap((one) => one.restored ?? []))];
  // What is written may be meant from there.
  const writes = certain.length > 0 || possible.length > 0;
  return { certain, possible: writes ? [...possible, ...bases.slice(1)] : [], restored, bases };
}

function redirections(script: string): string[] {
  const found = script.matchAll(/>[>|&]*\s*(?:"([^"]+)"|'([^']+)'|([^\s"';|&<>()]+))/g);
  return [...found].map(([, double, single, plain]) => double ?? single ?? plain ?? "");
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
  const known = Object.hasOwn(DESTINATIONS, name) ? DESTINATIONS[name] : undefined;
  return known?.(args, where);
}

const REMOVERS = ["rm", "rmdir", "unlink", "shred"];

type Reader = (args: readonly string[], where: Where) => Destinations | undefined;

const everyOperand: Reader = (args) => ({ certain: args, possible: [] });
const nothing: Reader = () => NONE;

const DESTINATIONS: Readonly<Record<string, Reader>> = {
  ...byNames("tee touch mkdir mkfifo truncate chmod chown chgrp uniq xxd patch link", everyOperand),
  ...byNames(REMOVERS.join(" "), everyOperand),
  ...byNames("gzip gunzip bzip2 bunzip2 xz unxz sync csplit", everyOperand),
  ...byNames("cp install", copied),
  // Their `-t` names no target.
  ...byNames("rsync scp", (args, where) =>
    copied(
      args.filter((arg) => !/^-[A-Za-z]*t/.test(arg)),
      where,
    ),
  ),
  ...byNames("mv ln", movedOrLinked),
  ...byNames("kill pkill killall grep egrep fgrep rg ag less more", nothing),
  ...byNames("sort shuf tree", (args) => ({ certain: outputs(args), possible: [] })),
  ...byNames("tar gtar bsdtar", archived),
  ...byNames("awk gawk mawk", (args) => (args.every(isHarmlessAwkProgram) ? NONE : undefined)),
  dd: (args) => ({ certain: args.filter((arg) => arg.startsWith("of=")), possible: [] }),
  find: foundBy,
  sed: edited,
  git: writtenByGit,
};

function byNames(names: string, reader: Reader): Record<string, Reader> {
  return Object.fromEntries(names.split(" ").map((name) => [name, reader]));
}

/** `-o file`, `-ofile`, `--output=file`, also shortened. */
function outputs(args: readonly string[]): string[] {
  return args.flatMap((arg, index) => {
    if (/^-[A-Za-z]*o$|^--o[a-z-]*$/.test(arg)) return [args[index + 1] ?? ""];
    const [, attached] = /^(?:-[A-Za-z]*?o|--o[a-z-]*=)(.+)$/s.exec(arg) ?? [];
    return attached === undefined ? [] : [attached];
  });
}

/** Where it is copied to, and what is then there that runs later. */
function copied(args: readonly string[], { cwd, isRestricted }: Where): Destinations {
  const { sources, targets } = copiedOperands(args);
  const inside = targets.flatMap((target) => {
    const directory = canonicalPath(cwd, target);
    if (directory === undefined || !isDirectory(directory)) return [];
    return sources.flatMap((source) => {
      const from = canonicalPath(cwd, source);
      if (from === undefined) return [];
      const places = [
        join(directory, basename(source)),
        ...(isItsContent(source, args) ? [directory] : []),
      ];
      return places.flatMap((to) => [to, ...runLaterBelow(from, to, isRestricted)]);
    });
  });
  return { certain: [...targets, ...inside], possible: [] };
}

/** What is copied, moved or linked, and where to. */
export function copiedOperands(args: readonly string[]): { sources: string[]; targets: string[] } {
  const operands = args.filter((arg) => !arg.startsWith("-"));
  const directories = args.flatMap((arg, index) => {
    const [, attached] = /^(?:-[A-Za-z]*?t|--ta[a-z-]*=)(.+)$/s.exec(arg) ?? [];
    return attached ?? (TARGET_NEXT.test(arg) ? [args[index + 1] ?? ""] : []);
  });
  if (directories.length === 0)
    return { sources: operands.slice(0, -1), targets: operands.slice(-1) };
  const sources = args.filter(
    (arg, index) => !arg.startsWith("-") && !TARGET_NEXT.test(args[index - 1] ?? ""),
  );
  return { sources, targets: directories };
}

const TARGET_NEXT = /^-[A-Za-z]*t$|^--ta[a-z-]*$/;

/** `from/.`, `from/` of rsync, `-T from`: not itself, but what is in it. */
function isItsContent(source: string, args: readonly string[]): boolean {
  return /(?:^|\/)\.{0,2}\/*$/.test(source) || args.some((arg) => /^-[A-Za-z]*T|^--no-t/.test(arg));
}

/** As many entries as are looked through for sensitive files: a larger tree asks for that reason. */
const MOST_ENTRIES = 20_000;

/** What of a tree that is copied to another place would run there, in a directory that is there already, or may not be written. */
function runLaterBelow(
  from: string,
  to: string,
  isRestricted: (path: string) => boolean,
): string[] {
  const found: string[] = [];
  const ahead = [""];
  let left = MOST_ENTRIES;
  for (const at of ahead) {
    for (const entry of listDirectory(join(from, at))) {
      if ((left -= 1) < 0) return found;
      const name = join(at, entry.name);
      // A file that is there as a link is written where that leads.
      const path = linkedPath(join(to, name));
      const by = selfRunningBy(path);
      if (isRestricted(path) || ranByGit(path) !== undefined) found.push(path);
      else if (by === undefined) {
        if (entry.isDirectory() && entry.name !== "node_modules") ahead.push(name);
      } else if (isDirectory(path.slice(0, path.toLowerCase().lastIndexOf(`/${by}`)) || "/")) {
        found.push(path);
      }
    }
  }
  return found;
}

function linkedPath(path: string): string {
  try {
    const node = lstatSync(path, { throwIfNoEntry: false });
    return node?.isSymbolicLink() === true ? (canonicalPath("/", path) ?? path) : path;
  } catch {
    return path;
  }
}

function listDirectory(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    return [];
  }
}

function movedOrLinked(args: readonly string[], where: Where): Destinations {
  const { certain } = copied(args, where);
  return { certain: [...args, ...certain], possible: [] };
}

function archived(args: readonly string[]): Destinations {
  const creates =
    /^-?[A-Za-z]*[cru]/.test(args[0] ?? "") || args.some((arg) => arg.startsWith("--cr"));
  if (!creates) return { certain: [], possible: args };
  const at = args.findIndex(
    (arg, index) => /^-[A-Za-z]*f$/.test(arg) || (index === 0 && /^[A-Za-z]*f/.test(arg)),
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
function edited(args: readonly string[]): Destinations {
  const inPlace = args.some((arg) => /^-[A-Za-z]*i|^--in-place/.test(arg));
  const { told, opaque } = innerCommands(["sed", ...args], "/usr/bin/sed");
  const scripts = told.length === 0 && !opaque ? [] : args.filter((arg) => /w\s*\S/.test(arg));
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
  if (TO_OPERANDS.has(subcommand)) certain.push(...rest);
  // It adds the hooks of the template to a repository that is there.
  if (subcommand.startsWith("init") && rest.some((arg) => arg.startsWith("--te")))
    certain.push(
      ...["", ...operands].map((one) => join(canonicalPath(directory, one) ?? one, ".git/hooks")),
    );
  return {
    certain,
    possible: rest.filter((arg) => /^--(?!mess|auth|grep|form|pret)[a-z-]+=/.test(arg)),
    restored: READS_OPERANDS.has(subcommand) ? [] : rest,
  };
}

/** What they are given stays as it is. */
const READS_OPERANDS: ReadonlySet<string> = new Set(
  `add commit status log diff show blame annotate grep ls-files ls-tree cat-file rev-list rev-parse shortlog whatchanged
  archive format-patch diff-files diff-index diff-tree check-ignore check-attr hash-object branch tag push fetch
  range-diff describe update-index apply am`.split(/\s+/),
);

const TO_OPERANDS: ReadonlySet<string> = new Set(
  "init init-db mv worktree bundle checkout-index submodule".split(" "),
);

/** The file that an option names, or the config that is written, if the key may name a program. */
function configWritten(args: readonly string[], directory: string, home: string): string[] {
  const use = readGitConfigArguments(args);
  if (use.kind === "reads") return [];
  if (use.file !== undefined) return [use.file];
  if (use.key !== undefined && isHarmlessGitKey(use.key)) return [];
  return [use.isGlobal ? join(home, ".gitconfig") : configAround(directory)];
}

function configAround(directory: string): string {
  return join(repositoryAround(directory), ".git/config");
}

export function repositoryAround(directory: string): string {
  for (let at = directory; ; at = dirname(at)) {
    if (existsThroughLinks(join(at, ".git"))) return at;
    if (at === dirname(at)) return directory;
  }
}
