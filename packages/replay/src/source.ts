// Where a replay reads from: the facts of a session, page by page, its nodes and the bytes of its artifacts. A reader of
// `@soong/store` is one; `createReplaySource` makes one of a journal in memory.

import type { ArtifactStore, ConversationNode, Fact, MemoryJournal } from "@soong/core";
import { omitUndefined } from "@soong/schema";
import { checkFact, damagedJournal } from "./check-fact.ts";

export interface ReplaySource {
  /** Facts after a seq, oldest first, of one run or of the whole session. */
  facts(page: {
    readonly after: number;
    readonly limit: number;
    readonly run_id?: string;
  }): readonly Fact[] | Promise<readonly Fact[]>;
  node(node_id: string): ConversationNode | undefined | Promise<ConversationNode | undefined>;
  readArtifact(artifact_id: string): Uint8Array | undefined | Promise<Uint8Array | undefined>;
}

export function createReplaySource(
  { facts, nodes }: Pick<MemoryJournal, "facts" | "nodes">,
  artifacts: Pick<ArtifactStore, "read">,
): ReplaySource {
  return {
    facts({ after, limit, run_id }) {
      const page: Fact[] = [];
      for (const fact of facts) {
        if (page.length === limit) break;
        if (fact.seq > after && (run_id === undefined || fact.run_id === run_id)) page.push(fact);
      }
      return page;
    },
    node: (node_id) => nodes.find((node) => node.node_id === node_id),
    readArtifact: (artifact_id) => artifacts.read(artifact_id),
  };
}

const PAGE = 500;

/** In order, a page at a time. A fact that is missing among those of a run is reported as damage. */
export async function* readFacts(
  source: ReplaySource,
  run_id?: string,
): AsyncGenerator<Fact, void> {
  let after = 0;
  let runSeq = 0;
  for (;;) {
    const page = await source.facts({
      after,
      limit: PAGE,
      ...omitUndefined({ run_id }),
    });
    for (const fact of page) {
      if (fact.seq <= after) throw damagedJournal(fact.seq, `it comes after fact ${after}`);
      after = fact.seq;
      if (run_id !== undefined && fact.run_seq !== undefined) {
        // A run that was taken up again counts from the beginning.
        if (fact.run_seq !== runSeq + 1 && fact.run_seq !== 1) {
          throw damagedJournal(
            fact.seq,
            `${fact.run_seq - runSeq - 1} facts of its run are missing before it`,
          );
        }
        runSeq = fact.run_seq;
      }
      yield checkFact(fact);
    }
    if (page.length < PAGE) return;
  }
}

/** Undefined where its bytes cannot be read. */
export async function readArtifact(
  source: ReplaySource,
  artifact_id: string,
): Promise<Uint8Array | undefined> {
  try {
    return await source.readArtifact(artifact_id);
  } catch {
    return undefined;
  }
}
