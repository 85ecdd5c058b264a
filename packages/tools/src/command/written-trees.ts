// What a command may write without naming it (PERM-15, PATH-6): whole trees (`find -delete`, `git checkout .`), the names in an archive or a
// patch, and everything for a program that is not known.

import { join } from "node:path";
import type { Places, Restriction, Roots } from "@soong/core";
import {
  baseName,
  hasOption,
  innerCommands,
  isOfTheSystem,
  isReadingProgram,
  optionValues,
} from "@soong/core/internal";
import { gitDoes } from "./git-table.ts";
import { innerDirectories, lastDirectory } from "./base-directories.ts";
import { directoryOfGit, gitArguments, repositoryAround } from "./git-arguments.ts";
import { reachOfGit } from "./git-reach.ts";
import { isHarmlessAwkProgram } from "./harmless-programs.ts";
import { patchedByGit, patchedByPatch, type PatchedFiles } from "./patched-files.ts";
import { tellsOfItself, unwritableBelow, type NamedTree } from "./paths-in-reach.ts";
import { canonicalPath, sensitivePath } from "./places-of-command.ts";
import { unwritableInRepository } from "./repository-contents.ts";
import { hasUnknownWords, spelledCommands, type Command } from "./spelled-commands.ts";
import { isMarked, programTable } from "./programs.ts";
import { pathsBelow, TOO_MANY } from "./paths-below.ts";
import { dashedLetters, namedByFind, startsOfFind } from "./walked-trees.ts";
import { copiedOperands, runsLater, writtenPath } from "./written-places.ts";
import { exists, isDirectory, type JudgedPath } from "../path/index.ts";

interface WrittenTree extends NamedTree {
  /** `all`: of every file in it; `some`: of those that an archive or a repository names; `unknown`: nothing says that it is written. */
  readonly writes: "all" | "some" | "unknown";
}

interface WrittenTrees {
  readonly trees: readonly WrittenTree[];
  /** The files that a patch names, canonical. */
  readonly files: readonly string[];
  /** Directories into which something is unpacked under names that are not known. */
  readonly unpacked: readonly string[];
  /** Work trees whose files git puts back, also those that are not there now. */
  readonly restored: readonly string[];
}

const NOTHING: WrittenTrees = { trees: [], files: [], unpacked: [], restored: [] };
const ANYTHING: WrittenTrees = { ...NOTHING, trees: [{ root: "/", writes: "unknown" }] };

/** Of the command and of those inside it. */
function writtenTrees({
  argv,
  cwd,
  executable,
  roots,
}: Command & { readonly roots: Roots }): WrittenTrees {
  const inner = innerCommands(argv, executable);
  const isKnown = isOfTheSystem(argv[0] ?? "") && isOfTheSystem(executable);
  const own = isKnown ? findWrittenTrees(argv, cwd) : undefined;
  // A wrapper or a shell writes what its commands write.
  const runsOnly = isKnown && inner.commands.length > 0 && !inner.opaque;
  const isHarmless = runsOnly || tellsOfItself({ argv, executable }, roots);
  const bases = innerDirectories({ argv, cwd, executable }) ?? [cwd];
  const found = bases.flatMap((base) =>
    spelledCommands({ argv, executable }, base).map((words) =>
      // Its patch may be written by the same script.
      withoutFiles(findWrittenTrees(words, base) ?? ANYTHING, base),
    ),
  );
  // What a variable names is copied under its own name.
  const copied = inner.commands.some(hasUnknownWords)
    ? bases.flatMap((base) => copiedUnseen(spelledCommands({ argv, executable }, base), base))
    : [];
  const all = [own ?? (isHarmless ? NOTHING : ANYTHING), ...(isFind(argv) ? [] : found)];
  const isElsewhere = namesWorkTree(argv) && all.some((one) => one !== NOTHING);
  return {
    trees: [...all.flatMap(({ trees }) => trees), ...copied, ...(isElsewhere ? [SOMEWHERE] : [])],
    files: all.flatMap(({ files }) => files),
    unpacked: all.flatMap(({ unpacked }) => unpacked),
    restored: all.flatMap(({ restored }) => restored),
  };
}

function copiedUnseen(commands: readonly (readonly string[])[], cwd: string): WrittenTree[] {
  return commands
    .filter(([program]) => /^(?:cp|mv|ln|install|rsync|scp)$/.test(baseName(program)))
    .flatMap((words) => inPart(below(words.slice(1), cwd)).trees);
}

