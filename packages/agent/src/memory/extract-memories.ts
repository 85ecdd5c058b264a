// The extraction job (MEM-3): candidates in, memories out, through the memory writer. Each candidate is checked for its
// source, secrets and place on its own, and an invalid one does not affect the others.

import { messageOf, type Clock, type Redactor } from "@soong/core";
import type { Problem } from "@soong/platform";
import {
  getCandidateOwner,
  type CandidateRecord,
  type FoundCandidate,
  type RecordedSource,
} from "./candidate.ts";
import { contentProblem, sha256, type MemoryOwner } from "./memory-entry.ts";
import { withMemoryWriter, type Exclusively, type StoredMemory } from "./memory-writer.ts";

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

export interface WrittenMemory extends StoredMemory {
  readonly candidate_id: string;
  /** What a reader should know of how it was made. */
  readonly note?: string;
}

export interface RefusedCandidate {
  readonly file: string;
  readonly run_id: string;
  readonly why: string;
}

export function extractMemories(options: ExtractionOptions): Promise<ExtractionReport> {
  return withMemoryWriter(options, async (writer, log) => {
    const written: WrittenMemory[] = [];
    const merged: WrittenMemory[] = [];
    const refused: RefusedCandidate[] = [];
    let done_before = 0;
    for await (const found of options.candidates) {
      const outcome = await extractOne(found).catch((error: unknown) => messageOf(error));
      if (typeof outcome === "string") await refuse(found, options.redactor.text(outcome));
    }
    return { written, merged, refused, done_before, problems: writer.problems };

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
      const { candidate_id, session_id, run_id, tool_call_id, tags, created_at } = record;
      const source = { session_id, run_id, tool_call_id, candidate_id };
      const stored = await writer.write(
        { owner, content, tags, created_at, source },
        record.content,
      );
      if (typeof stored === "string") return stored;
      const { kind, ...memory } = stored;
      (kind === "merged" ? merged : written).push({ candidate_id, ...memory, note });
      return undefined;
    }

    async function refuse({ file, of }: FoundCandidate, why: string): Promise<void> {
      refused.push({ file, run_id: of.run_id, why });
      if (log.isRefused(file, why)) return;
      await log.add({ type: "memory.refused", time: writer.now(), file, run_id: of.run_id, why });
    }
  });
}

/** Candidates that no user has decided on and no job has processed. */
export async function findOpenCandidates(
  options: Pick<ExtractionOptions, "candidates" | "folder" | "redactor" | "exclusively">,
): Promise<CandidateRecord[]> {
  const records: CandidateRecord[] = [];
  for await (const found of options.candidates) if (found.ok) records.push(found.record);
  if (records.length === 0) return [];
  return withMemoryWriter(options, async (_writer, log) =>
    records.filter(({ candidate_id }) => !log.isDone(candidate_id)),
  );
}

/** The user said no: no job makes memories of them. */
export function discardCandidates(
  candidates: readonly CandidateRecord[],
  options: Pick<ExtractionOptions, "folder" | "redactor" | "exclusively">,
): Promise<void> {
  return withMemoryWriter(options, async (writer, log) => {
    for (const { candidate_id, session_id, run_id, tool_call_id } of candidates) {
      const source = { candidate_id, session_id, run_id, tool_call_id };
      await log.add({ type: "memory.discarded", time: writer.now(), ...source });
    }
  });
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
