// Walks the facts of a session page by page and finds the first fact, node or artifact that is not what was recorded,
// or a row that does not follow from the facts (EVENT-6).

import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { ArtifactRecord } from "@soong/core";
import { hashFile } from "../artifacts/artifact-sink.ts";
import type { ChainProblem, Verification, VerifyOptions } from "../contract/store.ts";
import { placeOfSession, type SessionRow } from "../session/rows.ts";
import type { SessionPlace } from "../session/session-reader.ts";
import { findDerivedProblem } from "./derived-tables.ts";
import { walkFacts } from "./walk-facts.ts";

export async function verifySession(
  place: SessionPlace,
  row: SessionRow,
  options: VerifyOptions,
): Promise<Verification> {
  const { query, session_no: no } = place;
  const base = placeOfSession(no);
  let { last_seq, head_hash } = row;
  let hasHead = options.head === undefined || options.head === head_hash;
  const walk = walkFacts(place, () => {
    hasHead ||= walk.check.hash === options.head;
  });
  const { check } = walk;

  for (let step = walk.next(last_seq); step !== "done"; step = walk.next(last_seq)) {
    if (step !== "more") return toFailure(step);
    await nextTurn();
  }
  const problem = endOfWalk() ?? (await artifactProblem());
  if (problem !== undefined) return toFailure(problem);
  if (!hasHead) {
    const message = `No fact of this session has the hash ${options.head}: it is not the one that hash was kept of, or all of it was made again.`;
    return toFailure({ seq: 1, kind: "head", message });
  }
  return { ok: true, facts: check.facts, head_hash };

  function toFailure(found: ChainProblem): Verification {
    return { ok: false, facts: check.facts, problem: found };
  }

  /** All of one moment: who holds the session may have added facts since the walk began, with all that follows from them. */
  function endOfWalk(): ChainProblem | undefined {
    query`BEGIN`;
    try {
      const [now = row] = query<SessionRow>`SELECT * FROM sessions WHERE session_no = ${no}`;
      ({ last_seq, head_hash } = now);
      hasHead ||= options.head === head_hash;
      for (let step = walk.next(last_seq); step !== "done"; step = walk.next(last_seq)) {
        if (step !== "more") return step;
      }
      return check.end(now) ?? beyond() ?? additions() ?? findDerivedProblem(place, now, walk);
    } finally {
      query`COMMIT`;
    }
  }

  function beyond(): ChainProblem | undefined {
    const [found] = query<{ seq: number | null }>`SELECT max(place) - ${base} AS seq FROM facts
      WHERE place > ${base} AND place < ${base + 2 ** 32}`;
    const there = found?.seq ?? 0;
    if (there <= last_seq) return undefined;
    const message = `The journal continues to fact ${there}, after its head, which is fact ${last_seq}: facts were added by someone else, or the head was changed.`;
    return { seq: last_seq + 1, kind: "head", message };
  }

  /** Nodes that no fact names were put there by someone else. */
  function additions(): ChainProblem | undefined {
    const [count] = query<{
      there: number;
    }>`SELECT count(*) AS there FROM nodes WHERE session_no = ${no}`;
    if (count?.there === walk.nodes) return undefined;
    const message = `The conversation has ${count?.there} nodes, and the facts name ${walk.nodes}.`;
    return { seq: last_seq, kind: "node_edited", message };
  }

  async function artifactProblem(): Promise<ChainProblem | undefined> {
    if (options.artifacts !== true) return undefined;
    const rows = query<{
      record: string;
    }>`SELECT record FROM artifacts WHERE session_no = ${no}`;
    for (const { record } of rows) {
      const { artifact_id, sha256, tool_call_id } = JSON.parse(record) as ArtifactRecord;
      const found = await hashFile(join(place.artifactDirectory, artifact_id));
      if (found === sha256) continue;
      const whose = tool_call_id === undefined ? "" : ` of call ${tool_call_id}`;
      const what = found === undefined ? "cannot be read" : "is not what was recorded";
      const message = `Artifact ${artifact_id}${whose} ${what}.`;
      return { seq: factOfArtifact(artifact_id), kind: "artifact", message };
    }
    return undefined;
  }

  function factOfArtifact(artifact_id: string): number {
    const [fact] = query<{ seq: number }>`SELECT place - ${base} AS seq FROM facts
      WHERE place > ${base} AND place <= ${base + last_seq}
         AND type = 'artifact.created' AND instr(line, ${JSON.stringify(artifact_id)}) > 0 LIMIT 1`;
    return fact?.seq ?? last_seq;
  }
}
