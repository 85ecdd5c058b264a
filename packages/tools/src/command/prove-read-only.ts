// Proves that a command only reads (CMD-4): the system's own program, and arguments of which every one is
// known to do no harm. It errs towards unsafe: no proof means nothing more than that.

import { lstatSync } from "node:fs";
import { homedir } from "node:os";
import type { Places } from "@soong/core";
import {
  baseName,
  isSimpleSedScript,
  literalPrefix,
  optionTable,
  type OptionTable,
  type ReadArguments,
} from "@soong/core/internal";
import { findExecutable, SYSTEM_DIRECTORIES } from "@soong/platform";
import { gitEnvironment } from "./git-environment.ts";
import { checkRepository } from "./harmless-repository.ts";
import {
  isHarmlessAwkProgram,
  isHarmlessGitFormat,
  isHarmlessJqFilter,
} from "./harmless-programs.ts";
import {
  hasFound,
  likeOperands,
  matchArguments,
  type ArgumentCheck,
  type ArgumentKind,
  type Unproven,
} from "./match-arguments.ts";
import { isWithin, ordinaryPath } from "./places-of-command.ts";
import { READ_ONLY_GIT_COMMANDS } from "./git-table.ts";
import { programTable, PROVEN_ENVIRONMENT } from "./programs.ts";
import { isTrustedExecutable } from "./trusted-executable.ts";
import { isDirectory } from "../path/index.ts";

