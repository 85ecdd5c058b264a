// Proves that a command only reads (CMD-4): the system's own program, and arguments of which every one is
// known to do no harm. It errs towards unsafe: no proof means nothing more than that.

import { lstatSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Places } from "@soong/core";
import { findExecutable } from "@soong/platform";
import { isHarmlessGitFormat } from "./git-format.ts";
import { repositoryOf } from "./harmless-repository.ts";
import { hasOneOf, matchArguments, type MatchedArguments } from "./match-arguments.ts";
import { canonicalPath, isWithin, isWithinRoots, ordinaryPath } from "./places-of-command.ts";
import { READ_ONLY_GIT_COMMANDS } from "./read-only-git-table.ts";
import type { ArgumentKind, ReadOnlyRule } from "./read-only-rule.ts";
import { READ_ONLY_COMMANDS } from "./read-only-table.ts";
import { isTrustedExecutable, SYSTEM_DIRECTORIES } from "./trusted-executable.ts";

export interface CommandToProve {
  readonly argv: readonly string[];
  /** Canonical. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly places: Pick<Places, "roots" | "sensitiveBy">;
  readonly systemDirectories?: readonly string[];
}

export interface ReadOnlyProof {
  /** What has to be in the command's environment for the proof to hold. */
  readonly env: Readonly<Record<string, string>>;
}

export function proveReadOnly(command: CommandToProve): ReadOnlyProof | undefined {
  const { argv, cwd, env, places } = command;
  const [asked = "", ...given] = argv;
  const executable = findExecutable(asked, { path: env["PATH"] ?? "", cwd });
  if (executable === undefined) return undefined;
  const { systemDirectories = SYSTEM_DIRECTORIES } = command;
  if (!isTrustedExecutable(asked, executable, places.roots, systemDirectories)) return undefined;
  if (Object.keys(env).some((name) => CHANGES_PROGRAMS.test(name))) return undefined;
  if (ordinaryPath(places, cwd, cwd) === undefined) return undefined;
  const name = asked.slice(asked.lastIndexOf("/") + 1);
  return name === "git" ? proveGit(command, given) : proveByTable(command, name, given);
}

/** Variables that make a program load code, read other files or take other options. */
const CHANGES_PROGRAMS =
  /^(?:LD_|DYLD_|GIT_|GCC_|PYTHON|PERL5|RUBY|BASH_|GLIBC_|(?:GREP|NODE)_OPTIONS$|(?:GCONV|COMPILER|LOC|NLS)_?PATH$|MAGIC$|MAKEFLAGS$)/;

function proveByTable(
  command: CommandToProve,
  name: string,
  given: readonly string[],
): ReadOnlyProof | undefined {
  const rule = ownRow(READ_ONLY_COMMANDS, name);
  if (rule === undefined) return undefined;
  const matched = matchArguments(rule, given, (kind, value) => isAllowed(command, kind, value));
  return matched === undefined || walksThroughAHome(command, rule, matched) ? undefined : NO_ENV;
}

function proveGit(command: CommandToProve, given: readonly string[]): ReadOnlyProof | undefined {
  const args = given[0] === "--no-pager" ? given.slice(1) : given;
  const words = [args.slice(0, 2).join(" "), args[0] ?? ""];
  const selected = words.find((word) => ownRow(READ_ONLY_GIT_COMMANDS, word) !== undefined);
  if (selected === undefined) return undefined;
  const rule = ownRow(READ_ONLY_GIT_COMMANDS, selected) ?? {};
  const rest = args.slice(selected.split(" ").length);
  const matched = matchArguments(rule, rest, (kind, value) => isAllowed(command, kind, value));
  if (matched === undefined || hasConfigWithinRoots(command)) return undefined;
  const repository = repositoryOf(command.cwd);
  const isProven =
    repository === "harmless" || (repository === "none" && selected.endsWith("version"));
  return isProven ? { env: GIT_WITHOUT_WRITING } : undefined;
}

const NO_ENV: ReadOnlyProof = { env: {} };

/** Otherwise `status` and `diff` write the index, and a file system monitor of the user's is started. */
const GIT_WITHOUT_WRITING = {
  GIT_OPTIONAL_LOCKS: "0",
  GIT_CONFIG_COUNT: "2",
  GIT_CONFIG_KEY_0: "diff.autoRefreshIndex",
  GIT_CONFIG_VALUE_0: "false",
  GIT_CONFIG_KEY_1: "core.fsmonitor",
  GIT_CONFIG_VALUE_1: "false",
};

/** A user's own config is trusted, unless it lies where the agent may write. */
function hasConfigWithinRoots({ env, places }: CommandToProve): boolean {
  const { HOME: home = "/", XDG_CONFIG_HOME: xdg = join(home, ".config") } = env;
  return [join(home, ".gitconfig"), join(xdg, "git/config"), join(xdg, "git/attributes")].some(
    (path) => isWithinRoots(places.roots, canonicalPath("/", path) ?? places.roots.project),
  );
}

/** Names below a home are listed by `ls -R` and the like, those in ~/.ssh among them (PATH-3). */
function walksThroughAHome(
  { cwd, env, places }: CommandToProve,
  { walks }: ReadOnlyRule,
  { options, operands }: MatchedArguments,
): boolean {
  if (walks === undefined || (walks !== true && !hasOneOf(options, walks))) return false;
  const homes = ["/root", "/home", "/Users", homedir(), env["HOME"] ?? "/root"];
  const walked = operands.length === 0 ? [cwd] : operands;
  return walked.some((given) => {
    const path = ordinaryPath(places, cwd, given) ?? "/";
    return homes.some((home) => isWithin(path, home));
  });
}

function isAllowed({ cwd, places }: CommandToProve, kind: ArgumentKind, value: string): boolean {
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
      return !value.includes(":") && ordinaryPath(places, cwd, value) !== undefined;
    case "path":
      return ordinaryPath(places, cwd, value) !== undefined;
    case "file":
      return value === "-" || isOrdinaryFile(places, cwd, value);
  }
}

/** A directory or a pipe is not read like a file: one is many files, the other never ends. */
function isOrdinaryFile(
  places: Pick<Places, "roots" | "sensitiveBy">,
  cwd: string,
  given: string,
): boolean {
  const path = ordinaryPath(places, cwd, given);
  if (path === undefined) return false;
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? true;
  } catch {
    return false;
  }
}

function ownRow(
  table: Readonly<Record<string, ReadOnlyRule>>,
  name: string,
): ReadOnlyRule | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
