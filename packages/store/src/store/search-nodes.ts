// Plain text in the conversations of all sessions, newest first. There is no index of words: a page looks at a bounded number
// of nodes, so that the caller can stop, and nothing waits long for it.

import { isTerminalFact, joinText, viewsOf, type ConversationNode, type Fact } from "@soong/core";
import type { FoundNode, NodeSearch, NodeSearchPage } from "../contract/store.ts";
import { asCount } from "../session/session-reader.ts";
import { PLACES_SQL } from "../session/rows.ts";
import { readObject } from "../sql/columns.ts";
import { BYTEWISE, POSITION_IN, sql, sqlRow, type Steps } from "../sql/sql.ts";

const LIMIT = 100;
const MOST_LOOKED_AT = 2000;

interface CandidateRow {
  readonly position: number;
  readonly session_id: string;
  readonly seq: number;
  readonly text: string;
  /** Of the fact that the node came with. */
  readonly line: string;
}

export function* searchNodes(text: string, page: NodeSearchPage = {}): Steps<NodeSearch> {
  const { before = Number.MAX_SAFE_INTEGER } = page;
  const limit = Math.max(1, asCount(page.limit ?? LIMIT));
  const most = Math.max(1, asCount(page.most ?? MOST_LOOKED_AT));
  const wanted = toLowerAscii(text);
  const last = yield* lastLookedAt(before, most);
  if (last === undefined) return { found: [] };
  // As it is within JSON. What a result is searched by is in its fact, and more than its node has.
  const written = JSON.stringify(wanted).slice(1, -1);
  const rows =
    yield* sql<CandidateRow>`SELECT nodes.rowid AS position, session_id, seq, text, line FROM nodes
      JOIN sessions USING (session_no) JOIN facts ON place = session_no * ${PLACES_SQL} + seq
      WHERE nodes.rowid < ${before} AND nodes.rowid >= ${last.position}
        AND (${POSITION_IN}(lower(text), ${written}) > 0
          OR (tool_call_id IS NOT NULL AND ${POSITION_IN}(lower(line ${BYTEWISE}), ${written}) > 0))
      ORDER BY nodes.rowid DESC LIMIT ${limit}`;
  const found = rows.flatMap((row): FoundNode[] => {
    const candidate = readCandidate(row);
    if (candidate === undefined) return [];
    const at = toLowerAscii(candidate.text).indexOf(wanted);
    return at === -1 ? [] : [{ ...candidate, at }];
  });
  const end = rows.length < limit ? undefined : rows.at(-1);
  const searched_to = end === undefined ? last.time : readTime(end);
  if (end !== undefined) return { found, searched_to, next: end.position };
  return last.isOldest ? { found, searched_to } : { found, searched_to, next: last.position };

  /** Of a record that is not as this version writes it, nothing is found; others are. */
  function readCandidate({ session_id, ...row }: CandidateRow): Omit<FoundNode, "at"> | undefined {
    const [node, fact] = [readObject(row.text), readObject(row.line)] as unknown as [
      ConversationNode | undefined,
      Fact | undefined,
    ];
    if (node === undefined || fact === undefined) return undefined;
    const { time } = fact;
    const isOfCall = isTerminalFact(fact) && fact.tool_call_id === node.tool_call_id;
    const result = isOfCall && node.kind === "tool_result" ? fact.data.result : undefined;
    const text = readText(() =>
      result === undefined ? joinText(node.content) : viewsOf(result).search,
    );
    return { session_id, node, time, tool_name: result?.tool_name, text };
  }
}

function readText(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}

interface Place {
  readonly position: number;
  /** Null where the fact is gone: someone has been at the database, and `verify` says so. */
  readonly line: string | null;
}

/** The last of so many nodes before that position, or the oldest there is. */
function* lastLookedAt(
  before: number,
  most: number,
): Steps<{ position: number; time?: string; isOldest: boolean } | undefined> {
  const oldest = yield* sqlRow<Place>`SELECT position, line FROM (
      SELECT rowid AS position, session_no, seq FROM nodes WHERE rowid < ${before}
      ORDER BY rowid LIMIT 1
    ) AS looked_at LEFT JOIN facts ON place = session_no * ${PLACES_SQL} + seq`;
  const last = yield* sqlRow<Place>`SELECT position, line FROM (
      SELECT rowid AS position, session_no, seq FROM nodes WHERE rowid < ${before}
      ORDER BY rowid DESC LIMIT 1 OFFSET ${most - 1}
    ) AS looked_at LEFT JOIN facts ON place = session_no * ${PLACES_SQL} + seq`;
  const place = last ?? oldest;
  if (place === undefined) return undefined;
  const { position } = place;
  return { position, time: readTime(place), isOldest: position === oldest?.position };
}

function readTime({ line }: Pick<Place, "line">): string | undefined {
  return (readObject(line) as Partial<Fact> | undefined)?.time;
}

/** As both databases compare: only A to Z have two cases. */
function toLowerAscii(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}
