// Options by which a file says which files are read (PERM-15, PATH-3): `sort --files0-from=list`, `tar -T list`, `xargs -a list cat`,
// `curl -K config`, `xz --files=list`. Its names are judged like arguments; where they are unknown, any file may be meant.

import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import { optionValues } from "@soong/core/internal";
import { isMarked, programTable } from "./programs.ts";
import { canonicalPath } from "./places-of-command.ts";

/** Of any program. */
const LISTS = "--files0-from*|--files-from*|--arg-file*|--pathspec-f*";

/** They take `@list` as an operand. */
const TAKES_LIST = /^(?:[\w-]+-)?(?:strings|nm|objdump|size|readelf|strip)$/;

/** Whether it reads files that are named in another one. */
export function readsFileList([program = "", ...args]: readonly string[]): boolean {
  return (
    isMarked(programTable(basename(program)), "checks", args) ||
    findLists([program], args).length > 0
  );
}

export interface ListedNames {
  readonly names: readonly string[];
  /** Lists that are too long to look through. */
  readonly unread: readonly string[];
}

/** The names in the lists of these commands, which may be wrapped in others. */
export function listedNames(
  commands: readonly (readonly string[])[],
  bases: readonly string[],
): ListedNames {
  const lists = new Set(
    commands
      .flatMap(listsGiven)
      .flatMap((list) => bases.flatMap((base) => canonicalPath(base, list) ?? [])),
  );
  const read = [...lists].map((path) => ({ path, names: namesIn(path) }));
  return {
    names: read.flatMap(({ names }) => names ?? []),
    unread: read.flatMap(({ path, names }) => (names === undefined ? [path] : [])),
  };
}

/** As they are given, to any of the words that may be a program. */
export function listsGiven(argv: readonly string[]): string[] {
  return findLists(argv, argv);
}

function findLists(programs: readonly string[], args: readonly string[]): string[] {
  const names = programs.map((word) => basename(word));
  const options = names.flatMap((name) => {
    const { marks } = programTable(name);
    const list = marks.get("list");
    return list === undefined
      ? []
      : [`${list} ${marks.has("expression") ? "@expression" : "@digits"}`];
  });
  const listed = names.some((name) => TAKES_LIST.test(name))
    ? args.filter((arg) => arg.startsWith("@")).map((arg) => arg.slice(1))
    : [];
  return [...new Set([LISTS, ...options])]
    .flatMap((list) => optionValues(args, list))
    .concat(listed);
}

const MOST_BYTES = 64 * 1024;

/** Undefined where there are too many. */
function namesIn(path: string): string[] | undefined {
  try {
    const status = statSync(path);
    if (!status.isFile()) return [];
    if (status.size > MOST_BYTES) return undefined;
    return readFileSync(path, "utf8").split(/[\0\n]/);
  } catch {
    return [];
  }
}
