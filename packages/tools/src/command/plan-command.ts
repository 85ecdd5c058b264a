// What a command would run and touch, found out before anyone judges it (CMD-1, PATH-3), and what only a look at
// the disk tells, found out after.

import { homedir } from "node:os";
import { join, resolve } from "node:path";
import {
  type CommandTarget,
  type Plan,
  type PrepareContext,
  type Targets,
  type TargetsContext,
  ToolFailure,
} from "@soong/core";
import { type JudgedPath, isDirectory, resolvePath, readStamp } from "../path/index.ts";
import {
  type FoundExecutable,
  type Sandbox,
  findExecutable,
  isFixedProgram,
} from "@soong/platform";
import { omitUndefined } from "@soong/schema";
import { type CommandHost, planSandbox, withSandbox } from "../sandbox/index.ts";
import type { CommandInput } from "./command-input.ts";
import { configThatRuns } from "./config-that-runs.ts";
import { executableNotFound } from "./executable-not-found.ts";
import { directoryOfGit } from "./git-arguments.ts";
import { listsNames, namesOpenInside, pathsInReach } from "./paths-in-reach.ts";
import { canonicalPath, isWithinRoots } from "./places-of-command.ts";
import { proveReadOnly } from "./prove-read-only.ts";
import { reachInRepositories, repositoryContents } from "./repository-contents.ts";
import { restrictedArguments } from "./restricted-arguments.ts";
import { scriptsOfCommand } from "./scripts-of-command.ts";
import { lookThroughTrees } from "./secrets-in-trees.ts";
import { walkedTrees } from "./walked-trees.ts";
import { NOTHING_UNNAMED, unnamedWrites } from "./written-trees.ts";
import { mayWriteNamed, writtenPlaces } from "./written-places.ts";

export type Environment = Readonly<Record<string, string>>;

/** The facts of a plan: what the handler runs, and what must still be so when it does. */
export type CommandFacts = {
  /** The executable under the name it was found by, empty if it was not; the resource has the one it leads to. */
  found: string;
  stamp: string;
  read_only: boolean;
  /** What a proven command is handed beside its ordinary environment (CMD-7). */
  env?: Record<string, string>;
  /** Of a proven command: its arguments that were judged as paths. */
  names?: string[];
  /** Why it is not proven read-only, as a sentence (PERM-17). */
  why_not_read_only?: string;
};

export async function targetsOfCommand(
  input: CommandInput,
  context: TargetsContext,
  env: Environment,
  sandbox: Sandbox | undefined,
): Promise<Targets> {
  const { argv } = input;
  const cwd = await workingDirectory(input.cwd, context);
  const path = env["PATH"] ?? "";
  const executable = findExecutable(argv[0] ?? "", { path, cwd });
  const proof = proveReadOnly({ argv, cwd, env, places: context });
  const facts: CommandFacts = {
    found: executable?.found ?? "",
    stamp: executable === undefined ? "" : await stampText(executable),
    read_only: proof.read_only,
    ...(proof.read_only
      ? { env: { ...proof.env }, names: [...proof.names] }
      : { why_not_read_only: proof.why }),
  };
  const resolved = executable?.resolved ?? wouldBe(argv[0] ?? "", { path, cwd });
  const isFixed = executable !== undefined && isFixedProgram(executable);
  // What is not there is known by its name alone, and does not run.
  const known = executable === undefined ? (argv[0] ?? "") : resolved;
  const writing = { argv, cwd, executable: known, home: findHome(env) };
  const mayWrite = proof.read_only ? () => false : mayWriteNamed(writing, context);
  const { named: restricted, guessed } = findRestrictedPaths(input, cwd, context, env, mayWrite);
  const walked = lookThroughTrees(walkedTrees({ argv, cwd, executable: resolved }), context);
  const unnamed = proof.read_only ? NOTHING_UNNAMED : await unnamedWrites(writing, context, env);
  const written = proof.read_only
    ? []
    : [...writtenPlaces(writing, context), ...unnamed.certain].filter(
        ({ path }, index, all) => all.findIndex((other) => other.path === path) === index,
      );
  const config_runs = proof.read_only
    ? undefined
    : configThatRuns({ argv, cwd, executable: resolved }, context.roots);
  const reaching = { argv, cwd, executable: resolved, read_only: proof.read_only };
  const inRepository = await repositoryContents(reaching, context, env);
  const may_reach = [
    ...new Set([
      ...pathsInReach(reaching, context),
      ...walked.restricted,
      ...guessed,
      ...inRepository.may_reach,
    ]),
  ];
  const command: CommandTarget = {
    kind: "command",
    executable: resolved,
    argv,
    cwd,
    ...(isWithinRoots(context.roots, resolved) && isFixed ? { fixed_program: true } : {}),
    ...(may_reach.length === 0 ? {} : { may_reach }),
    ...(unnamed.possible.length === 0 ? {} : { may_write: [...unnamed.possible] }),
    ...omitUndefined({ config_runs }),
    ...(input.outside_sandbox === true ? { leaves_sandbox: true } : {}),
  };
  return {
    resources: [
      await withOpenInside(withSandbox(command, context, sandbox)),
      ...restricted,
      ...[...walked.sensitive, ...inRepository.sensitive].filter(
        ({ path }) => !restricted.some((other) => other.path === path),
      ),
      ...written,
    ],
    // A command that is not proven to be read-only may destroy something (PERM-9).
    destructive: !proof.read_only,
    facts,
  };

  /** With what of its reach no sandbox closes. */
  async function withOpenInside(judged: CommandTarget): Promise<CommandTarget> {
    if (judged.sandbox === undefined || may_reach.length === 0) return judged;
    const kept = listsNames(reaching) ? [] : await reachInRepositories(may_reach, context, env);
    const inside = new Set([
      ...inRepository.may_reach,
      ...namesOpenInside(reaching, context),
      ...(directoryOfGit(argv, cwd) === undefined ? kept : []),
    ]);
    return inside.size === 0 ? judged : { ...judged, reach_inside: [...inside] };
  }
}