const SOMEWHERE: WrittenTree = { root: "/", writes: "some" };

/** By a variable or a setting: which of the commands it holds for is not read. */
function namesWorkTree(argv: readonly string[]): boolean {
  return argv.some((word) => /GIT_WORK_TREE|core\.worktree/i.test(word));
}

function isFind([program]: readonly string[]): boolean {
  return baseName(program) === "find";
}

function withoutFiles(written: WrittenTrees, directory: string): WrittenTrees {
  return written.files.length === 0 ? written : unpackedIn(directory);
}

type Reader = (args: readonly string[], cwd: string) => WrittenTrees | undefined;

/** Undefined for a program of which nothing is known. */
function findWrittenTrees(
  [program, ...args]: readonly string[],
  cwd: string,
): WrittenTrees | undefined {
  const name = baseName(program);
  if (isReadingProgram(name)) return NOTHING;
  if (Object.hasOwn(WRITERS, name)) return WRITERS[name]?.(args, cwd);
  const table = programTable(name);
  if (!table.marks.has("changes")) return table.marks.has("named") ? NOTHING : undefined;
  const changed = isMarked(table, "changes", args) ? below(args, cwd) : NOTHING;
  return table.marks.has("partly") ? inPart(changed) : changed;
}

const writtenByAwk: Reader = (args) => (args.every(isHarmlessAwkProgram) ? NOTHING : undefined);

const WRITERS: Readonly<Record<string, Reader>> = {
  mv: moveTrees,
  sed: (args) => (runsNothing("sed", args) ? NOTHING : undefined),
  sort: (args) => (runsNothing("sort", args) ? NOTHING : undefined),
  // Where it says itself which files it writes, or a file does.
  curl: (args) =>
    hasOption(args, "-KOJ|--conf*|--remote-*|--output-dir* @digits") ? undefined : NOTHING,
  awk: writtenByAwk,
  gawk: writtenByAwk,
  mawk: writtenByAwk,
  tar: unpackedByTar,
  gtar: unpackedByTar,
  bsdtar: unpackedByTar,
  unzip: unpackedByUnzip,
  cpio: (args, cwd) =>
    hasOption(args, "-ip|--ext*|--pass*")
      ? { ...unpackedIn(cwd), trees: inPart(below([".", ...args], cwd)).trees }
      : NOTHING,
  find: changedByFind,
  patch: (args, cwd) => patchTrees(patchedByPatch(args, cwd)),
  git: writtenByGit,
};

/** The directories among them. */
function below(operands: readonly string[], cwd: string): WrittenTrees {
  const roots = operands
    .filter((arg) => !arg.startsWith("-"))
    .flatMap((arg) => canonicalPath(cwd, arg) ?? [])
    .filter(isDirectory);
  return { ...NOTHING, trees: roots.map((root) => ({ root, writes: "all" })) };
}

function inPart(written: WrittenTrees): WrittenTrees {
  return { ...written, trees: written.trees.map((tree) => ({ ...tree, writes: "some" })) };
}

/** All that is moved; of the place that it is moved to, what its names say. */
function moveTrees(args: readonly string[], cwd: string): WrittenTrees {
  const { trees } = below(args, cwd);
  const { sources } = copiedOperands(args);
  const roots = new Set(sources.map((source) => canonicalPath(cwd, source)));
  return {
    ...NOTHING,
    trees: trees.map((tree) => (roots.has(tree.root) ? tree : { ...tree, writes: "unknown" })),
  };
}

function runsNothing(program: string, args: readonly string[]): boolean {
  const { runArguments, opaque } = innerCommands([program, ...args], `/usr/bin/${program}`);
  return runArguments.length === 0 && !opaque;
}

function unpackedIn(directory: string): WrittenTrees {
  return { ...NOTHING, trees: [{ root: directory, writes: "some" }], unpacked: [directory] };
}

function unpackedByTar(given: readonly string[], cwd: string): WrittenTrees | undefined {
  if (!runsNothing("tar", given)) return undefined;
  const args = dashedLetters(given);
  if (!hasOption(args, "-x|--ext*|--get*")) return NOTHING;
  // With their own names, absolute ones may be among them.
  if (hasOption(args, "-P|--abs*")) return unpackedIn("/");
  return unpackedIn(lastDirectory({ argv: ["tar", ...given], cwd, executable: "tar" }));
}

