// The files that `patch` or `git apply` would change (PERM-15, PATH-6): the patch names them, and nothing else is written.

import { readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { optionTable, readArguments } from "@soong/core/internal";
import { readGitNames, readName } from "../edit/patch-header.ts";
import { canonicalPath } from "./places-of-command.ts";

export interface PatchedFiles {
  /** Where the names begin. */
  readonly directory: string;
  /** Canonical; undefined where the patch cannot be read: no one can tell. */
  readonly files: readonly string[] | undefined;
}

/** `args` are those behind `patch`. */
export function patchedByPatch(args: readonly string[], cwd: string): PatchedFiles {
  const { values, operands } = readOptions(args, PATCH);
  const directory = canonicalPath(cwd, values.get("directory") ?? ".") ?? cwd;
  // An original that is given is the only file, and an argument.
  const [original, second] = operands;
  if (original !== undefined) return { directory, files: [] };
  const input = values.get("input") ?? second;
  const strip = values.get("strip");
  const files = readNames(input, directory)?.flatMap((name) =>
    // Without a number the names stand for what is found by them.
    strip === undefined ? [basename(name), name] : stripLevels(name, Number(strip)),
  );
  return { directory, files: files && placeNames(directory, files) };
}

/** `args` are those behind `git apply` or `git am`; `root` is the work tree. */
export function patchedByGit(args: readonly string[], cwd: string, root: string): PatchedFiles {
  const { values, operands } = readOptions(args, GIT_APPLY);
  const directory = join(root, values.get("directory") ?? ".");
  const names = operands.map((operand) => readNames(operand, cwd));
  const isKnown = names.length > 0 && names.every((one) => one !== undefined);
  const files = names.flatMap((one) => one ?? []);
  const strip = Number(values.get("strip") ?? 1);
  // From a directory below, names are meant from there as well.
  const places = [...new Set([directory, join(cwd, values.get("directory") ?? ".")])];
  const all = files.flatMap((name) => stripLevels(name, strip));
  return {
    directory: root,
    files: isKnown ? places.flatMap((place) => placeNames(place, all)) : undefined,
  };
}

const PATCH = `-i|--input=input -p|--strip=strip -d|--directory=directory -DForBVYzg=other
  --ifdef|--fuzz|--output|--reject-file|--prefix|--suffix|--basename-prefix|--get|--version-control=other`;
const GIT_APPLY = "-p=strip --directory=directory -C|--exclude|--include|--whitespace=other";

/** The values of options by their kinds, and the operands. */
function readOptions(args: readonly string[], row: string) {
  const { options, operands } = readArguments(optionTable(row), args, { names: "lenient" });
  return { values: new Map(options.map(({ kind, value = "" }) => [kind, value])), operands };
}

const MOST_BYTES = 8 * 1024 * 1024;
const HEADER =
  /^(?:(?:---|\+\+\+|\*\*\*) |Index: |(?:rename|copy) (?:from|to) |(diff --git ))([^\n]*)/gm;

/** All names in the headers of a patch; undefined where it cannot be read, or holds more than names in headers. */
function readNames(given: string | undefined, cwd: string): string[] | undefined {
  const path = given === undefined || given === "-" ? undefined : canonicalPath(cwd, given);
  try {
    if (path === undefined) return undefined;
    const { size } = statSync(path);
    if (!statSync(path).isFile() || size > MOST_BYTES) return undefined;
    const found = [...readFileSync(path, "latin1").matchAll(HEADER)];
    if (found.length === 0) return undefined;
    return found
      .flatMap(([, isGit, rest = ""]) =>
        isGit === undefined ? [readName(rest)] : readGitNames(rest),
      )
      .filter(({ kind }) => kind === "file")
      .map(({ name }) => name);
  } catch {
    return undefined;
  }
}

/** Names of a rename have no prefix to strip. */
function stripLevels(name: string, levels: number): string[] {
  return [name, name.split(/\/+/).slice(levels).join("/")].filter((one) => one !== "");
}

function placeNames(directory: string, names: readonly string[]): string[] {
  return [...new Set(names.flatMap((name) => canonicalPath(directory, name) ?? []))];
}