/** What restricts it by the paths it names; `cwd` is the canonical one. */
export function findRestrictedPaths(
  input: CommandInput,
  cwd: string,
  context: TargetsContext,
  env: Environment,
  mayWrite?: (path: string) => boolean,
): { named: JudgedPath[]; guessed: string[] } {
  const home = findHome(env);
  // Where it runs counts as one: `cat config` in ~/.ssh names no sensitive path.
  const given = input.cwd === undefined ? [] : [resolve(context.roots.project, input.cwd)];
  const { named, guessed } = restrictedArguments(
    { argv: input.argv, cwd, home },
    context,
    mayWrite,
  );
  const place = { argv: ["", cwd, ...given], cwd, home };
  const where = restrictedArguments(place, context, mayWrite).named;
  const all = new Map([...named, ...where].map((one) => [one.path, one]));
  return { named: [...all.values()], guessed };
}

function findHome(env: Environment): string {
  return env["HOME"] ?? homedir();
}

/** Fails where the command cannot run as it was judged. */
export async function planCommand(
  context: PrepareContext,
  env: Environment,
  { sandbox, readsOnly }: Pick<CommandHost, "sandbox" | "readsOnly">,
): Promise<Plan> {
  const { targets } = context;
  const command = targets.find((target) => target.kind === "command");
  if (command === undefined) throw new TypeError("A command is planned by its targets.");
  const { argv, cwd, executable } = command;
  if (!isDirectory(cwd)) throw cwdNotFound(cwd);
  const where = { path: env["PATH"] ?? "", cwd };
  const program = findExecutable(argv[0] ?? "", where);
  if (program === undefined) throw executableNotFound(argv, where);
  const programs = [program.found, executable];
  const host = { sandbox, home: env["HOME"], programs, readsOnly };
  return {
    resources: [...targets],
    preview: { kind: "command", argv, cwd, executable },
    pre_images: await scriptsOfCommand({ argv, cwd, executable }),
    env_summary: Object.keys(env).toSorted(),
    ...(await planSandbox(command, host, context)),
  };
}

/** Where a program that is not there would be found first: rules may speak of it all the same. */
function wouldBe(name: string, { path, cwd }: { path: string; cwd: string }): string {
  if (name.includes("/")) return canonicalPath(cwd, name) ?? cwd;
  const first = path.split(":").find((directory) => directory.startsWith("/"));
  return canonicalPath(join(first ?? "/", name), ".") ?? cwd;
}

/** The version of an executable: an approved script that is edited meanwhile is another command. */
export async function stampText({ resolved }: FoundExecutable): Promise<string> {
  return JSON.stringify((await readStamp(resolved)) ?? null);
}

async function workingDirectory(
  given: string | undefined,
  { roots }: TargetsContext,
): Promise<string> {
  const { project } = roots;
  if (project === "") {
    throw new ToolFailure({
      code: "cwd_outside_roots",
      error_class: "setup_required",
      message:
        "This run has no project directory, so there is no place a command may run in. Start the run with one.",
      recovery: "ask_the_user",
    });
  }
  const cwd = await resolvePath(project, given ?? ".");
  if (!isWithinRoots(roots, cwd)) {
    const allowed = [project, ...roots.write].map((root) => JSON.stringify(root)).join(", ");
    throw new ToolFailure({
      code: "cwd_outside_roots",
      error_class: "invalid_arguments",
      message: `A command may not run in ${JSON.stringify(cwd)}: it is outside ${allowed}. Leave cwd out, or give a directory inside.`,
      recovery: "change_arguments",
      details: { cwd },
    });
  }
  return cwd;
}

function cwdNotFound(cwd: string): ToolFailure {
  return new ToolFailure({
    code: "cwd_not_found",
    error_class: "invalid_arguments",
    message: `There is no directory at ${JSON.stringify(cwd)} to run the command in. Check cwd, or leave it out.`,
    recovery: "change_arguments",
    details: { cwd },
  });
}
