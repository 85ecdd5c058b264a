// The paths that a tool of the host names, as rules know them: through links, and with the session's own look-up where it has one.

import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import type { Resource, TargetsContext } from "@soong/core";

export type PathResource = Extract<Resource, { kind: "path" }>;

export type PathAccess = PathResource["access"];

export interface HostPath {
  readonly path: string;
  readonly directory: string;
  readonly access: PathAccess;
}

type Places = Pick<TargetsContext, "findPath" | "restrictedBy" | "roots">;

export async function findTargetPath(
  { path, directory, access }: HostPath,
  context: TargetsContext,
): Promise<PathResource> {
  const given = expandHome(path);
  if (context.findPath !== undefined) {
    // What is below it is looked up here, with the pattern of the call.
    const about = { path: given, directory, access, mayWalk: false };
    return (await context.findPath(about, context)).resource;
  }
  const named = resolve(directory, given);
  const real = await findRealPath(named);
  return { kind: "path", access, path: real, ...(real !== named && { also: [named] }) };
}

/** Claude Code drops blanks around some paths, before or after its hook: what restricts either name restricts the call. */
export async function findGivenPaths(
  { path, directory, access }: HostPath,
  context: TargetsContext,
): Promise<[PathResource, ...PathResource[]]> {
  const trimmed = path.trim();
  const main = await findTargetPath({ path: trimmed, directory, access }, context);
  if (trimmed === path) return [main];
  const asGiven = await findTargetPath({ path, directory, access }, context);
  return [main, { ...asGiven, only_restricts: true }];
}

export function expandHome(path: string): string {
  return path.replace(/^~(?=\/|$)/, () => homedir());
}

/** Of the words of a command, those that are restricted paths. They restrict the call, and allow nothing. */
export async function findCommandPaths(
  command: string,
  directory: string,
  context: TargetsContext,
): Promise<PathResource[]> {
  const found = new Map<string, PathResource>();
  for (const word of splitCommand(command)) {
    const looked = await findTargetPath({ path: word, directory, access: "read" }, context).catch(
      () => undefined,
    );
    if (looked !== undefined && isRestricted(looked, context)) {
      found.set(looked.path, { ...looked, only_restricts: true });
    }
  }
  return [...found.values()];
}

const MOST_WORDS = 1000;
const MOST_WORD_CHARS = 4096;

/** All that a shell may take for a word, with and without what is before a file name in it, as in `--config=` and `@`. */
function splitCommand(command: string): string[] {
  const words = command.split(/[\s"'`;|&<>()]+/).filter((word) => word !== "");
  const pieces = words.flatMap((word) => [word, word.replace(/^[^=@:]*[=@:]/, "")]);
  return [...new Set(pieces)]
    .filter((word) => word !== "" && word.length <= MOST_WORD_CHARS)
    .slice(0, MOST_WORDS);
}

function isRestricted(
  { path, also = [], access, sensitive }: PathResource,
  { restrictedBy }: Places,
): boolean {
  return (
    sensitive === true || [path, ...also].some((name) => restrictedBy(name, access) !== undefined)
  );
}

/** Of a file that is not there yet: where its directory leads. */
async function findRealPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(await findRealPath(parent), basename(path));
  }
}
