// Restricted files that a command can get at through a repository (PERM-15): what was committed or staged is in its objects, whether the
// file is in the working tree or not. Git is asked which names it knows; it runs nothing and shows no contents for that.

import { basename, join, relative } from "node:path";
import type { Places, Roots } from "@soong/core";
import { hasOption, literalPrefix } from "@soong/core/internal";
import { findExecutable, startProcess } from "@soong/platform";
import { exists, lookAt, type JudgedPath } from "../path/index.ts";
import { gitDoes } from "./git-table.ts";
import { directoryOfGit, repositoryAround } from "./git-arguments.ts";
import { reachOfGit, readSubcommand } from "./git-reach.ts";
import { gitEnvironment } from "./git-environment.ts";
import { fileFromElsewhere, locateRepository } from "./harmless-repository.ts";
import { canonicalPath, isWithin, sensitivePath } from "./places-of-command.ts";
import { givenObjects, printedNames, type AskGit, type GivenObjects } from "./printed-names.ts";
import { createSample, type ReachingCommand } from "./paths-in-reach.ts";
import { allCommands } from "./spelled-commands.ts";
import { walkedTrees } from "./walked-trees.ts";

type RepositoryPlaces = Pick<Places, "restrictedBy" | "restrictedGlobs" | "sensitiveBy"> & {
  readonly roots: Roots;
};

export interface RepositoryContents {
  /** What a rule or guard restricts. */
  readonly may_reach: string[];
  /** Sensitive files that are shown as surely as if they were named. */
  readonly sensitive: JudgedPath[];
}

const NOTHING: RepositoryContents = { may_reach: [], sensitive: [] };

export async function repositoryContents(
  command: ReachingCommand,
  places: RepositoryPlaces,
  env: Readonly<Record<string, string>>,
): Promise<RepositoryContents> {
  const printed = command.read_only ? [] : await printedSecrets(command, places, env);
  const shown = shownBy(command);
  if (shown === undefined) return { ...NOTHING, sensitive: printed };
  const ask = gitAsker(shown.workTree, places.roots, env);
  const objects = shown.tracked === undefined ? undefined : await givenObjects(command.argv, ask);
  const all = shown.everything === undefined ? [] : await sensitiveNames(shown, places, ask);
  return {
    may_reach:
      shown.tracked === undefined
        ? []
        : await restrictedNames({ ...shown, ...objects }, places, ask),
    sensitive: [...all, ...printed],
  };
}

/** Sensitive files among those that a git command, or one inside the command, prints without naming them. */
async function printedSecrets(
  { argv, cwd, executable }: ReachingCommand,
  { restrictedBy, roots }: RepositoryPlaces,
  env: Readonly<Record<string, string>>,
): Promise<JudgedPath[]> {
  const found = new Map<string, JudgedPath>();
  for (const words of allCommands({ argv, executable })) {
    const directory = directoryOfGit(words, cwd);
    const foreign = directory === undefined ? undefined : foreignFile(directory);
    if (foreign !== undefined) found.set(foreign.path, foreign);
    const workTree = directory === undefined ? undefined : repositoryAround(directory);
    if (directory === undefined || workTree === undefined || !holdsObjects(workTree)) continue;
    const counts = (name: string): boolean =>
      !INSTALLED.test(name) && restrictedBy(join(workTree, name), "read")?.kind === "sensitive";
    const ask = gitAsker(directory, roots, env);
    const names = await printedNames({ argv: words, workTree, counts }, ask);
    const isNameless = (await givenObjects(words, ask)).nameless;
    if (names === undefined || isNameless) {
      const reason = isNameless
        ? "no commit names the objects that would be printed, which may be of a sensitive file"
        : "its history cannot be looked through for sensitive files";
      found.set(workTree, sensitivePath(workTree, reason, "search"));
    }
    for (const name of new Set(names?.filter(counts).slice(0, MOST_SENSITIVE))) {
      const path = join(workTree, name);
      found.set(path, sensitivePath(path));
    }
  }
  return [...found.values()];
}

/** The repository, where git may print a file of it that is one of another place. */
function foreignFile(directory: string): JudgedPath | undefined {
  const located = locateRepository(directory);
  if (typeof located !== "object") return undefined;
  const why = fileFromElsewhere(located);
  if (why === undefined) return undefined;
  return sensitivePath(located.git_dir, `${why}, and git may print what is in it`, "search");
}

/** Published files: keys among them are samples. */
const INSTALLED = /(?:^|\/)(?:node_modules|site-packages)\//;

