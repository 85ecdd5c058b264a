// When the argv of a rule fits a command (CONF-4, PERM-16). Rules that restrict look through programs that
// run others; rules that allow cover what another program is made to run only where they spell it out.

import type { CommandResource as Command } from "./facts.ts";
import type { InnerCommands, KnownCommand } from "./argv/index.ts";
import { innerCommands, mergeInner, NOT_UNDERSTOOD } from "./argv/index.ts";
import type { Boundary } from "./boundary.ts";
import type { Decision } from "./decision.ts";
import { baseName } from "./path.ts";

/**
 * `spelled`: an allow that names every word by which something else is run. `whole`: one that names every word, or
 * the very script that is run. `uncovered`: an allow whose wildcard would cover such a word. `beyond`: an allow without
 * `**`, of a program that runs the project's code, where more words or another directory may choose other code.
 * `opaque`: what restricts might fit something that the command runs.
 */
export type ArgvMatch = "yes" | "no" | "spelled" | "whole" | "uncovered" | "beyond" | "opaque";

/** `project`: where commands run unless they say otherwise. */
export interface ArgvOptions {
  readonly isExact?: boolean | undefined;
  readonly project?: string | undefined;
}

export function compileArgv(
  argv: readonly string[],
  decision: Decision,
  boundary: Boundary,
  { isExact = false, project }: ArgvOptions = {},
): (command: Command) => ArgvMatch {
  const wanted = argv.at(-1) === "**" ? argv.slice(0, -1) : argv;
  // What restricts is read broadly: more words do not get around it.
  if (decision !== "allow") return (command) => restrictedMatch(wanted, command, boundary);
  if (!isExact) return (command) => allowedMatch(argv, command, boundary, project);
  return (command) =>
    command.argv.length === wanted.length ? allowedMatch(argv, command, boundary, project) : "no";
}

function allowedMatch(
  pattern: readonly string[],
  command: Command,
  boundary: Boundary,
  project: string | undefined,
): ArgvMatch {
  const isOpen = pattern.at(-1) === "**";
  const wanted = isOpen ? pattern.slice(0, -1) : pattern;
  const [program = "*", ...rest] = wanted;
  if (command.argv.length < wanted.length) return "no";
  if (!isSurelyProgram(program, command, boundary)) return "no";
  if (!rest.every((item, index) => itemFits(item, command.argv[index + 1]))) return "no";
  const { runArguments, by_nature, opaque } = readInner(command);
  if (command.config_runs?.foreign === true) return "uncovered";
  // `npm test --prefix x`, or `npm test` in another directory, runs the code of another package.
  if (by_nature && opaque && !isOpen) {
    if (command.argv.length > wanted.length || !isIn(project, command)) return "beyond";
  }
  if (isSpelledOut(pattern, command.argv, "all")) return "whole";
  if (runArguments.length === 0) return "yes";
  if (isSpelledOut(pattern, command.argv, runArguments)) return by_nature ? "whole" : "spelled";
  return by_nature ? "yes" : "uncovered";
}

function isIn(project: string | undefined, { cwd }: Command): boolean {
  return project === undefined || cwd === project;
}

/** Whether a rule that spells the command out would hold only in the project's own directory. */
export function isBoundToProject(command: Command): boolean {
  const { by_nature, opaque } = readInner(command);
  return by_nature && opaque;
}

function isSpelledOut(
  pattern: readonly string[],
  argv: readonly string[],
  runArguments: InnerCommands["runArguments"],
): boolean {
  const isLiteral = (index: number): boolean =>
    pattern[index] === argv[index] && pattern[index] !== "*";
  return runArguments === "all"
    ? pattern.length === argv.length && argv.every((_, index) => isLiteral(index))
    : runArguments.every(isLiteral);
}

function restrictedMatch(
  wanted: readonly string[],
  command: Command,
  boundary: Boundary,
): ArgvMatch {
  const { argv, executable } = command;
  const own = matchWords(wanted, { words: argv, open: false }, [executable], boundary);
  if (own === "yes") return "yes";
  const inner = readInner(command);
  const fits = inner.commands.map((one) => matchWords(wanted, one, [], boundary));
  if (fits.includes("yes")) return "yes";
  return inner.opaque || fits.includes("maybe") ? "opaque" : "no";
}

function matchWords(
  wanted: readonly string[],
  { words, open }: KnownCommand,
  otherNames: readonly string[],
  boundary: Boundary,
): "yes" | "no" | "maybe" {
  const [program = "*", ...rest] = wanted;
  const [given] = words;
  if (given !== undefined && !isPossiblyProgram(program, [given, ...otherNames], boundary)) {
    return "no";
  }
  const known = rest.slice(0, Math.max(0, words.length - 1));
  if (!known.every((item, index) => itemFits(item, words[index + 1]))) return "no";
  if (words.length >= wanted.length) return "yes";
  return open ? "maybe" : "no";
}

function itemFits(item: string, given: string | undefined): boolean {
  return item === "*" || item === given;
}

/** For an allow: a bare word found on the PATH, outside every place the agent itself may write to. */
function isSurelyProgram(pattern: string, command: Command, boundary: Boundary): boolean {
  const given = command.argv[0] ?? "";
  if (pattern.startsWith("/")) return pattern === given;
  if (given.includes("/") || isWrittenByAgent(command, boundary)) return false;
  return pattern === "*" || pattern === given;
}

/** A program in a place the agent may write to can become any program. */
export function isWrittenByAgent(
  { executable, fixed_program }: Command,
  boundary: Boundary,
): boolean {
  return fixed_program !== true && boundary.isOrdinaryWrite(executable) === true;
}

/** For ask and deny: any name the program was given or really has. */
function isPossiblyProgram(pattern: string, given: readonly string[], boundary: Boundary): boolean {
  if (pattern === "*") return true;
  const names = given.flatMap((name) => [name, baseName(name)]);
  return names.some((name) => boundary.fold(name) === boundary.fold(pattern));
}

const looked = new WeakMap<Command, InnerCommands>();

/** Looked at once, however many rules there are. */
function readInner(command: Command): InnerCommands {
  const known = looked.get(command);
  if (known !== undefined) return known;
  const named = innerCommands(command.argv, command.executable);
  const found = command.config_runs === undefined ? named : mergeInner([named, NOT_UNDERSTOOD]);
  looked.set(command, found);
  return found;
}