function unpackedByUnzip(args: readonly string[], cwd: string): WrittenTrees {
  if (hasOption(args, "-lvtpczZ")) return NOTHING;
  const [given = "."] = optionValues(args, "-d");
  return unpackedIn(canonicalPath(cwd, given) ?? cwd);
}

function changedByFind(args: readonly string[], cwd: string): WrittenTrees {
  const action = args.findIndex((arg) => /^-(?:exec|ok)/.test(arg));
  const runs = action !== -1 && !isReadingProgram(baseName(args[action + 1]));
  if (!runs && !args.includes("-delete")) return NOTHING;
  const starts = startsOfFind(args);
  const { trees } = below(starts.length === 0 ? ["."] : starts, cwd);
  // A program may be handed a directory and enter it.
  const isOfFiles = !runs || args.some((arg, index) => arg === "f" && args[index - 1] === "-type");
  const hasNames = args.includes("-name") && !(runs && args.includes("-delete"));
  const { opens } = namedByFind(args);
  const handed = args.slice(action + 1);
  if (runs && !isPlainHandedOver(handed))
    return { ...ANYTHING, trees: [...ANYTHING.trees, ...copiedUnseen([handed], cwd)] };
  return {
    ...NOTHING,
    trees: hasNames && isOfFiles ? trees.map((tree) => ({ ...tree, counts: opens })) : trees,
  };
}

/** It changes what it is handed, and no more. */
function isPlainHandedOver(words: readonly string[]): boolean {
  return /^(?:sed|rm|chmod|chown|chgrp|mv|touch|truncate|gzip|shred|tee)$/.test(baseName(words[0]));
}

function patchTrees({ directory, files }: PatchedFiles): WrittenTrees {
  return files === undefined ? unpackedIn(directory) : { ...NOTHING, files };
}

const GIT_RUNS = /^(?:-c$|--config-env|--exec|--ext-diff|-O|--open-f|--upload-p|--receive-p)/;

function writtenByGit(args: readonly string[], cwd: string): WrittenTrees | undefined {
  const { subcommand, directories, workTree } = gitArguments(args);
  const written = writtenInRepository(args, cwd);
  // A repository that is made remembers the place that is named for its files.
  if (workTree === undefined || (written === NOTHING && !subcommand.startsWith("init")))
    return written;
  const directory = directories.reduce((at, one) => canonicalPath(at, one) ?? at, cwd);
  const root = canonicalPath(directory, workTree);
  return { ...NOTHING, trees: [root === undefined ? SOMEWHERE : { root, writes: "some" }] };
}

