// Names that `ls` would show and a rule keeps from being listed (PERM-15). code.list_dir leaves them out and counts them; a
// program cannot be told to, so it is asked about.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Places } from "@soong/core";
import { baseName, compileGlob } from "@soong/core/internal";
import { canonicalPath } from "./places-of-command.ts";
import { isDirectory } from "../path/index.ts";

const LISTS: ReadonlySet<string> = new Set(["ls", "dir", "vdir"]);
const SHOWS_HIDDEN = /^-[A-Za-z0-9]*[aAf]|^--al/;
/** Not what stands behind an option with a value: `-Id`. */
const SHOWS_ITSELF = /^-[^-ITw]*d|^--direc/;

/** One for each rule or guard. */
export function restrictedNamesListed(
  { argv, cwd }: { readonly argv: readonly string[]; readonly cwd: string },
  { restrictedBy, restrictedGlobs }: Pick<Places, "restrictedBy" | "restrictedGlobs">,
): string[] {
  const [program = "", ...args] = argv;
  const own = baseName(program);
  if (!LISTS.has(own) || restrictedGlobs("list").length === 0) return [];
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  const options = args.slice(0, end);
  const has = (option: RegExp): boolean => options.some((arg) => option.test(arg));
  if (has(SHOWS_ITSELF)) return [];
  const operands = [...options.filter((arg) => !arg.startsWith("-")), ...args.slice(end + 1)];
  const directories = operands.length === 0 ? [cwd] : operands;
  const found = new Map<string, string>();
  const isNamed = namesEntry(restrictedGlobs("list"));
  for (const given of directories) {
    const directory = canonicalPath(cwd, given);
    if (directory === undefined || !isDirectory(directory)) continue;
    for (const name of namesIn(directory)) {
      if (name.startsWith(".") && !has(SHOWS_HIDDEN)) continue;
      const path = join(directory, name);
      const restriction = restrictedBy(path, "list");
      // A sensitive name is listed (PATH-3).
      if (restriction === undefined || restriction.kind === "sensitive") continue;
      if (!isNamed(path)) continue;
      if (!found.has(restriction.by)) found.set(restriction.by, path);
    }
  }
  return [...found.values()];
}

/** Whether patterns name an entry itself: `secrets/**` is about what is in the directory, not about its name. */
export function namesEntry(globs: readonly string[]): (path: string) => boolean {
  const matchers = globs
    .map((glob) => glob.normalize("NFC").toLowerCase())
    .flatMap((glob) => (glob.endsWith("/**") ? [`${glob}/*`] : [glob, `${glob}/**`]))
    .map((glob) => compileGlob(glob));
  return (path) => {
    const folded = path.normalize("NFC").toLowerCase();
    return matchers.some((matches) => matches(folded));
  };
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    // What cannot be listed here cannot be listed by the command either.
    return [];
  }
}