/** Of restricted paths in reach, those that a sandbox does not close: masked or not, a repository has them in its objects. */
export async function reachInRepositories(
  paths: readonly string[],
  places: RepositoryPlaces,
  env: Readonly<Record<string, string>>,
): Promise<string[]> {
  const workTrees = [places.roots.project, ...paths].map((path) => repositoryAround(path));
  const found = await Promise.all(
    [...new Set(workTrees)]
      .filter((workTree) => isRepository(workTree))
      .map((workTree) =>
        restrictedNames({ workTree }, places, gitAsker(workTree, places.roots, env)),
      ),
  );
  return found.flat();
}

/** What git may put back into its work tree although a rule restricts writing it. */
export async function unwritableInRepository(
  workTree: string,
  places: RepositoryPlaces,
  env: Readonly<Record<string, string>>,
): Promise<string[]> {
  if (!isRepository(workTree) || places.restrictedGlobs("write").length === 0) return [];
  return restrictedNames({ workTree }, places, gitAsker(workTree, places.roots, env), "write");
}

interface Shown extends Partial<GivenObjects> {
  readonly workTree: string;
  /** What it tracks below these paths may be shown or changed; none: everything. */
  readonly tracked?: readonly string[];
  /** All tracked files below these pathspecs are shown. */
  readonly everything?: readonly string[];
}

function shownBy({ argv, cwd, executable, read_only }: ReachingCommand): Shown | undefined {
  const directory = directoryOfGit(argv, cwd);
  if (directory !== undefined) {
    const reach = reachOfGit({ argv, cwd, executable });
    const isTracked = reach.kind === "tracked" || reach.kind === "anything";
    // What is proven shows no sensitive file but one that is named.
    if (!isTracked && (read_only || !showsContents(argv))) return undefined;
    const workTree = repositoryAround(directory);
    if (!isRepository(workTree)) return undefined;
    const showsAll = argv.some((word) => word === "grep" || word === "archive");
    const end = argv.indexOf("--");
    return {
      workTree,
      ...(isTracked ? { tracked: reach.kind === "tracked" ? (reach.below ?? []) : [] } : {}),
      ...(showsAll && !read_only ? { everything: end === -1 ? [] : argv.slice(end + 1) } : {}),
    };
  }
  const named = argv.slice(1).flatMap((word) => canonicalPath(cwd, word) ?? []);
  if (/(?:^|\/)git$/.test(argv[0] ?? "") && argv.includes("clone")) {
    // A copy has the same files under other paths.
    const source = named.find((path) => isRepository(path));
    return source === undefined ? undefined : { workTree: source, tracked: [] };
  }
  const walked = walkedTrees({ argv, cwd, executable }).flatMap(({ root, showsNamesOnly }) =>
    showsNamesOnly ? [] : [root],
  );
  const git = [
    ...named.filter((path) => OBJECTS.test(path)),
    ...walked.filter((path) => basename(path) === ".git"),
  ].map((path) => path.slice(0, path.indexOf("/.git")))[0];
  return git === undefined ? undefined : { workTree: git === "" ? "/" : git, tracked: [] };
}

/** Without any, git prints nothing. Where `.git` is a file, they are elsewhere. */
function holdsObjects(workTree: string): boolean {
  const git = lookAt(join(workTree, ".git"));
  return git?.isDirectory() === true ? exists(join(workTree, ".git/objects")) : git !== undefined;
}

function isRepository(path: string): boolean {
  return exists(join(path, ".git"));
}

const OBJECTS = /\/\.git\/(?:objects|lfs|modules|worktrees|rr-cache|index|sharedindex)/;

function showsContents(argv: readonly string[]): boolean {
  const [name, rest] = readSubcommand(argv);
  return !gitDoes(name, "quiet") || hasOption(rest, "-pv|--pat*|--verb*");
}

/** One path for each rule or guard whose files the repository knows. Where git cannot tell, it counts as yes. */
async function restrictedNames(
  { workTree, tracked: below = [], commits = [], nameless = false }: Shown,
  { restrictedBy, restrictedGlobs }: RepositoryPlaces,
  ask: AskGit,
  access: "read" | "write" = "read",
): Promise<string[]> {
  const found: string[] = [];
  for (const glob of restrictedGlobs(access)) {
    const spec = listPathspecs(glob, workTree, below);
    if (spec === undefined || (!nameless && !isAbout(glob, below))) continue;
    const { kind, decision } = restrictedBy(spec.sample, access) ?? {};
    if (kind !== "rule" && kind !== "hook" && decision !== "deny") continue;
    const pathspecs = inEveryForm(spec.pathspecs);
    const staged = await ask(["ls-files", "--", ...pathspecs]);
    const history = ["rev-list", "--all", "--reflog", "--max-count=1", ...commits];
    const isKnown =
      nameless || staged !== "" || (await ask([...history, "--", ...pathspecs])) !== "";
    if (isKnown) found.push(spec.sample);
  }
  return found;
}

