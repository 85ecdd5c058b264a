// The beginning of a command that a user may choose to allow: `npm test` for `npm test -- x` (PERM-5, PERM-16). Only programs of a
// list have one, because a list of wrappers is always one short; and what may follow it chooses no other code.

import { innerCommands } from "./inner-commands.ts";
import { isAssignment } from "./known-command.ts";
import { isOfTheSystem, MULTI_CALL, programName } from "./plain-programs.ts";
import { WRAPPERS } from "./wrappers.ts";

/** The words that a grant for the beginning of this command would name. Undefined: only the whole command can be granted. */
export function findPrefix(
  argv: readonly string[],
  executable: string,
): readonly string[] | undefined {
  const shortest = shortestPrefix(argv, executable);
  if (shortest === undefined) return undefined;
  const end = operandsEnd(argv);
  const hasOptions = argv.slice(shortest, end).some(isOption);
  // The options that were seen are part of it: their values may choose what is run.
  const length = hasOptions && !isGit(argv) ? end : shortest;
  if (length > MOST_WORDS || !isCovered(argv, executable, length)) return undefined;
  return argv.slice(0, length);
}

/** All beginnings of this command which, once granted, cover it. */
export function coveringPrefixes(
  argv: readonly string[],
  executable: string,
): readonly (readonly string[])[] {
  const shortest = shortestPrefix(argv, executable);
  if (shortest === undefined) return [];
  const most = Math.min(argv.length, MOST_WORDS);
  return Array.from({ length: Math.max(0, most - shortest + 1) }, (_, more) => shortest + more)
    .filter((length) => isCovered(argv, executable, length))
    .map((length) => argv.slice(0, length));
}

/** A longer one is as good as the whole command. */
const MOST_WORDS = 20;

function isCovered(argv: readonly string[], executable: string, length: number): boolean {
  const rest = argv.slice(length);
  if (rest.some(leadsOutside)) return false;
  if (isGit(argv)) {
    const { commands, opaque, runArguments } = innerCommands(argv, executable);
    return commands.length === 0 && !opaque && runArguments.length === 0;
  }
  const operands = rest.slice(0, Math.max(0, operandsEnd(argv) - length));
  // `npm test --script-shell x`, `cargo test --config x`, `tsc @options`
  return !operands.some((word) => isOption(word) || word.startsWith("@"));
}

/** Another place, another host, or a variable that a program reads. */
function leadsOutside(word: string): boolean {
  return (
    /(?:^|[=:,]|^-[A-Za-z])[/~]/.test(word) ||
    /:\/\/|::/.test(word) ||
    word.split(/[/\\=:,]/).includes("..") ||
    isAssignment(word)
  );
}

function operandsEnd(argv: readonly string[]): number {
  const end = argv.indexOf("--");
  return end === -1 ? argv.length : end;
}

function isOption(word: string): boolean {
  return word.startsWith("-");
}

function isGit([program = ""]: readonly string[]): boolean {
  return programName(program) === "git";
}

/** How many words say what is done. */
function shortestPrefix(argv: readonly string[], executable: string): number | undefined {
  const [given = "", action = "-", name = "-"] = argv;
  if (!isOfTheSystem(given) || [given, executable].some(runsOthers)) return undefined;
  const program = programName(given);
  if (ALONE.has(program)) return 1;
  if (isOption(action) || action === "") return undefined;
  if (SCRIPTS.test(program)) return leadsOutside(action) ? undefined : 2;
  if (ACTIONS[program]?.test(action) === true) return 2;
  const isNamed = NAMED_ACTIONS[program]?.test(action) === true;
  return isNamed && !isOption(name) && name !== "" ? 3 : undefined;
}

function runsOthers(path: string): boolean {
  const name = programName(path);
  return Object.hasOwn(WRAPPERS, name) || MULTI_CALL.has(name) || SHELL.test(name);
}

const SHELL = /^(?:r?ba|da|a|z|m?k|ya|c|tc|fi|pw)?sh[0-9.]*$/;

/** Test runners, compilers and formatters whose operands are files of the project. */
const ALONE: ReadonlySet<string> = new Set(
  "pytest mypy black tsc eslint prettier rspec phpunit vitest jest mocha".split(" "),
);

/** Of these the first operand is the file that is run. */
const SCRIPTS = /^(?:node|nodejs|python|python[0-9.]+|ruby|php|lua|tsx)$/;

/** Operands of these choose tests or packages of the project, not another action. */
const ACTIONS: Readonly<Record<string, RegExp>> = {
  npm: /^(?:test|t|start|stop|restart)$/,
  pnpm: /^(?:test|t|start)$/,
  yarn: /^(?:test|start)$/,
  bun: /^test$/,
  deno: /^(?:test|fmt|lint|check)$/,
  cargo: /^(?:test|build|check|clippy|fmt|doc|bench|run)$/,
  go: /^(?:test|build|vet|fmt)$/,
  dotnet: /^(?:test|build)$/,
  swift: /^(?:test|build)$/,
  mix: /^(?:test|compile|format)$/,
  ruff: /^(?:check|format)$/,
  // Nothing that reaches another repository: its address may be anywhere among the words.
  git: /^(?:add|blame|branch|checkout|cherry-pick|commit|describe|diff|grep|log|ls-files|merge|mv|rebase|reset|restore|revert|rm|show|stash|status|switch|tag)$/,
};

const NAMED_ACTIONS: Readonly<Record<string, RegExp>> = {
  npm: /^run(?:-script)?$/,
  pnpm: /^run$/,
  yarn: /^run$/,
  bun: /^run$/,
  deno: /^task$/,
};
