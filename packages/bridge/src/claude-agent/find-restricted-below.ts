// Restricted paths below a directory that a tool of the host walks (PERM-15). The host opens them without naming them in the
// call, so they are looked up before.

import { readdir } from "node:fs/promises";
import { basename } from "node:path";
import { builtInSensitivePaths, type Restriction, type TargetsContext } from "@soong/core";
import type { PathResource } from "./find-paths.ts";

export interface WalkedDirectory {
  readonly root: PathResource;
  readonly pattern: NamePattern;
  /** Lines of the files, and not only their names. */
  readonly showsContent?: boolean;
}

/** What the names of files that the tool shows end in, as far as that is known. */
export interface NamePattern {
  readonly tail: string;
  /** The tail is the whole name. */
  readonly isName: boolean;
}

export const ANY_NAME: NamePattern = { tail: "", isName: false };

/** The directory as rules are to see it, and the restricted paths that the call names. */
export async function findRestrictedBelow(
  { root, pattern, showsContent = false }: WalkedDirectory,
  context: Pick<TargetsContext, "restrictedBy" | "restrictedGlobs" | "signal">,
  mostEntries = 20_000,
): Promise<PathResource[]> {
  const globs = context.restrictedGlobs(root.access);
  if (globs.length === 0 && !pattern.isName && !showsContent) return [root];
  const reached = new Map<string, string>();
  const named: PathResource[] = [];
  let sensitive: string | undefined;
  for await (const below of walkBelow(root.path, context.signal, mostEntries)) {
    if (below === TOO_MANY) {
      for (const glob of globs) reached.set(glob, glob);
      break;
    }
    if (!fitsPattern(below, pattern)) continue;
    for (const name of [root.path, ...(root.also ?? [])]) {
      const path = name === "/" ? `/${below}` : `${name}/${below}`;
      const restriction = context.restrictedBy(path, root.access);
      if (restriction === undefined) continue;
      if (pattern.isName && named.length < MOST_NAMED) {
        named.push({ kind: "path", access: root.access, path, only_restricts: true });
      } else if (restriction.kind !== "sensitive") reached.set(restriction.by, path);
      else if (!isBuiltIn(restriction) || (showsContent && !OF_OTHERS.test(below))) {
        sensitive ??= path;
      }
    }
  }
  return [
    {
      ...root,
      ...(reached.size > 0 && { may_reach: [...reached.values()] }),
      ...(sensitive !== undefined && {
        sensitive: true,
        reason: `the call may show ${JSON.stringify(sensitive)}`,
      }),
    },
    ...named,
  ];
}

/** Nearly every project has such files. That they are there is no secret. */
function isBuiltIn({ by }: Restriction): boolean {
  return builtInSensitivePaths().includes(by);
}

/** Of the file itself, or of a directory around it. */
function fitsPattern(below: string, { tail, isName }: NamePattern): boolean {
  const wanted = tail.toLowerCase();
  return below
    .toLowerCase()
    .split("/")
    .some((name) => (isName ? name === wanted : name.endsWith(wanted)));
}

/** Git ignores them, so the host's search does. */
const OF_OTHERS = /(^|\/)(node_modules|\.git)\//;

const MOST_NAMED = 100;
const TOO_MANY = Symbol("too many entries");

/** Relative paths of all entries. Links are not followed: the host's tools do not follow them either. */
async function* walkBelow(root: string, signal: AbortSignal, mostEntries: number) {
  const ahead = [""];
  let left = mostEntries;
  for (const at of ahead) {
    signal.throwIfAborted();
    const entries = await readdir(`${root}/${at}`, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if ((left -= 1) < 0) {
        yield TOO_MANY;
        return;
      }
      const path = at === "" ? entry.name : `${at}/${entry.name}`;
      yield path;
      if (entry.isDirectory()) ahead.push(path);
    }
  }
}

/** Where a glob of the host begins, and what the names that it fits end in. */
export function readGlob(glob: string): { start: string; pattern: NamePattern } {
  const segments = glob.split("/");
  const wild = segments.findIndex((segment) => SPECIAL.test(segment));
  const literals = wild === -1 ? segments : segments.slice(0, wild);
  const others = segments.slice(literals.length);
  // It may lead anywhere.
  if (others.some((segment) => segment.includes(".."))) return { start: "/", pattern: ANY_NAME };
  const literal = literals.join("/");
  const start = literal === "" && glob.startsWith("/") ? "/" : literal;
  return { start, pattern: readNamePattern(glob) };
}

/** Of a glob that only filters. A list of them, and one that excludes, may leave any name. */
export function readFilter(filter: string): NamePattern {
  return /[\s,]/.test(filter) || filter.startsWith("!") ? ANY_NAME : readNamePattern(filter);
}

function readNamePattern(glob: string): NamePattern {
  const last = glob.endsWith("/") ? "" : basename(glob);
  const tail = /[^*?[\]{}!()\\]*$/.exec(last)?.[0] ?? "";
  return { tail, isName: tail !== "" && tail === last };
}

const SPECIAL = /[*?[\]{}!()\\]/;
