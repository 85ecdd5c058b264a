// Walks the facts of a session page by page and finds the first fact, node or artifact that is not what was recorded,
// or a row that does not follow from the facts (EVENT-6).

import { setImmediate as nextTurn } from "node:timers/promises";
import type { ChainProblem, Verification, VerifyOptions } from "../contract/store.ts";
import { factPlace, PLACES, type SessionRow } from "../session/rows.ts";
import type { SessionPlace } from "../session/session-reader.ts";
import { POSITION_IN, sqlRow, type Steps } from "../sql/sql.ts";
import { findDerivedProblem, heldArtifacts, recordIn } from "./derived-tables.ts";
import { walkFacts, type FactWalk } from "./walk-facts.ts";

export async function verifySession(
  place: SessionPlace,
  row: SessionRow,
  options: VerifyOptions,
): Promise<Verification> {
  const { database, session_no: no } = place;
  let { last_seq, head_hash } = row;
  let hasHead = options.head === undefined || options.head === head_hash;
  const walk = walkFacts(place, () => {
    hasHead ||= walk.check.hash === options.head;
  });
  const { check } = walk;

  for (;;) {
    const step = await database.run(walk.next(last_seq));
    if (step === "done") break;
    if (step !== "more") return toFailure(step);
    await nextTurn();
  }
  const problem = (await database.snapshot(endOfWalk)) ?? (await artifactProblem());
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
  function* endOfWalk(): Steps<ChainProblem | undefined> {
    const now = (yield* sqlRow<SessionRow>`SELECT * FROM sessions WHERE session_no = ${no}`) ?? row;
    ({ last_seq, head_hash } = now);
    hasHead ||= options.head === head_hash;
    return yield* finishWalk(place, now, walk);
  }

  async function artifactProblem(): Promise<ChainProblem | undefined> {
    if (options.artifacts !== true) return undefined;
    const rows = await database.run(heldArtifacts(place));
    for (const row of rows) {
      const record = recordIn(row);
      const { artifact_id, sha256, tool_call_id } = record;
      const found = await place.bytes.hash(place, record);
      if (found === sha256) continue;
      const whose = tool_call_id === undefined ? "" : ` of call ${tool_call_id}`;
      const what = found === undefined ? "cannot be read" : "is not what was recorded";
      const message = `Artifact ${artifact_id}${whose} ${what}.`;
      return { seq: await database.run(factOfArtifact(artifact_id)), kind: "artifact", message };
    }
    return undefined;
  }

  function* factOfArtifact(artifact_id: string): Steps<number> {
    const fact = yield* sqlRow<{ seq: number }>`SELECT place - ${factPlace(no, 0)} AS seq FROM facts
      WHERE place > ${factPlace(no, 0)} AND place <= ${factPlace(no, last_seq)}
         AND type = 'artifact.created' AND ${POSITION_IN}(line, ${JSON.stringify(artifact_id)}) > 0 LIMIT 1`;
    return fact?.seq ?? last_seq;
  }
}

/** The rest of the facts, then all that is kept beside them, artifacts' bytes excepted. */
export function* finishWalk(
  place: SessionPlace,
  row: SessionRow,
  walk: FactWalk,
): Steps<ChainProblem | undefined> {
  let step = yield* walk.next(row.last_seq);
  while (step === "more") step = yield* walk.next(row.last_seq);
  if (step !== "done") return step;
  return (
    walk.check.end(row) ??
    (yield* findBeyond(row)) ??
    (yield* findAdditions(row, walk)) ??
    (yield* findDerivedProblem(place, row, walk))
  );
}

function* findBeyond({ session_no, last_seq }: SessionRow): Steps<ChainProblem | undefined> {
  const first = factPlace(session_no, 0);
  const found = yield* sqlRow<{ seq: number | null }>`SELECT max(place) - ${first} AS seq FROM facts
    WHERE place > ${first} AND place < ${factPlace(session_no, PLACES)}`;
  const there = found?.seq ?? 0;
  if (there <= last_seq) return undefined;
  const message = `The journal continues to fact ${there}, after its head, which is fact ${last_seq}: facts were added by someone else, or the head was changed.`;
  return { seq: last_seq + 1, kind: "head", message };
}

/** Nodes that no fact names were put there by someone else. */
function* findAdditions(
  { session_no, last_seq }: SessionRow,
  walk: FactWalk,
): Steps<ChainProblem | undefined> {
  const count = yield* sqlRow<{ there: number }>`SELECT count(*) AS there FROM nodes
    WHERE session_no = ${session_no}`;
  if (count?.there === walk.nodes) return undefined;
  const message = `The conversation has ${count?.there} nodes, and the facts name ${walk.nodes}.`;
  return { seq: last_seq, kind: "node_edited", message };
}
