// A candidate: what an agent would like to be remembered, put into the archive of its run. Nothing recalls it; the
// extraction job decides what becomes of it.

import { readdir, lstat, mkdir, realpath } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { messageOf, type CallIds, type Fact } from "@soong/core";
import { type Shape, readDocument, shape, writeWholeFile } from "@soong/platform";
import { readTextFile } from "../document/index.ts";
import {
  contentProblem,
  MEMORY_LIMITS,
  sha256,
  TAG,
  type MemoryOwner,
  type MemoryScope,
  type MemorySource,
} from "./memory-entry.ts";
import { makeOwnFolders } from "./memory-folder.ts";

export interface CandidateRecord extends MemorySource {
  readonly version: 1;
  readonly agent_id: string;
  readonly scope: MemoryScope;
  readonly project?: string;
  readonly tags: readonly string[];
  readonly content: string;
  readonly created_at: string;
}

/** Where a run keeps what it leaves behind. */
export interface RunArchive {
  readonly session_id: string;
  readonly run_id: string;
  /** `runs/<run-id>/archive`, absolute. */
  readonly archive: string;
}

/** With where it was found. */
export type FoundCandidate = { readonly of: RunArchive; readonly file: string } & (
  | { readonly ok: true; readonly record: CandidateRecord }
  | { readonly ok: false; readonly why: string }
);

const FOLDER = "memory-candidates";
const MOST_OF_A_RUN = 200;
const MOST_FILE_BYTES = 64 * 1024;

/** The same for every attempt at one call. */
export function makeCandidateId({ sessionId, runId, toolCallId }: CallIds): string {
  return `c-${sha256(JSON.stringify([sessionId, runId, toolCallId])).slice(0, 24)}`;
}

/** Whether this is what a run has recorded of that candidate. */
export function isCandidateFact(fact: Fact, source: RecordedSource): boolean {
  const { session_id, run_id, tool_call_id } = fact;
  return (
    fact.type === "memory.candidate" &&
    session_id === source.session_id &&
    run_id === source.run_id &&
    tool_call_id === source.tool_call_id &&
    fact.data.candidate_id === source.candidate_id &&
    fact.data.sha256 === source.sha256
  );
}

/** With the hash of what was proposed. */
export type RecordedSource = MemorySource & { readonly sha256: string };

/** Answers with the file; throws where it cannot be written. */
export async function writeCandidate(archive: string, record: CandidateRecord): Promise<string> {
  await mkdir(archive, { recursive: true, mode: 0o700 });
  const folder = await makeOwnFolders(await realpath(archive), [FOLDER]);
  const name = `${record.candidate_id}.json`;
  const others = (await readdir(folder)).filter((other) => other !== name);
  if (others.length >= MOST_OF_A_RUN) {
    throw new Error(`this run has ${MOST_OF_A_RUN} candidates, the most a run may have`);
  }
  const file = join(folder, name);
  await writeWholeFile(file, `${JSON.stringify(record, undefined, 2)}\n`, "replace");
  return file;
}

/** All that the archives of these runs hold, those that cannot be read among them. */
export async function* readCandidates(
  archives: Iterable<RunArchive> | AsyncIterable<RunArchive>,
): AsyncGenerator<FoundCandidate, undefined> {
  for await (const of of archives) {
    const folder = join(of.archive, FOLDER);
    const stats = await lstat(folder).catch(() => undefined);
    if (stats === undefined) continue;
    if (!stats.isDirectory()) {
      yield { of, file: folder, ok: false, why: "it is not a directory (a link is not followed)" };
      continue;
    }
    const names = await readdir(folder).catch(() => []);
    for (const name of names.filter((each) => !each.startsWith(".")).toSorted()) {
      yield await readCandidate(of, join(folder, name));
    }
  }
  return undefined;
}

async function readCandidate(of: RunArchive, file: string): Promise<FoundCandidate> {
  const refused = (why: string): FoundCandidate => ({ of, file, ok: false, why });
  try {
    if (!(await lstat(file)).isFile()) return refused("it is not a regular file");
  } catch (error) {
    return refused(`it cannot be read: ${messageOf(error)}`);
  }
  const read = await readTextFile(file, MOST_FILE_BYTES);
  if (!read.ok) return refused(`it ${read.message}`);
  const checked = readDocument(read.text, file, "yaml", RECORD);
  if (!checked.ok) {
    const first = checked.problems[0];
    return refused(`line ${first?.line}: ${first?.field ?? "it"} ${first?.message}`);
  }
  const record: CandidateRecord = checked.value;
  const problem = candidateProblem(record);
  return problem === undefined ? { of, file, ok: true, record } : refused(problem);
}

const { anyText, choice, list, object, optional } = shape;

const version: Shape<1> = (value, place) => {
  if (value !== 1) place.report("is not 1, the only version there is");
};

const RECORD = object(
  {
    version,
    candidate_id: anyText,
    session_id: anyText,
    run_id: anyText,
    agent_id: anyText,
    tool_call_id: anyText,
    scope: choice(["user", "project"]),
    project: optional(anyText),
    tags: list(anyText, { of: "tags" }),
    content: anyText,
    created_at: anyText,
  },
  { what: "a candidate" },
);

function candidateProblem(record: CandidateRecord): string | undefined {
  const content = contentProblem(record.content);
  if (content !== undefined) return `its text ${content}`;
  const tags = tagsProblem(record.tags);
  if (tags !== undefined) return tags;
  if (Number.isNaN(Date.parse(record.created_at))) return "created_at is not a time";
  return getCandidateOwner(record) === undefined
    ? "it is of a project and does not say which"
    : undefined;
}

export function tagsProblem(tags: readonly string[]): string | undefined {
  if (tags.length > MEMORY_LIMITS.tags) return `it has ${tags.length} tags; 8 are the most`;
  const bad = tags.find((tag) => tag.length > MEMORY_LIMITS.tagChars || !TAG.test(tag));
  return bad === undefined
    ? undefined
    : `${JSON.stringify(bad.slice(0, 60))} is not a tag: letters, digits, "_", "-" and ".", 40 at most`;
}

export function getCandidateOwner({ scope, project }: CandidateRecord): MemoryOwner | undefined {
  if (scope === "user") return { scope };
  return project === undefined || !isAbsolute(project) ? undefined : { scope, project };
}
