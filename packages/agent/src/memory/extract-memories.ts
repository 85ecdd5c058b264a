// The extraction job with the memory writer (MEM-3): candidates in, memories out. The only thing that writes long-term
// memory, and never a tool. Each candidate is checked for its source, secrets and place on its own, and an invalid
// one does not affect the others; two jobs never write at once.

import { chmod, mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, systemClock, type Clock, type Redactor } from "@soong/core";
import { type Problem, writeWholeFile } from "@soong/platform";
import {
  getCandidateOwner,
  type CandidateRecord,
  type FoundCandidate,
  type RecordedSource,
} from "./candidate.ts";
import { contentProblem, renderEntry } from "./entry-file.ts";
import { sha256, type MemoryEntry, type MemoryOwner } from "./memory-entry.ts";
import { getMemoryPath, readMemories, makeOwnFolders } from "./memory-folder.ts";
import { openMemoryLog, type MemoryLog } from "./memory-log.ts";
import { planMemory, type MemoryPlan } from "./plan-memory.ts";

/** Runs the work while no other process has the path: `withFileLock` of `@soong/platform` is one. */
export type Exclusively = <Result>(path: string, work: () => Promise<Result>) => Promise<Result>;

export interface ExtractionOptions {
  /** `candidatesOf(archives)`. */
  readonly candidates: Iterable<FoundCandidate> | AsyncIterable<FoundCandidate>;
  /** `${SOONG_AGENT_HOME}/memory`. Made where it is missing. */
  readonly folder: string;
  readonly redactor: Redactor;
  /** Whether the journal has it: a fact of its run for which `isCandidateFact` says so. */
  readonly isOnRecord: (source: RecordedSource) => Promise<boolean>;
  readonly exclusively: Exclusively;
  readonly clock?: Clock;
  /** Shortens the text. Its answer is checked as the candidate was. Default: the text stays unchanged. */
  readonly condense?: (content: string) => Promise<string>;
}

export interface ExtractionReport {
  readonly written: readonly WrittenMemory[];
  /** Said before; their sources and tags were added to the memory that says it. */
  readonly merged: readonly WrittenMemory[];
  readonly refused: readonly RefusedCandidate[];
  /** Candidates an earlier job has dealt with. */
  readonly done_before: number;
  /** Files of the memory that cannot be read. */
  readonly problems: readonly Problem[];
}

export interface WrittenMemory {
  readonly candidate_id: string;
  readonly memory_id: string;
  readonly file: string;
  /** Memories that say something else about the same; both are kept. */
  readonly conflicts_with: readonly string[];
  /** What a reader should know of how it was made. */
  readonly note?: string;
}

export interface RefusedCandidate {
  readonly file: string;
  readonly run_id: string;
  readonly why: string;
}

export async function extractMemories(options: ExtractionOptions): Promise<ExtractionReport> {
  const { folder, exclusively } = options;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const root = await realpath(folder);
  return exclusively(root, async () => {
    await chmod(root, 0o700);
    const log = await openMemoryLog(root);
    try {
      return await extractAll(options, root, log);
    } finally {
      await log.close();
    }
  });
}

async function extractAll(
  options: ExtractionOptions,
  root: string,
  log: MemoryLog,
): Promise<ExtractionReport> {
  const { clock = systemClock() } = options;
  const written: WrittenMemory[] = [];
  const merged: WrittenMemory[] = [];
  const refused: RefusedCandidate[] = [];
  const problems: Problem[] = [];
  const shelves = new Map<string, MemoryEntry[]>();
  let done_before = 0;
  for await (const found of options.candidates) {
    const outcome = await extractOne(found).catch((error: unknown) => messageOf(error));
    if (typeof outcome === "string") await refuse(found, options.redactor.text(outcome));
  }
  return { written, merged, refused, done_before, problems };

  /** Or why not. */
  async function extractOne(found: FoundCandidate): Promise<string | undefined> {
    if (!found.ok) return found.why;
    const { record } = found;
    if (log.isDone(record.candidate_id)) {
      done_before += 1;
      return undefined;
    }
    const forged = await checkSource(found, record, options);
    if (forged !== undefined) return forged;
    const owner = getCandidateOwner(record) as MemoryOwner;
    const { content, note } = await condenseContent(record.content, options);
    if ([content, record.content, ...record.tags].some((text) => options.redactor.finds(text))) {
      return "it holds something that looks like a secret, such as a key or a password";
    }
    const shelf = await loadShelf(owner);
    const { candidate_id, session_id, run_id, tool_call_id } = record;
    const source = { session_id, run_id, tool_call_id, candidate_id };
    const { tags, created_at } = record;
    const plan = planMemory({ owner, content, tags, created_at, source }, shelf);
    if (plan.kind === "full")
      return "there are as many memories of its owner as there may be: forget some";
    const file = await write(owner, plan);
    const { entry } = plan;
    if (plan.kind === "merge") shelf.splice(shelf.indexOf(plan.into), 1, { ...entry, file });
    else shelf.push({ ...entry, file });
    const { id: memory_id, conflicts_with } = entry;
    const type = plan.kind === "merge" ? "memory.merged" : "memory.written";
    const line = { memory_id, ...owner, session_id, run_id, tool_call_id, sha256: sha256(content) };
    await log.add({ type, time: now(), candidate_id, ...line });
    const told = { candidate_id, memory_id, file, conflicts_with };
    (plan.kind === "merge" ? merged : written).push(note === undefined ? told : { ...told, note });
    return undefined;
  }

  async function write(owner: MemoryOwner, plan: Exclude<MemoryPlan, { kind: "full" }>) {
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

  async function refuse({ file, of }: FoundCandidate, why: string): Promise<void> {
    refused.push({ file, run_id: of.run_id, why });
    if (log.isRefused(file, why)) return;
    await log.add({ type: "memory.refused", time: now(), file, run_id: of.run_id, why });
  }

  function now(): string {
    return new Date(clock.now()).toISOString();
  }
}

/** It must be of the run in whose archive it is, and the journal must have the call that made it. */
async function checkSource(
  { of, file }: FoundCandidate,
  record: CandidateRecord,
  { isOnRecord }: ExtractionOptions,
): Promise<string | undefined> {
  const { session_id, run_id, tool_call_id, candidate_id, content } = record;
  if (run_id !== of.run_id || session_id !== of.session_id) {
    return "it says it is of another run than the one whose archive it is in";
  }
  if (!file.endsWith(`${candidate_id}.json`)) return "its file has the name of another candidate";
  const source = { session_id, run_id, tool_call_id, candidate_id, sha256: sha256(content) };
  if (await isOnRecord(source)) return undefined;
  return "the journal of its run has no such candidate, or one with another text";
}

async function condenseContent(
  content: string,
  { condense }: ExtractionOptions,
): Promise<{ content: string; note?: string }> {
  if (condense === undefined) return { content };
  try {
    const shorter = (await condense(content)).trim();
    const problem = contentProblem(shorter);
    if (problem === undefined) return { content: shorter };
    return { content, note: `kept as it was: what the model made of it ${problem}` };
  } catch (error) {
    return { content, note: `kept as it was: it could not be condensed: ${messageOf(error)}` };
  }
}
