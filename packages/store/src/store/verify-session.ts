// Walks the chain of a session page by page, as it was when the walk began, and finds the first fact, node
// or artifact that is not what was recorded (EVENT-6).

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { ArtifactRecord, Fact } from "@soong/core";
import { createChainCheck, type ChainRow } from "../chain/index.ts";
import type { ChainProblem, Verification, VerifyOptions } from "../contract/index.ts";
import { fromColumn } from "../sqlite/index.ts";
import { placeOfSession, type SessionPlace, type SessionRow } from "../session/index.ts";

interface StoredRow {
  seq: number;
  type: string;
  run_id: string | null;
  tool_call_id: string | null;
  line: string;
}

const PAGE = 1000;

export async function verifySession(
  place: SessionPlace,
  row: SessionRow,
  options: VerifyOptions,
): Promise<Verification> {
  const { query, session_no: no } = place;
  const base = placeOfSession(no);
  const { last_seq, head_hash } = row;
  const check = createChainCheck();
  let nodes = 0;
  let hasHead = options.head === undefined || options.head === head_hash;

  for (let after = 0; ;) {
    const page = query(
      `SELECT place - ? AS seq, type, run_id, tool_call_id, line FROM facts
         LEFT JOIN runs ON runs.session_no = ? AND runs.run_index = facts.run_index
       WHERE place > ? AND place <= ? ORDER BY place LIMIT ?`,
      base,
      no,
      base + after,
      base + last_seq,
      PAGE,
    ) as StoredRow[];
    for (const stored of page) {
      const problem = check.next(chainRow(stored));
      if (problem !== undefined) return failed(problem);
      hasHead ||= check.hash === options.head;
    }
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.seq;
    await nextTurn();
  }
  const problem =
    check.end({ last_seq, head_hash }) ?? beyond() ?? additions() ?? (await artifactProblem());
  if (problem !== undefined) return failed(problem);
  if (!hasHead) {
    const message = `No fact of this session has the hash ${options.head}: it is not the one that hash was kept of, or all of it was made anew.`;
    return failed({ seq: 1, kind: "head", message });
  }
  return { ok: true, facts: check.facts, head_hash };

  function failed(found: ChainProblem): Verification {
    return { ok: false, facts: check.facts, problem: found };
  }

  function chainRow({ seq, type, run_id, tool_call_id, line }: StoredRow): ChainRow {
    const columns = {
      type,
      run_id: run_id ?? undefined,
      tool_call_id: tool_call_id === null ? undefined : fromColumn(tool_call_id),
    };
    return { seq, line, columns, nodes: line.includes('"nodes":[') ? nodesOf(line) : NO_NODES };
  }

  function nodesOf(line: string): Map<string, string> {
    const texts = new Map<string, string>();
    for (const { node_id } of digestsOf(line)) {
      nodes += 1;
      const [found] = query(
        "SELECT text FROM nodes WHERE session_no = ? AND node_id = ?",
        no,
        node_id,
      ) as { text: string }[];
      if (found !== undefined) texts.set(node_id, found.text);
    }
    return texts;
  }

  /** In one query: who holds the session may have added some since the walk began, and moved the head. */
  function beyond(): ChainProblem | undefined {
    const [now] = query(
      `SELECT last_seq, (SELECT max(place) - ? FROM facts WHERE place > ? AND place < ?) AS there
       FROM sessions WHERE session_no = ?`,
      base,
      base,
      base + 2 ** 32,
      no,
    ) as { last_seq: number; there: number | null }[];
    if (now === undefined || (now.there ?? 0) <= now.last_seq) return undefined;
    const message = `The journal goes on to fact ${now.there}, after its head, which is fact ${now.last_seq}: facts were added by somebody else, or the head was changed.`;
    return { seq: now.last_seq + 1, kind: "head", message };
  }

  /** Nodes that no fact speaks of were put there by somebody else. */
  function additions(): ChainProblem | undefined {
    const [count] = query(
      "SELECT count(*) AS there FROM nodes WHERE session_no = ? AND seq <= ?",
      no,
      last_seq,
    ) as { there: number }[];
    if (count?.there === nodes) return undefined;
    const message = `The conversation has ${count?.there} nodes, and the facts speak of ${nodes}.`;
    return { seq: last_seq, kind: "node_edited", message };
  }

  async function artifactProblem(): Promise<ChainProblem | undefined> {
    if (options.artifacts !== true) return undefined;
    const rows = query("SELECT record FROM artifacts WHERE session_no = ?", no) as {
      record: string;
    }[];
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
    const [fact] = query(
      `SELECT place - ? AS seq FROM facts WHERE place > ? AND place <= ?
         AND type = 'artifact.created' AND instr(line, ?) > 0 LIMIT 1`,
      base,
      base,
      base + last_seq,
      JSON.stringify(artifact_id),
    ) as { seq: number }[];
    return fact?.seq ?? last_seq;
  }
}

const NO_NODES: ReadonlyMap<string, string> = new Map();

/** None of a line that is not JSON: the check says what is wrong with that. */
function digestsOf(line: string): NonNullable<Fact["nodes"]> {
  try {
    const { nodes } = JSON.parse(line) as Partial<Fact>;
    return Array.isArray(nodes) ? (nodes as NonNullable<Fact["nodes"]>) : [];
  } catch {
    return [];
  }
}

async function hashFile(path: string): Promise<string | undefined> {
  const hash = createHash("sha256");
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  } catch {
    return undefined;
  }
  return hash.digest("hex");
}