export interface CommandToProve {
  readonly argv: readonly string[];
  /** Canonical. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly places: Pick<Places, "roots" | "sensitiveBy" | "restrictedGlobs">;
  readonly systemDirectories?: readonly string[];
}

/** What was proven, and what has to be handed to the command for the proof to hold (CMD-7). */
export type ReadOnlyProof =
  | {
      readonly read_only: true;
      /** The program that was looked at, with all links resolved. */
      readonly executable: string;
      readonly env: Readonly<Record<string, string>>;
      /** The arguments and values of options that were judged as paths, as they were given. */
      readonly names: readonly string[];
    }
  /** Why there is no proof, as a sentence. */
  | { readonly read_only: false; readonly why: string };

export function proveReadOnly(command: CommandToProve): ReadOnlyProof {
  const { argv, cwd, env, places } = command;
  const [asked = "", ...given] = argv;
  const executable = findExecutable(asked, { path: env["PATH"] ?? "", cwd });
  if (executable === undefined) return refuseProof("the program was not found");
  const { systemDirectories = SYSTEM_DIRECTORIES } = command;
  if (!isTrustedExecutable(asked, executable, places.roots, systemDirectories)) {
    return refuseProof(`${JSON.stringify(executable.resolved)} is not a program of the system`);
  }
  const variable = Object.keys(env).find((name) => CHANGES_PROGRAMS.test(name));
  if (variable !== undefined) return refuseProof(`${variable} in its environment can change it`);
  if (ordinaryPath(places, cwd, cwd) === undefined) {
    return refuseProof("its working directory is sensitive or outside the project");
  }
  const name = baseName(asked);
  const names: string[] = [];
  const fits: ArgumentCheck = (kind, value) => {
    if (NAMES_A_PATH.test(kind)) names.push(value);
    return isAllowed(command, kind, value);
  };
  const proven =
    name === "git" ? proveGit(command, given, fits) : proveByTable(command, name, given, fits);
  if (typeof proven === "string") return refuseProof(proven);
  return { read_only: true, executable: executable.resolved, env: proven, names };
}

function refuseProof(why: string): ReadOnlyProof {
  return { read_only: false, why: `Not proven to only read: ${why}.` };
}

/** Variables that make a program load code, read other files or take other options. */
const CHANGES_PROGRAMS =
  /^(?:LD_|DYLD_|GIT_|GCC_|PYTHON|PERL5|RUBY|BASH_|GLIBC_|G?AWK|LESS|MORE$|JQ_|(?:GREP|NODE)_OPTIONS$|(?:GCONV|COMPILER|LOC|NLS)_?PATH$|MAGIC$|MAKEFLAGS$)/;

/** The environment the proof needs, or why there is none. */
type Proven = Readonly<Record<string, string>> | Unproven;

function proveByTable(
  command: CommandToProve,
  name: string,
  given: readonly string[],
  fits: ArgumentCheck,
): Proven {
  const table = programTable(name, "proven");
  if (!table.marks.has("proven"))
    return `${JSON.stringify(name)} is not on the list of such commands`;
  const matched = matchArguments(table, given, fits);
  if (typeof matched === "string") return matched;
  return walksThroughAHome(command, table, matched)
    ? "it would list the names below a home or a sensitive directory"
    : (PROVEN_ENVIRONMENT[name] ?? {});
}

function proveGit(command: CommandToProve, given: readonly string[], fits: ArgumentCheck): Proven {
  const args = given[0] === "--no-pager" ? given.slice(1) : given;
  const words = [args.slice(0, 2).join(" "), args[0] ?? ""];
  const selected = words.find((word) => Object.hasOwn(READ_ONLY_GIT_COMMANDS, word));
  if (selected === undefined) {
    return `${JSON.stringify(`git ${args[0] ?? ""}`.trim())} is not on the list of such commands`;
  }
  const table = optionTable(READ_ONLY_GIT_COMMANDS[selected] ?? "");
  const matched = matchArguments(table, args.slice(selected.split(" ").length), fits);
  if (typeof matched === "string") return matched;
  const repository = checkRepository(command.cwd);
  if (repository.kind === "doubtful") return repository.why;
  if (repository.kind === "none" && !selected.endsWith("version")) return "no repository was found";
  return gitEnvironment(repository, command.env, command.places.roots);
}

/** Names below a home are listed by `ls -R` and the like, those in ~/.ssh or the agent's home among them (PATH-3, PATH-6). */
function walksThroughAHome(
  { cwd, env, places }: CommandToProve,
  table: OptionTable,
  matched: ReadArguments,
): boolean {
  const walks = table.marks.get("walks");
  if (walks === undefined || !hasFound(matched.options, walks)) return false;
  const operands = likeOperands(table, matched);
  const sensitive = places
    .restrictedGlobs("list")
    .map((glob) => literalPrefix(glob).path)
    .filter((path) => places.sensitiveBy(path) !== undefined && isDirectory(path));
  const homes = ["/root", "/home", "/Users", homedir(), env["HOME"] ?? "/root", ...sensitive];
  const walked = operands.length === 0 ? [cwd] : operands;
  return walked.some((given) => {
    const path = ordinaryPath(places, cwd, given) ?? "/";
    return homes.some((home) => isWithin(path, home));
  });
}

const NAMES_A_PATH = /^(?:path|file|tree|pager_file|revision)$/;

function isAllowed(command: CommandToProve, kind: ArgumentKind, value: string): boolean {
  const { cwd, places } = command;
  const isOrdinary = (): boolean => ordinaryPath(places, cwd, value) !== undefined;
  switch (kind) {
    case "text":
      return true;
    case "number":
      return /^[-+]?\d+(?:[A-Za-z]*|%)$/.test(value);
    case "word":
      return /^[-+A-Za-z0-9._,:]+$/.test(value);
    case "date_format":
      return value.startsWith("+");
    case "git_format":
      return isHarmlessGitFormat(value);
    case "head_revision":
      return /^(?:HEAD|@)(?:[~^]\d*)*$/.test(value);
    case "revision":
      // With a colon it names what is in a commit, or is a pattern for paths.
      return !value.includes(":") && isOrdinary();
    case "path":
      return isOrdinary();
    case "awk_program":
      return isHarmlessAwkProgram(value);
    case "jq_filter":
      return isHarmlessJqFilter(value);
    case "sed_script":
      return isSimpleSedScript(value);
    case "plain_variable":
      return PLAIN_VARIABLE.test(value);
    case "tree":
      return isOrdinaryFile(command, value) || isDirectory(ordinaryPath(places, cwd, value) ?? "");
    case "pager_file":
      return !value.startsWith("+") && isOrdinaryFile(command, value);
    case "file":
      return value === "-" || isOrdinaryFile(command, value);
  }
}

const PLAIN_VARIABLE =
  /^(?:PATH|HOME|PWD|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|COLORTERM|NO_COLOR|FORCE_COLOR|COLUMNS|LINES|CI|NODE_ENV|TMPDIR)$/;

/** A directory or a pipe is not read like a file: one is many files, the other never ends. */
function isOrdinaryFile({ cwd, places }: CommandToProve, given: string): boolean {
  const path = ordinaryPath(places, cwd, given);
  if (path === undefined) return false;
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? true;
  } catch {
    return false;
  }
}
