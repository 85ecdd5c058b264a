// The facts of a session from the first to the last, each held against the chain, and what follows from them.

import type { ConversationNode, Fact } from "@soong/core";
import { createChainCheck, type ChainCheck } from "../chain/chain.ts";
import type { ChainProblem } from "../contract/store.ts";
import { createRowsOfFacts, type RowsOfFacts } from "../session/derived-rows.ts";
import { factPlace, type NodeRow } from "../session/rows.ts";
import type { SessionPlace } from "../session/session-reader.ts";
import { fromColumn } from "../sql/columns.ts";
import { listed, sql, type Steps } from "../sql/sql.ts";

export interface FactWalk {
  readonly check: ChainCheck;
  readonly rows: RowsOfFacts;
  /** How many nodes the facts name. */
  readonly nodes: number;
  /** In facts and nodes, in bytes. */
  readonly bytes: number;
  /** Facts that are filed under something else than their text says. */
  readonly misfiledFacts: readonly MisfiledFact[];
  /** Nodes that hang elsewhere than their text says, as they have to be. */
  readonly misplacedNodes: readonly Omit<NodeRow, "text">[];
  /** Takes the next page of facts, up to `lastSeq`. */
  next(lastSeq: number): Steps<"more" | "done" | ChainProblem>;
}

export interface MisfiledFact {
  readonly seq: number;
  readonly column: string;
  readonly fact: Fact;
}

interface StoredFact {
  seq: number;
  type: string;
  run_id: string | null;
  tool_call_id: string | null;
  line: string;
}

const PAGE = 1000;

/** `taken`: called after each fact that was in order. */
export function walkFacts(place: SessionPlace, taken: () => void = () => {}): FactWalk {
  const { session_no: no } = place;
  const check = createChainCheck();
  const rows = createRowsOfFacts();
  const misfiledFacts: MisfiledFact[] = [];
  const misplacedNodes: Omit<NodeRow, "text">[] = [];
  let after = 0;
  let nodes = 0;
  let bytes = 0;

  return {
    check,
    rows,
    misfiledFacts,
    misplacedNodes,
    get nodes() {
      return nodes;
    },
    get bytes() {
      return bytes;
    },
    *next(lastSeq) {
      const page =
        yield* sql<StoredFact>`SELECT place - ${factPlace(no, 0)} AS seq, type, run_id, tool_call_id, line
        FROM facts
           LEFT JOIN runs ON runs.session_no = ${no} AND runs.run_index = facts.run_index
         WHERE place > ${factPlace(no, after)} AND place <= ${factPlace(no, lastSeq)} ORDER BY place LIMIT ${PAGE}`;
      const facts = page.map(({ line }) => factIn(line));
      const found = yield* readNodes(facts);
      for (const [index, stored] of page.entries()) {
        const problem = take(stored, facts[index], found);
        if (problem !== undefined) return problem;
        after = stored.seq;
      }
      return page.length < PAGE ? "done" : "more";
    },
  };

  function take(
    stored: StoredFact,
    fact: Fact | undefined,
    found: ReadonlyMap<string, NodeRow>,
  ): ChainProblem | undefined {
    const { seq, type, line } = stored;
    const own = (fact?.nodes ?? []).flatMap(({ node_id }) => found.get(node_id) ?? []);
    const texts = new Map(own.map(({ node_id, text }) => [node_id, text]));
    const problem = check.next({ seq, line, type, nodes: texts });
    if (problem !== undefined || fact === undefined) return problem;
    if (fact.session_id !== place.session_id) return ofAnotherSession(fact);
    nodes += fact.nodes?.length ?? 0;
    bytes += Buffer.byteLength(line);
    for (const { text } of own) bytes += Buffer.byteLength(text);
    const column = COLUMNS.find((name) => readColumns(stored)[name] !== fact[name]);
    if (column !== undefined) misfiledFacts.push({ seq, column, fact });
    rows.take(
      fact,
      own.map((node) => checkPlace(node, seq)),
    );
    taken();
    return undefined;
  }

  /** Those that the facts of a page name, at once. */
  function* readNodes(facts: readonly (Fact | undefined)[]): Steps<Map<string, NodeRow>> {
    const ids = facts.flatMap((fact) => (fact?.nodes ?? []).map(({ node_id }) => node_id));
    if (ids.length === 0) return new Map();
    const found =
      yield* sql<NodeRow>`SELECT node_id, parent_id, seq, text FROM ${listed(ids.map(String))}
      JOIN nodes ON session_no = ${no} AND node_id = value`;
    return new Map(found.map((node) => [node.node_id, node]));
  }

  /** Its text is as it was recorded: its digest is part of the chain. */
  function checkPlace(
    { node_id, parent_id, seq, text }: NodeRow,
    factSeq: number,
  ): ConversationNode {
    const node = JSON.parse(text) as ConversationNode;
    const parent = node.parent_id ?? null;
    if (parent_id !== parent || seq !== factSeq) {
      misplacedNodes.push({ node_id, parent_id: parent, seq: factSeq });
    }
    return node;
  }
}

/** Its id is part of the chain, so it is the name of the session that was changed. */
function ofAnotherSession({ seq, session_id }: Fact): ChainProblem {
  const message = `Fact ${seq} is of session ${session_id}: the session was given another name.`;
  return { seq, kind: "head", message };
}

const COLUMNS = ["type", "run_id", "tool_call_id"] as const;

function readColumns({ type, run_id, tool_call_id }: StoredFact) {
  return {
    type,
    run_id: run_id ?? undefined,
    tool_call_id: tool_call_id === null ? undefined : fromColumn(tool_call_id),
  };
}

/** Undefined for a line that is not JSON: the check says what is wrong with that. */
function factIn(line: string): Fact | undefined {
  try {
    const fact = JSON.parse(line) as Partial<Fact> | null;
    return Array.isArray(fact?.nodes ?? []) ? (fact as Fact) : undefined;
  } catch {
    return undefined;
  }
}
