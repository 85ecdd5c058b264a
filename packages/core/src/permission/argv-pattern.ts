// When the argv of a rule fits a command (CONF-4, PERM-16). Rules that restrict look through programs that
// run others; rules that allow cover what another program is told to run only where they spell it out.

import type { Resource } from "../tool/index.ts";
import type { InnerCommands, KnownCommand } from "./argv/index.ts";
import { innerCommands } from "./argv/index.ts";
import type { Boundary } from "./boundary.ts";
import type { Decision } from "./decision.ts";
import { baseName } from "./path.ts";

type Command = Extract<Resource, { kind: "command" }>;

/**
 * `spelled`: an allow that names every word by which something else is run. `uncovered`: an allow whose
 * wildcard would cover such a word. `opaque`: what restricts might fit something that the command runs.
 */
export type ArgvMatch = "yes" | "no" | "spelled" | "uncovered" | "opaque";

export function compileArgv(
  argv: readonly string[],
  decision: Decision,
  boundary: Boundary,
  isExact = false,
): (command: Command) => ArgvMatch {
  const wanted = argv.at(-1) === "**" ? argv.slice(0, -1) : argv;
  // What restricts is read broadly: more words do not get around it.
  if (decision !== "allow") return (command) => restrictedMatch(wanted, command, boundary);
  return (command) =>
    isExact && command.argv.length !== wanted.length
      ? "no"
      : allowedMatch(argv, wanted, command, boundary);
}

function allowedMatch(
  pattern: readonly string[],
  wanted: readonly string[],
  command: Command,
  boundary: Boundary,
): ArgvMatch {
  const [program = "*", ...rest] = wanted;
  if (command.argv.length < wanted.length) return "no";
  if (!isSurelyProgram(program, command, boundary)) return "no";
  if (!rest.every((item, index) => itemFits(item, command.argv[index + 1]))) return "no";
  const { told, by_nature } = innerOf(command);
  if (told.length === 0) return "yes";
  if (isSpelledOut(pattern, command.argv, told)) return "spelled";
  return by_nature ? "yes" : "uncovered";
}

function isSpelledOut(
  pattern: readonly string[],
  argv: readonly string[],
  told: InnerCommands["told"],
): boolean {
  const isLiteral = (index: number): boolean =>
    pattern[index] === argv[index] && pattern[index] !== "*";
  return told === "all"
    ? pattern.length === argv.length && argv.every((_, index) => isLiteral(index))
    : told.every(isLiteral);
}

function restrictedMatch(
  wanted: readonly string[],
  command: Command,
  boundary: Boundary,
): ArgvMatch {
  const { argv, executable } = command;
  const own = fitOf(wanted, { words: argv, open: false }, [executable], boundary);
  if (own === "yes") return "yes";
  const inner = innerOf(command);
  const fits = inner.commands.map((one) => fitOf(wanted, one, [], boundary));
  if (fits.includes("yes")) return "yes";
  return inner.opaque || fits.includes("maybe") ? "opaque" : "no";
}

function fitOf(
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
  if (given.includes("/") || boundary.isOrdinaryWrite(command.executable) === true) return false;
  return pattern === "*" || pattern === given;
}

/** For ask and deny: whatever name the program was given or really has. */
function isPossiblyProgram(pattern: string, given: readonly string[], boundary: Boundary): boolean {
  if (pattern === "*") return true;
  const names = given.flatMap((name) => [name, baseName(name)]);
  return names.some((name) => boundary.fold(name) === boundary.fold(pattern));
}

const looked = new WeakMap<Command, InnerCommands>();

/** Looked at once, however many rules there are. */
function innerOf(command: Command): InnerCommands {
  const known = looked.get(command);
  if (known !== undefined) return known;
  const found = innerCommands(command.argv, command.executable);
  looked.set(command, found);
  return found;
}
