// The files that `patch` or `git apply` would change (PERM-15, PATH-6): the patch names them, and nothing else is written.

import { readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { readGitNames, readName } from "../edit/index.ts";
import { canonicalPath } from "./places-of-command.ts";

export interface PatchedFiles {
  /** Where the names begin. */
  readonly directory: string;
  /** Canonical; undefined where the patch cannot be read: nobody can tell. */
  readonly files: readonly string[] | undefined;
}

/** `args` are those behind `patch`. */
export function patchedByPatch(args: readonly string[], cwd: string): PatchedFiles {
  const { values, operands } = readOptions(args, PATCH_VALUES);
  const directory = canonicalPath(cwd, values.get("d") ?? ".") ?? cwd;
  // An original that is given is the only file, and an argument.
  const [original, second] = operands;
  if (original !== undefined) return { directory, files: [] };
  const input = values.get("i") ?? second;
  const strip = values.get("p");
  const files = namesOf(input, directory)?.flatMap((name) =>
    // Without a number the names stand for what is found by them.
    strip === undefined ? [basename(name), name] : stripped(name, Number(strip)),
  );
  return { directory, files: files && placed(directory, files) };
}

/** `args` are those behind `git apply` or `git am`; `root` is the work tree. */
export function patchedByGit(args: readonly string[], cwd: string, root: string): PatchedFiles {
  const { values, operands } = readOptions(args, GIT_VALUES);
  const directory = join(root, values.get("directory") ?? ".");
  const names = operands.map((operand) => namesOf(operand, cwd));
  const isKnown = names.length > 0 && names.every((one) => one !== undefined);
  const files = names.flatMap((one) => one ?? []);
  const strip = Number(values.get("p") ?? 1);
  // From a directory below, names are meant from there as well.
  const places = [...new Set([directory, join(cwd, values.get("directory") ?? ".")])];
  const all = files.flatMap((name) => stripped(name, strip));
  return {
    directory: root,
    files: isKnown ? places.flatMap((place) => placed(place, all)) : undefined,
  };
}

const PATCH_VALUES: Readonly<Record<string, string>> = {
  i: "i",
  input: "i",
  p: "p",
  strip: "p",
  d: "d",
  directory: "d",
  ...Object.fromEntries(
    "D F o r B V Y z g ifdef fuzz output reject-file prefix suffix basename-prefix get version-control"
      .split(" ")
      .map((name) => [name, "other"]),
  ),
};
const GIT_VALUES: Readonly<Record<string, string>> = {
  p: "p",
  directory: "directory",
  C: "other",
  exclude: "other",
  include: "other",
  whitespace: "other",
};

/** The values of short and long options by one name each, and the operands. */
function readOptions(
  args: readonly string[],
  names: Readonly<Record<string, string>>,
): { values: Map<string, string>; operands: string[] } {
  const values = new Map<string, string>();
  const operands: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? "";
    const [, long, attached] = /^--([a-z-]+)(?:=(.*))?$/s.exec(arg) ?? [];
    // The first letter with a value ends a cluster: `-Np1`.
    const letters = /^-[A-Za-z]/.test(arg) ? arg.slice(1).split("") : [];
    const place = letters.findIndex((letter) => names[letter] !== undefined);
    const rest = letters.slice(place + 1).join("");
    const option = names[long ?? letters[place] ?? ""];
    if (option !== undefined) {
      const isNext = long === undefined ? rest === "" : attached === undefined;
      values.set(option, (isNext ? args[(at += 1)] : (attached ?? rest)) ?? "");
    } else if (!arg.startsWith("-") || arg === "-") operands.push(arg);
  }
  return { values, operands };
}

const MOST_BYTES = 8 * 1024 * 1024;
const HEADER =
  /^(?:(?:---|\+\+\+|\*\*\*) |Index: |(?:rename|copy) (?:from|to) |(diff --git ))([^\n]*)/gm;

/** All names in the headers of a patch; undefined where it cannot be read, or holds more than names in headers. */
function namesOf(given: string | undefined, cwd: string): string[] | undefined {
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
function stripped(name: string, levels: number): string[] {
  return [name, name.split(/\/+/).slice(levels).join("/")].filter((one) => one !== "");
}

function placed(directory: string, names: readonly string[]): string[] {
  return [...new Set(names.flatMap((name) => canonicalPath(directory, name) ?? []))];
}
