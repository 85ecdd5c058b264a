// The memory writer (MEM-3): the only thing that changes the files of long-term memory, and never a tool. One process at a
// time, and each change is a line of the log.

import { chmod, lstat, mkdir, readdir, realpath, rm } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { systemClock, type Clock, type Redactor } from "@soong/core";
import { writeWholeFile, type Problem } from "@soong/platform";
import { tagsProblem } from "./candidate.ts";
import {
  contentProblem,
  isMemoryId,
  renderEntry,
  sha256,
  type MemoryEntry,
  type MemoryNote,
  type MemoryOwner,
} from "./memory-entry.ts";
import { getMemoryPath, makeOwnFolders, readMemories } from "./memory-folder.ts";
import { openMemoryLog, type MemoryLog } from "./memory-log.ts";
import { planMemory, type MemoryDraft, type MemoryPlan } from "./plan-memory.ts";

/** Runs the work while no other process has the path: `withFileLock` of `@soong/platform` is one. */
export type Exclusively = <Result>(path: string, work: () => Promise<Result>) => Promise<Result>;

interface WriterOptions {
  /** `${SOONG_AGENT_HOME}/memory`. */
  readonly folder: string;
  readonly exclusively: Exclusively;
  readonly clock?: Clock;
}

export type MemoryWriter = ReturnType<typeof createMemoryWriter>;

/** With the folder locked, and made where it is missing. */
export async function withMemoryWriter<Result>(
  options: WriterOptions & { readonly redactor: Redactor },
  work: (writer: MemoryWriter, log: MemoryLog) => Promise<Result>,
): Promise<Result> {
  const { folder, exclusively } = options;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const root = await realpath(folder);
  return exclusively(root, async () => {
    await chmod(root, 0o700);
    const log = await openMemoryLog(root);
    try {
      return await work(createMemoryWriter(root, log, options), log);
    } finally {
      await log.close();
    }
  });
}

export interface StoredMemory {
  readonly memory_id: string;
  readonly file: string;
  /** Memories that say something else about the same; both are kept. */
  readonly conflicts_with: readonly string[];
}

type Written = StoredMemory & {
  /** `merged`: it was said before; its source and tags were added to the memory that says it. */
  readonly kind: "written" | "merged";
};

function createMemoryWriter(
  root: string,
  log: MemoryLog,
  { redactor, clock = systemClock() }: { readonly redactor: Redactor; readonly clock?: Clock },
) {
  const shelves = new Map<string, MemoryEntry[]>();
  /** Files of the memory that cannot be read. */
  const problems: Problem[] = [];
  return { problems, now, write };

  function now(): string {
    return new Date(clock.now()).toISOString();
  }

  /** Or why not. `shown`: more texts that came with it. */
  async function write(draft: MemoryDraft, ...shown: readonly string[]): Promise<Written | string> {
    const { owner, content, source } = draft;
    if ([content, ...draft.tags, ...shown].some((text) => redactor.finds(text))) {
      return "it holds something that looks like a secret, such as a key or a password";
    }
    const shelf = await loadShelf(owner);
    const plan = planMemory(draft, shelf);
    if (plan.kind === "full") {
      return "there are as many memories of its owner as there may be: forget some";
    }
    const file = await writeEntry(owner, plan);
    const { entry } = plan;
    if (plan.kind === "merge") shelf.splice(shelf.indexOf(plan.into), 1, { ...entry, file });
    else shelf.push({ ...entry, file });
    const { id: memory_id, conflicts_with } = entry;
    const kind = plan.kind === "merge" ? "merged" : "written";
    const line = { memory_id, ...owner, ...source, sha256: sha256(content) };
    await log.add({ type: `memory.${kind}`, time: now(), ...line });
    return { kind, memory_id, file, conflicts_with };
  }

  async function writeEntry(owner: MemoryOwner, plan: Exclude<MemoryPlan, { kind: "full" }>) {
    const folder = await makeOwnFolders(root, getMemoryPath(owner));
    const file = join(folder, `${plan.entry.id}.md`);
    const how = plan.kind === "merge" ? "replace" : "new";
    await writeWholeFile(file, renderEntry(plan.entry), how).catch((error: unknown) => {
      // Its name is the hash of its words: a user who changed them by hand has the last word.
      const isTaken = (error as { code?: string }).code === "EEXIST";
      throw isTaken ? new Error(`${file} had these words and was changed by hand`) : error;
    });
    return file;
  }

  async function loadShelf(owner: MemoryOwner): Promise<MemoryEntry[]> {
    const key = JSON.stringify(getMemoryPath(owner));
    const known = shelves.get(key);
    if (known !== undefined) return known;
    const read = await readMemories(root, [owner]);
    problems.push(...read.problems);
    const shelf = [...read.entries];
    shelves.set(key, shelf);
    return shelf;
  }
}

export type AddMemoryOptions = WriterOptions & MemoryNote & { readonly redactor: Redactor };

export type AddedMemory =
  | ({ readonly ok: true } & Written)
  /** A clause about the text. */
  | { readonly ok: false; readonly why: string };

/** What the user wants remembered: checked as a candidate is, and without a source. */
export async function addMemory(options: AddMemoryOptions): Promise<AddedMemory> {
  const { owner, tags } = options;
  const content = options.content.trim();
  const problem = contentProblem(content);
  const why = problem === undefined ? tagsProblem(tags) : `it ${problem}`;
  if (why !== undefined) return { ok: false, why };
  return withMemoryWriter(options, async (writer) => {
    const written = await writer.write({ owner, content, tags, created_at: writer.now() });
    return typeof written === "string" ? { ok: false, why: written } : { ok: true, ...written };
  });
}

export interface ForgetOptions extends WriterOptions {
  /** Of a memory, or `user/<id>` and `projects/<key>/<id>` where two have the same. */
  readonly id: string;
}

export type Forgotten =
  | { readonly kind: "forgotten"; readonly file: string }
  | { readonly kind: "unknown" }
  /** As what to ask for instead. */
  | { readonly kind: "ambiguous"; readonly ids: readonly string[] };

/** Also one whose file cannot be read. What it came from does not come back: the log has it as done. */
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

/** `full`: from the folder on, without the ending. Nothing behind a link is ours to remove. */
async function listMemoryFiles(root: string): Promise<{ full: string; file: string }[]> {
  const projects = join(root, "projects");
  const keys = await listOwnFolder(projects);
  const files: { full: string; file: string }[] = [];
  for (const folder of [join(root, "user"), ...keys.map((key) => join(projects, key))]) {
    for (const name of await listOwnFolder(folder)) {
      const file = join(folder, name);
      if (!name.endsWith(".md") || !(await lstat(file)).isFile()) continue;
      files.push({ file, full: relative(root, file).replace(/\.md$/, "") });
    }
  }
  return files;
}

async function listOwnFolder(folder: string): Promise<string[]> {
  const stats = await lstat(folder).catch(() => undefined);
  return stats?.isDirectory() === true ? readdir(folder) : [];
}
