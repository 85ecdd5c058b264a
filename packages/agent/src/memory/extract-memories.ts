// The extraction job with the memory writer (MEM-3): candidates in, memories out. The only thing that writes long-term
// memory, and never a tool. Each candidate is checked for its source, secrets and place on its own, and an invalid
// one does not affect the others; two jobs never write at once.

import {
  chmod,
  mkdir,
  realpath,
  open,
  type FileHandle,
  lstat,
  readdir,
  rm,
} from "node:fs/promises";
import { join, basename, relative } from "node:path";
import { constants } from "node:fs";
import { messageOf, systemClock, type Clock, type Redactor, type JsonObject } from "@soong/core";
import { type Problem, writeWholeFile } from "@soong/platform";
import {
  getCandidateOwner,
  type CandidateRecord,
  type FoundCandidate,
  type RecordedSource,
} from "./candidate.ts";
import {
  contentProblem,
  renderEntry,
  sha256,
  type MemoryEntry,
  type MemoryOwner,
  makeMemoryId,
  MEMORY_LIMITS,
  normalizeWords,
  type MemorySource,
  isMemoryId,
} from "./memory-entry.ts";
import { getMemoryPath, readMemories, makeOwnFolders } from "./memory-folder.ts";

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
    const report = { candidate_id, memory_id, file, conflicts_with, note };
    (plan.kind === "merge" ? merged : written).push(report);
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

// What becomes of a candidate beside the memories there are: the same thing said again is merged, something else said about
// the same thing is kept beside it with a note of both, anything else is new. Pure.

interface MemoryDraft {
  readonly owner: MemoryOwner;
  readonly content: string;
  readonly tags: readonly string[];
  readonly created_at: string;
  readonly source: MemorySource;
}

type PlannedEntry = Omit<MemoryEntry, "file"> & MemoryOwner;

type MemoryPlan =
  | { readonly kind: "new"; readonly entry: PlannedEntry }
  | { readonly kind: "merge"; readonly into: MemoryEntry; readonly entry: PlannedEntry }
  | { readonly kind: "full" };

/** How much of their words two texts share before they are about the same thing. */
const ABOUT_THE_SAME = 0.5;

/** `there`: all memories of the owner. */
export function planMemory(draft: MemoryDraft, there: readonly MemoryEntry[]): MemoryPlan {
  const { owner, content, tags, created_at, source } = draft;
  const same = normalizeWords(content);
  const into = there.find((entry) => readWords(entry).same === same);
  if (into !== undefined) return { kind: "merge", into, entry: mergeEntry(into, draft) };
  if (there.length >= MEMORY_LIMITS.entriesOfOwner) return { kind: "full" };
  const words = splitWords(same);
  const others = there.filter(
    (entry) => measureOverlap(words, readWords(entry).words) >= ABOUT_THE_SAME,
  );
  const entry = {
    ...owner,
    id: makeMemoryId(owner, content),
    content,
    tags,
    created_at,
    sources: [source],
    conflicts_with: others.slice(0, MEMORY_LIMITS.conflicts).map(({ id }) => id),
  };
  return { kind: "new", entry };
}

function mergeEntry(into: MemoryEntry, { tags, source }: MemoryDraft): PlannedEntry {
  const { file: _file, ...entry } = into;
  const isKnown = entry.sources.some(({ candidate_id }) => candidate_id === source.candidate_id);
  return {
    ...entry,
    tags: [...new Set([...entry.tags, ...tags])].slice(0, MEMORY_LIMITS.tags),
    sources: isKnown ? entry.sources : [...entry.sources, source].slice(-MEMORY_LIMITS.sources),
  };
}

interface ReadWords {
  readonly same: string;
  readonly words: Set<string>;
}

/** A job holds each candidate against the same memories. */
const knownWords = new WeakMap<MemoryEntry, ReadWords>();

function readWords(entry: MemoryEntry): ReadWords {
  const known = knownWords.get(entry);
  if (known !== undefined) return known;
  const same = normalizeWords(entry.content);
  const read = { same, words: splitWords(same) };
  knownWords.set(entry, read);
  return read;
}

/** The share of their words that two texts have in common, from 0 to 1. */
function measureOverlap(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  if (left.size === 0 || right.size === 0) return 0;
  let common = 0;
  for (const word of left) if (right.has(word)) common += 1;
  return common / (left.size + right.size - common);
}

const cut = new Intl.Segmenter("en", { granularity: "word" });
const SMALL = new Set(
  "a an and are as at be by for from in is it its of on or that the this to was with".split(" "),
);

/** Of a text as `sameWords` leaves it. */
function splitWords(text: string): Set<string> {
  const words = new Set<string>();
  for (const { segment, isWordLike } of cut.segment(text)) {
    if (isWordLike === true && !SMALL.has(segment)) words.add(segment);
  }
  return words;
}

// What was done to long-term memory, a line each, in `log.jsonl` beside it. The job has no session, so these lines are its
// facts; they also say which candidates are done.

interface MemoryLine {
  readonly type: "memory.written" | "memory.merged" | "memory.refused" | "memory.forgotten";
  readonly time: string;
  readonly candidate_id?: string;
  readonly [key: string]: JsonObject[string] | undefined;
}

type MemoryLog = Awaited<ReturnType<typeof openMemoryLog>>;

const LOG = "log.jsonl";

/** Call it while the memory is locked. A line that cannot be read is passed over. */
async function openMemoryLog(root: string) {
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW;
  const file = await open(join(root, LOG), flags, 0o600);
  const done = new Set<unknown>();
  const refused = new Set<string>();
  let isTorn = false;
  try {
    for await (const line of readLogLines(file)) {
      isTorn = !line.isWhole;
      note(parseLogLine(line.text));
    }
  } catch (error) {
    await file.close();
    throw error;
  }
  return {
    /** Whether a candidate has become memory already. */
    isDone: (candidate_id: string) => done.has(candidate_id),
    /** Whether it was refused before, for the same reason. */
    isRefused: (path: string, why: string) => refused.has(JSON.stringify([path, why])),
    async add(line: MemoryLine): Promise<void> {
      await file.appendFile(`${isTorn ? "\n" : ""}${JSON.stringify(line)}\n`);
      isTorn = false;
      note(line);
    },
    async close(): Promise<void> {
      await file.sync();
      await file.close();
    },
  };

  function note({ type, candidate_id, file: path, why }: Partial<MemoryLine>): void {
    if (type === "memory.written" || type === "memory.merged") done.add(candidate_id);
    if (type === "memory.refused") refused.add(JSON.stringify([path, why]));
  }
}

function parseLogLine(line: string): Partial<MemoryLine> {
  try {
    return (JSON.parse(line) as Partial<MemoryLine> | null) ?? {};
  } catch {
    return {};
  }
}

async function* readLogLines(
  file: FileHandle,
): AsyncGenerator<{ readonly text: string; readonly isWhole: boolean }, undefined> {
  const decoder = new TextDecoder();
  const chunk = new Uint8Array(64 * 1024);
  let rest = "";
  for (let at = 0; ;) {
    const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
    if (bytesRead === 0) break;
    at += bytesRead;
    const lines = (rest + decoder.decode(chunk.subarray(0, bytesRead), { stream: true })).split(
      "\n",
    );
    rest = lines.pop() ?? "";
    for (const text of lines) yield { text, isWhole: true };
  }
  if (rest !== "") yield { text: rest, isWhole: false };
  return undefined;
}

// Takes a memory away, also one whose file cannot be read. What it came from does not come back: the log has it as done.

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
