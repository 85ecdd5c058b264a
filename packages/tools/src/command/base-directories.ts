// The directories from which a command, or one inside it, takes a relative path (PERM-14, PERM-15): `cd src && …`, `env -C src …`,
// `git -C src`, `tar -C src`. A path that is judged from one of them only could be another file.

import { homedir } from "node:os";
import { isDirectory } from "../path/index.ts";
import { canonicalPath } from "./places-of-command.ts";
import { shellNames, writtenCommands, type Command } from "./spelled-commands.ts";

/** All of them, its own first; more than there are rather than fewer. Undefined where they are too many to follow. */
export function baseDirectories(command: Command): string[] | undefined {
  const changes = commandsIn(command).flatMap((words) => findChanges(words, command.home));
  return follow(command.cwd, changes);
}

/** Where its own options lead in the end. */
export function lastDirectory({ argv, cwd, home }: Command): string {
  return findChanges(argv, home).reduce((at, change) => canonicalPath(at, change) ?? at, cwd);
}

/** Where the commands inside it run: behind one leading `cd` or `env -C`, only there. */
export function innerDirectories(command: Command): string[] | undefined {
  const { argv, cwd, home } = command;
  const changes = commandsIn(command)
    // What these do elsewhere, they do themselves.
    .filter(([program]) => !/^(?:.*\/)?(?:git|(?:g|bsd)?tar)$/.test(program ?? ""))
    .flatMap((words) => findChanges(words, home));
  const [first] = changes;
  const isLeading =
    argv.some((word) => LEADING_CHANGE.test(word)) || /^(?:.*\/)?env$/.test(argv[0] ?? "");
  if (changes.length === 1 && first !== undefined && isLeading) {
    const directory = canonicalPath(cwd, first);
    if (directory !== undefined && isDirectory(directory)) return [directory];
  }
  return follow(cwd, changes);
}

/** In the shell of the whole script, not in one that a pipe or brackets start. */
const LEADING_CHANGE = /^\s*cd\s+[^\s;|&()<>]+\s*(?:&&|;|\n|$)/;

const MOST_DIRECTORIES = 64;

function commandsIn({ argv, executable }: Command): (readonly string[])[] {
  return [argv, ...writtenCommands({ argv, executable })];
}

/** Each change may begin where any of those before it led. */
function follow(cwd: string, changes: readonly string[]): string[] | undefined {
  const found = new Set([cwd]);
  let last = cwd;
  for (const change of changes) {
    const before = last;
    const earlier = [...found];
    const places = earlier.flatMap((base) =>
      shellNames(base, change).map((name) => [base, canonicalPath(base, name)] as const),
    );
    for (const [base, directory] of places) {
      if (directory === undefined) continue;
      // A script may make the directory first.
      if (base !== cwd && base !== before && !isDirectory(directory)) continue;
      found.add(directory);
      if (base === before) last = directory;
    }
    if (found.size > MOST_DIRECTORIES) return undefined;
  }
  return [...found];
}

function findChanges([program = "", ...args]: readonly string[], home = homedir()): string[] {
  const name = program.slice(program.lastIndexOf("/") + 1);
  const given = /^(?:cd|pushd|chdir)$/.test(name)
    ? [args.find((arg) => !/^-[A-Za-z-]/.test(arg)) ?? "~"]
    : [
        ...lettersOfTar(name, args),
        ...args.flatMap((arg, index) => readValue(arg, args[index + 1])),
      ];
  return given.map((one) => one.replace(/^~(?=\/|$)/, home));
}

/** `-C directory`, `-Cdirectory`, `-xC directory`, `--directory=…`, `--chdir …`, also shortened. */
function readValue(arg: string, next = ""): string[] {
  const [isLong, name, attached] = LONG_OPTION.exec(arg) ?? [];
  if (isLong !== undefined)
    return name === "one-top-level" ? [attached ?? "."] : [attached ?? next];
  const [isShort, value = ""] = /^-[A-Za-z]*?[CD](.*)$/s.exec(arg) ?? [];
  return isShort === undefined ? [] : [value === "" ? next : value];
}

const LONG_OPTION =
  /^--(dir[a-z]*|chd[a-z]*|cd|cwd|wd|work[a-z-]*|prefix|one-top-level|project-dir[a-z]*)(?:=(.*))?$/s;

/** `tar cCf directory archive`: the values follow in the order of the letters. */
function lettersOfTar(name: string, [letters = "", ...values]: readonly string[]): string[] {
  if (!/^(?:g|bsd)?tar$/.test(name) || !/^[A-Za-z]+$/.test(letters)) return [];
  const taking = Array.from(letters.matchAll(/[bCfFgHIKLNTVX]/g), ([letter]) => letter);
  return taking.flatMap((letter, index) => (letter === "C" ? [values[index] ?? "."] : []));
}