function writtenInRepository(args: readonly string[], cwd: string): WrittenTrees | undefined {
  const directory = directoryOfGit(["git", ...args], cwd);
  const { subcommand, rest } = gitArguments(args);
  const keeps = gitDoes(subcommand, "keeps") && !args.some((arg) => GIT_RUNS.test(arg));
  if (directory === undefined || keeps) return NOTHING;
  if (innerCommands(["git", ...args], "/usr/bin/git").opaque) return undefined;
  if (gitDoes(subcommand, "keeps")) return NOTHING;
  const root = repositoryAround(directory);
  const has = (list: string): boolean => hasOption(rest, list);
  const reach = reachOfGit({ argv: ["git", ...args], cwd, executable: "/usr/bin/git" });
  // Most write only what some commit or the index knows.
  const trees: WrittenTree[] = reach.kind === "tracked" ? [] : [{ root, writes: "some" }];
  const whole: WrittenTrees = { ...NOTHING, trees, restored: [root] };
  const named = (): WrittenTrees => {
    const end = rest.indexOf("--");
    const operands = end === -1 ? rest.filter((arg) => !arg.startsWith("-")) : rest.slice(end + 1);
    const paths = operands.map((one) => canonicalPath(directory, one));
    const areThere = paths.length > 0 && paths.every((one) => one !== undefined && exists(one));
    return areThere ? inPart(below(operands, directory)) : whole;
  };
  switch (subcommand) {
    case "":
      return NOTHING;
    case "checkout":
    case "switch": {
      const creates = rest.some((arg) =>
        /^-[A-Za-z]*[bBcC]$|^--(?:orphan|create|force-create)/.test(arg),
      );
      const operands = rest.filter((arg) => !arg.startsWith("-"));
      if (creates && operands.length <= 1) return NOTHING;
      return creates || subcommand === "switch" ? whole : named();
    }
    case "restore":
      return has("-S|--staged*") && !has("-W|--worktree*")
        ? NOTHING
        : has("-s|--source*|--pathspec*")
          ? whole
          : named();
    case "reset":
      return has("--hard*|--merge*|--keep*") ? whole : NOTHING;
    case "clean":
      if (has("-n|--dry*")) return NOTHING;
      return rest.some((arg) => !arg.startsWith("-")) ? named() : inPart(below(["."], directory));
    case "stash":
      return /^(?:list|show|drop|clear|create|store)$/.test(rest[0] ?? "") ? NOTHING : whole;
    case "rm":
      return has("--cached*") ? NOTHING : named();
    case "mv":
      return inPart(below(rest, directory));
    case "submodule":
      return /^(?:status|summary)$/.test(rest[0] ?? "status") ? NOTHING : whole;
    case "checkout-index": {
      const prefixes = rest.flatMap((arg) => /^--prefix=(.*)$/s.exec(arg)?.slice(1) ?? []);
      return { ...whole, trees: [...whole.trees, ...inPart(below(prefixes, root)).trees] };
    }
    case "sparse-checkout":
      return rest[0] === "list" ? NOTHING : whole;
    case "apply":
      if (has("--stat*|--numstat*|--summary*|--check*|--cached*") && !has("--apply*"))
        return NOTHING;
      return appliedByGit(patchedByGit(rest, directory, root), whole);
    case "am":
      return appliedByGit(patchedByGit(rest, directory, root), whole);
    default:
      return whole;
  }
}

function appliedByGit({ files }: PatchedFiles, whole: WrittenTrees): WrittenTrees {
  return files === undefined ? { ...whole, restored: [] } : { ...NOTHING, files };
}

/** A place below that runs on its own: what is unpacked may be written there. */
function selfRunningWhereUnpacked(directory: string): string | undefined {
  for (const path of pathsBelow(directory, ({ name }) => name !== "node_modules")) {
    if (path === TOO_MANY) return join(directory, ".git/hooks");
    if (runsLater(path)) return path;
  }
  return undefined;
}

export interface UnnamedWrites {
  readonly certain: readonly JudgedPath[];
  /** One path for each rule about writing. */
  readonly possible: readonly string[];
}

export const NOTHING_UNNAMED: UnnamedWrites = { certain: [], possible: [] };

/** The agent's home (PERM-14). What an unknown program does there is for a sandbox to stop. */
function isOfRuntime({ kind, decision }: Restriction): boolean {
  return kind === "sensitive" && decision === "deny";
}

export async function unnamedWrites(
  command: Command,
  places: Pick<Places, "roots" | "restrictedBy" | "restrictedGlobs" | "sensitiveBy">,
  env: Readonly<Record<string, string>>,
): Promise<UnnamedWrites> {
  const { trees, files, unpacked, restored } = writtenTrees({
    ...command,
    roots: places.roots,
  });
  const isJudged = (path: string): boolean =>
    runsLater(path) || places.restrictedBy(path, "write") !== undefined;
  const runLater = unpacked.flatMap((directory) => selfRunningWhereUnpacked(directory) ?? []);
  const below = unwritableBelow(trees, places, ({ kind }) => kind === "rule");
  const tracked =
    below.length > 0
      ? []
      : await Promise.all(restored.map((root) => unwritableInRepository(root, places, env)));
  const [inAll, inSome] = (["all", "some"] as const).map((which) =>
    unwritableBelow(
      trees.filter(({ writes }) => writes === which),
      places,
      isOfRuntime,
    ),
  ) as [string[], string[]];
  const possible = [...new Set([...below, ...tracked.flat()])];
  const doubtful = [...inSome, ...possible].filter((path) => {
    const restriction = places.restrictedBy(path, "write");
    return restriction !== undefined && isOfRuntime(restriction);
  });
  return {
    certain: [
      ...[...new Set([...files.filter(isJudged), ...runLater, ...inAll])].map(writtenPath),
      ...doubtful.filter((path) => !inAll.includes(path)).map((path) => sensitivePath(path)),
    ],
    possible,
  };
}