/** Git compares bytes; to a rule the Unicode forms of a name are one. */
function inEveryForm(pathspecs: readonly string[]): string[] {
  return [
    ...new Set(pathspecs.flatMap((one) => [one, one.normalize("NFC"), one.normalize("NFD")])),
  ];
}

/** Whether a pattern may fit something below one of the paths; without any, everything is meant. */
function isAbout(glob: string, below: readonly string[]): boolean {
  const path = literalPrefix(glob).path.normalize("NFC");
  return (
    below.length === 0 ||
    below
      .map((one) => one.normalize("NFC"))
      .some((one) => isWithin(one, path) || isWithin(path, one))
  );
}

interface Pathspecs {
  readonly pathspecs: readonly string[];
  /** Some path that the glob fits. */
  readonly sample: string;
}

/** A pattern as git takes it, below the given paths alone if it is for any depth. */
function listPathspecs(
  glob: string,
  workTree: string,
  below: readonly string[],
): Pathspecs | undefined {
  const { path, rest } = literalPrefix(glob);
  const isInside = isWithin(workTree, path);
  if (!isInside && !isWithin(path, workTree)) return undefined;
  const sample = createSample(isInside ? path : workTree, rest);
  const globsAt = (directory: string): string[] => {
    const start = relative(workTree, directory).replaceAll(/[\\*?[\]]/g, "\\$&");
    const spec = `:(top,glob)${start === "" ? "" : `${start}/`}${rest}`;
    return [spec, `${spec}/**`];
  };
  const isForAnyDepth = rest.startsWith("**/");
  if (isForAnyDepth && below.length > 0 && below.every((one) => isWithin(path, one))) {
    return { sample, pathspecs: below.flatMap(globsAt) };
  }
  // Of a glob that begins above it, what may be below it, or no one can tell.
  if (!isInside) return { sample, pathspecs: isForAnyDepth ? globsAt(workTree) : [":(top)"] };
  const isLiteral = rest === "" || rest === "**";
  const literal = `:(top,literal)${relative(workTree, path)}`;
  return { sample, pathspecs: isLiteral ? [literal] : globsAt(path) };
}

const MOST_SENSITIVE = 20;

async function sensitiveNames(
  { workTree, everything = [] }: Shown,
  { restrictedBy }: RepositoryPlaces,
  ask: AskGit,
): Promise<JudgedPath[]> {
  const names = await ask(["ls-files", "-z", "--full-name", "--", ...everything]);
  return (names ?? "")
    .split("\0")
    .filter((name) => name !== "")
    .map((name) => join(workTree, name))
    .filter((path) => restrictedBy(path, "read")?.kind === "sensitive")
    .slice(0, MOST_SENSITIVE)
    .map((path) => sensitivePath(path));
}

const TIMEOUT_MS = 3000;
const MOST_BYTES = 16 * 1024 * 1024;

/** What git prints; undefined where it fails, takes too long or prints too much. Settings that run programs are switched off. */
function gitAsker(workTree: string, roots: Roots, env: Readonly<Record<string, string>>): AskGit {
  const git = findExecutable("git", { path: SYSTEM_PATH, cwd: "/" });
  return async (args) => {
    if (git === undefined) return undefined;
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      const { end } = startProcess({
        executable: git.resolved,
        argv: ["git", "--no-pager", ...args],
        cwd: workTree,
        env: { PATH: SYSTEM_PATH, ...gitEnvironment({ kind: "none" }, env, roots) },
        onStdout(chunk) {
          bytes += chunk.length;
          if (bytes <= MOST_BYTES) chunks.push(chunk);
        },
        onStderr() {},
        timeoutMs: TIMEOUT_MS,
        graceMs: 0,
      });
      const { exit_code } = await end;
      if (exit_code !== 0 || bytes > MOST_BYTES) return undefined;
      return Buffer.concat(chunks).toString("utf8");
    } catch {
      return undefined;
    }
  };
}

const SYSTEM_PATH = "/usr/bin:/bin:/usr/local/bin:/opt/homebrew/bin";
