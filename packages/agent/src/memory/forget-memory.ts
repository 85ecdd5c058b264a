// Takes a memory away, also one whose file cannot be read. What it came from does not come back: the log has it as done.

import { lstat, realpath, readdir, rm } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { systemClock, type Clock } from "@soong/core";
import type { Exclusively } from "./extract-memories.ts";
import { isMemoryId } from "./memory-entry.ts";
import { openMemoryLog } from "./memory-log.ts";

export interface ForgetOptions {
  readonly folder: string;
  /** Of a memory, or `user/<id>` and `projects/<key>/<id>` where two have the same. */
  readonly id: string;
  readonly exclusively: Exclusively;
  readonly clock?: Clock;
}

export type Forgotten =
  | { readonly kind: "forgotten"; readonly file: string }
  | { readonly kind: "unknown" }
  /** As what to ask for instead. */
  | { readonly kind: "ambiguous"; readonly ids: readonly string[] };

export async function forgetMemory(options: ForgetOptions): Promise<Forgotten> {
  const { folder, id, exclusively, clock = systemClock() } = options;
  const root = await realpath(folder).catch(() => undefined);
  if (root === undefined || !isMemoryId(basename(id))) return { kind: "unknown" };
  return exclusively(root, async () => {
    const named = (await listMemoryFiles(root)).filter(
      ({ full }) => full === id || basename(full) === id,
    );
    const [found, ...others] = named;
    if (found === undefined) return { kind: "unknown" };
    if (others.length > 0) return { kind: "ambiguous", ids: named.map(({ full }) => full) };
    await rm(found.file);
    const log = await openMemoryLog(root);
    try {
      const time = new Date(clock.now()).toISOString();
      await log.add({ type: "memory.forgotten", time, memory_id: found.full });
    } finally {
      await log.close();
    }
    return { kind: "forgotten", file: found.file };
  });
}

interface MemoryFile {
  /** From the folder on, without the ending. */
  readonly full: string;
  readonly file: string;
}

async function listMemoryFiles(root: string): Promise<MemoryFile[]> {
  const projects = join(root, "projects");
  const keys = await listOwnFolder(projects);
  const folders = [join(root, "user"), ...keys.map((key) => join(projects, key))];
  const files: MemoryFile[] = [];
  for (const folder of folders) {
    for (const name of await listOwnFolder(folder)) {
      const file = join(folder, name);
      if (!name.endsWith(".md") || !(await lstat(file)).isFile()) continue;
      files.push({ file, full: relative(root, file).replace(/\.md$/, "") });
    }
  }
  return files;
}

/** Nothing behind a link is ours to remove. */
async function listOwnFolder(folder: string): Promise<string[]> {
  const stats = await lstat(folder).catch(() => undefined);
  return stats?.isDirectory() === true ? readdir(folder) : [];
}
