// From restricted paths to what is mounted over: canonical, without what the call needs open, and under every name that a
// file has.

import { realpathSync } from "node:fs";
import { join } from "node:path";
import { isWithin } from "@soong/core/internal";
import { entriesOf, inodeKey, lookAt, lookAtNode } from "../path/index.ts";

/** Canonical paths to mask. What is open inside of one stays so. */
export function closePaths(paths: readonly string[], isOpen: (path: string) => boolean): string[] {
  return paths.flatMap((path) => {
    const target = isOpen(path) ? undefined : canonical(path);
    if (target === undefined || target === path) return target ?? [];
    // Where a link leads: the system's own files are public.
    return isOpen(target) || OF_SYSTEM.test(target) ? [] : [target];
  });
}

/** Programs, and what the kernel makes: nothing of the user's own. */
export const OF_SYSTEM =
  /^\/(?:usr|bin|sbin|lib\w*|boot|dev|proc|sys|run|nix|snap|System|Library|etc\/ssl\/certs)\//;

export function isLink(path: string): boolean {
  return lookAt(path)?.isSymbolicLink() === true;
}

export function canonical(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** Without those that are in another one. */
export function withoutInner(paths: readonly string[]): string[] {
  const sorted = [...new Set(paths)].toSorted();
  const kept: string[] = [];
  for (const path of sorted) if (!kept.some((one) => isWithin(one, path))) kept.push(path);
  return kept;
}

/** Names in the writable places that masked or fixed files have beside their own: a hard link is the same file. */
export function otherNames(
  closed: { readonly masked: readonly string[]; readonly fixed: readonly string[] },
  writable: readonly string[],
): { masked: string[]; fixed: string[] } {
  const kinds = new Map<string, "masked" | "fixed">();
  for (const kind of ["fixed", "masked"] as const) {
    for (const path of closed[kind]) {
      for (const file of filesAt(path)) {
        const node = lookAtNode(file);
        if (node?.isFile() === true && node.nlink > 1n) kinds.set(inodeKey(node), kind);
      }
    }
  }
  const names = { masked: [] as string[], fixed: [] as string[] };
  if (kinds.size === 0) return names;
  const ahead = [...writable];
  for (const directory of ahead) {
    for (const entry of entriesOf(directory)) {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) ahead.push(path);
      const node = entry.isFile() ? lookAtNode(path) : undefined;
      const kind = node && kinds.get(inodeKey(node));
      if (kind !== undefined) names[kind].push(path);
    }
  }
  return names;
}

/** Of a directory so many as can be looked at before every command. */
function* filesAt(path: string): Generator<string, void> {
  if (lookAt(path)?.isDirectory() !== true) {
    yield path;
    return;
  }
  const ahead = [path];
  let left = MOST_LINKED;
  for (const directory of ahead) {
    for (const entry of entriesOf(directory)) {
      if ((left -= 1) < 0) return;
      const inner = join(directory, entry.name);
      if (entry.isDirectory()) ahead.push(inner);
      else if (entry.isFile()) yield inner;
    }
  }
}

const MOST_LINKED = 500;
