// What is remembered, for the user who adds to it: a note of theirs, and a yes or no to what an agent proposed (MEM-3).

import {
  addMemory,
  discardCandidates,
  extractMemories,
  findOpenCandidates,
  isCandidateFact,
  readCandidates,
  type AddedMemory,
  type CandidateRecord,
  type Exclusively,
  type ExtractionReport,
  type MemoryNote,
  type RunArchive,
} from "@soong/agent";
import type { Redactor } from "@soong/core";
import { defaultLockDirectory, withFileLock } from "@soong/platform";
import type { Store } from "@soong/store";
import { findArchive, homePaths } from "./home.ts";

const PAGE = 1000;

export const exclusively: Exclusively = (path, work) =>
  withFileLock(path, { lockDirectory: defaultLockDirectory() }, work);

export function openUserMemories({ home, redactor }: { home: string; redactor: Redactor }) {
  const where = { folder: homePaths(home).memory, redactor, exclusively };
  return {
    add: (note: MemoryNote): Promise<AddedMemory> => addMemory({ ...where, ...note }),
    /** What the runs of a session proposed, and no one has decided about. */
    proposed: (session: ArchivedSession): Promise<CandidateRecord[]> =>
      findOpenCandidates({ ...where, candidates: readCandidates(listArchives(home, [session])) }),
    discard: (candidates: readonly CandidateRecord[]): Promise<void> =>
      discardCandidates(candidates, where),
    /** Makes memories of what these sessions proposed; `only`: of these alone. */
    extract(
      store: Pick<Store, "readSession">,
      sessions: Iterable<ArchivedSession> | AsyncIterable<ArchivedSession>,
      only?: readonly CandidateRecord[],
    ): Promise<ExtractionReport> {
      const wanted = only && new Set(only.map(({ candidate_id }) => candidate_id));
      return extractMemories({
        ...where,
        candidates: pick(readCandidates(listArchives(home, sessions)), wanted),
        async isOnRecord(source) {
          const { session_id, run_id, tool_call_id } = source;
          const reader = await store.readSession(session_id);
          const facts = await reader.facts({ run_id, tool_call_id, limit: PAGE });
          return facts.some((fact) => isCandidateFact(fact, source));
        },
      });
    },
  };
}

export interface ArchivedSession {
  readonly session_id: string;
  readonly run_ids: readonly string[];
}

async function* listArchives(
  home: string,
  sessions: Iterable<ArchivedSession> | AsyncIterable<ArchivedSession>,
): AsyncGenerator<RunArchive, undefined> {
  for await (const { session_id, run_ids } of sessions) {
    for (const run_id of run_ids) {
      const archive = findArchive(home, run_id);
      if (archive !== undefined) yield { session_id, run_id, archive };
    }
  }
  return undefined;
}

type Candidates = ReturnType<typeof readCandidates>;

async function* pick(found: Candidates, wanted: ReadonlySet<string> | undefined): Candidates {
  for await (const one of found) {
    if (wanted === undefined || (one.ok && wanted.has(one.record.candidate_id))) yield one;
  }
  return undefined;
}
