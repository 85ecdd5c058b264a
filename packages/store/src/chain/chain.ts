// The text a fact is kept as, its hash, and the digests that bind nodes to the fact they came with. What is
// hashed is the text itself, so that nothing has to be made again, byte for byte, to check it.

import { hash } from "node:crypto";
import type { ConversationNode, Fact, NodeDigest } from "@soong/core";
import type { ChainProblem } from "../contract/store.ts";

/** What the first fact of a session has in place of a hash. */
export const FIRST_PREV_HASH = "0".repeat(64);

/** The fact's own fields, then `nodes` if there are any, then `prev_hash`. Throws on data that is not JSON. */
export function chainLine(fact: Fact, prev_hash: string, nodes: readonly NodeDigest[]): string {
  const digests = nodes.length === 0 ? "" : `,"nodes":${JSON.stringify(nodes)}`;
  return `${ownText(fact).slice(0, -1)}${digests},"prev_hash":"${prev_hash}"}`;
}

/** SHA-256 of its UTF-8, in hex. */
export function hashLine(line: string): string {
  return hash("sha256", line);
}

export function nodeText(node: ConversationNode): string {
  return JSON.stringify(node);
}

/** `text`: as `nodeText` gave it and the store keeps it. */
export function nodeDigest({ node_id }: ConversationNode, text: string): NodeDigest {
  return { node_id, sha256: hashLine(text) };
}

/** A fact that was read from a chain has the links of that one; a copy without them costs, so only then. */
function ownText(fact: Fact): string {
  if (fact.prev_hash === undefined && fact.nodes === undefined) return JSON.stringify(fact);
  const { prev_hash: _hash, nodes: _nodes, ...own } = fact;
  return JSON.stringify(own);
}

// Finds the first fact of a session that was edited, removed or reordered (EVENT-6). Takes the rows of a
// store one by one, in its order, and remembers only the one before: a session may have a million.
//
// What the evidence allows: a fact's text is vouched for by the `prev_hash` of the next, that of the last by
// the head. Where these two disagree, the earlier one is named, though it may be the link that was touched:
// so no fact before the named one was. Who can compute all hashes again, and the head, is found only by a head
// kept elsewhere.

export interface ChainRow {
  readonly seq: number;
  readonly line: string;
  /** What the store files it under, for a line that cannot be read. */
  readonly type: string;
  /** The stored text of the nodes whose digests the line has, by node_id. */
  readonly nodes: ReadonlyMap<string, string>;
}

export interface ChainHead {
  readonly last_seq: number;
  readonly head_hash: string;
}

export interface ChainCheck {
  /** The next row. After the first problem there is nothing more to be learned from it. */
  next(row: ChainRow): ChainProblem | undefined;
  /** There are no more rows. */
  end(head: ChainHead): ChainProblem | undefined;
  /** How many facts were in order. */
  readonly facts: number;
  /** Of the last fact that was in order. */
  readonly hash: string;
}

/** What a message says of a fact. */
interface Named {
  readonly seq: number;
  readonly type: string;
  readonly time: string;
}

/** A line as far as the check reads it. */
interface Line extends Named {
  readonly id: unknown;
  readonly prev_hash: string;
  readonly nodes: readonly NodeDigest[];
}

export function createChainCheck(): ChainCheck {
  let last: Named | undefined;
  let facts = 0;
  let hash = FIRST_PREV_HASH;

  return {
    next(row) {
      const line = readLine(row.line);
      const problem =
        outOfOrder(row, line) ?? (line === undefined ? unreadable(row) : untrue(row, line));
      if (problem !== undefined) return problem;
      last = line;
      facts += 1;
      hash = hashLine(row.line);
      return undefined;
    },
    end,
    get facts() {
      return facts;
    },
    get hash() {
      return hash;
    },
  };

  function outOfOrder(row: ChainRow, line: Line | undefined): ChainProblem | undefined {
    const expected = (last?.seq ?? 0) + 1;
    if (row.seq > expected) return missing(expected, row, line);
    if (row.seq === expected) return undefined;
    return toProblem("reordered", nameRow(row, line), `comes after fact ${expected - 1}`);
  }

  function untrue(row: ChainRow, line: Line): ChainProblem | undefined {
    if (line.seq !== row.seq) return describeMisplaced(row, line);
    if (line.prev_hash !== hash) return describeBrokenLink(line);
    return nodeProblem(row, line);
  }

  function missing(from: number, row: ChainRow, line: Line | undefined): ChainProblem {
    const next = describeFact(nameRow(row, line));
    const before =
      last === undefined ? "the journal begins with" : `after ${describeFact(last)} comes`;
    return {
      seq: from,
      kind: "removed",
      message: `${absent(from, row.seq - 1)}: ${before} ${next}.`,
    };
  }

  function describeBrokenLink(line: Line): ChainProblem {
    if (last === undefined) {
      return toProblem("edited", line, "was changed: it is the first and links to one before it");
    }
    return toProblem(
      "edited",
      last,
      `was changed, or the link to it was: fact ${line.seq} carries another hash of it`,
    );
  }

  function end({ last_seq, head_hash }: ChainHead): ChainProblem | undefined {
    const here = last === undefined ? "there is no fact" : `the last one is ${describeFact(last)}`;
    const at = last?.seq ?? 0;
    if (last_seq > at) {
      const message = `${absent(at + 1, last_seq)} at the end of the journal: ${here}.`;
      return { seq: at + 1, kind: "removed", message };
    }
    if (last_seq < at) {
      const message = `The journal continues after its head, which is fact ${last_seq}: ${here}. Facts were added by someone else, or the head was changed.`;
      return { seq: last_seq + 1, kind: "head", message };
    }
    if (head_hash === hash) return undefined;
    if (last === undefined) {
      const message = "The journal is empty, and its head is the hash of a fact.";
      return { seq: 0, kind: "head", message };
    }
    return toProblem(
      "edited",
      last,
      "is not the one the head of the journal was taken of: it was changed, or the head was, or everything was written again",
    );
  }
}

/** Undefined when it cannot be what was recorded, even if the hashes match. */
function readLine(text: string): Line | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { id, seq, type, time, prev_hash, nodes = [] } = value as Partial<Line>;
  const isFact =
    typeof seq === "number" &&
    typeof type === "string" &&
    typeof time === "string" &&
    typeof prev_hash === "string" &&
    /^[0-9a-f]{64}$/.test(prev_hash) &&
    Array.isArray(nodes) &&
    nodes.every(isDigest);
  return isFact ? { id, seq, type, time, prev_hash, nodes } : undefined;
}

function isDigest(value: unknown): value is NodeDigest {
  const { node_id, sha256 } = (value ?? {}) as Partial<NodeDigest>;
  return typeof node_id === "string" && typeof sha256 === "string";
}

function unreadable(row: ChainRow): ChainProblem {
  return toProblem("edited", nameRow(row), "was changed: what is kept of it is not a fact");
}

/** Its text says it is another fact: one that was moved, unless its id says it was not. */
function describeMisplaced(row: ChainRow, line: Line): ChainProblem {
  const here = { ...line, seq: row.seq };
  return line.id === `f${row.seq}`
    ? toProblem("edited", here, `was changed: it says it is fact ${line.seq}`)
    : toProblem("reordered", here, `is not in its place: the fact there is ${line.seq}`);
}

function nodeProblem(row: ChainRow, line: Line): ChainProblem | undefined {
  for (const { node_id, sha256 } of line.nodes) {
    const text = row.nodes.get(node_id);
    if (text === undefined) {
      return toProblem(
        "node_removed",
        line,
        `came with the node ${showShort(node_id)}, which is missing`,
      );
    }
    if (hashLine(text) !== sha256) {
      return toProblem(
        "node_edited",
        line,
        `came with the node ${showShort(node_id)}, which was changed`,
      );
    }
  }
  return undefined;
}

/** As its line says now or, where that cannot be read, as far as the store knows. */
function nameRow({ seq, type }: ChainRow, line?: Line): Named {
  return { seq, type: line?.type ?? type, time: line?.time ?? "at an unknown time" };
}

function absent(from: number, to: number): string {
  return from === to ? `Fact ${from} is missing` : `Facts ${from} to ${to} are missing`;
}

/** Someone else may have written these: they are shown to the user, at a length and in one line. */
function describeFact({ seq, type, time }: Named): string {
  return `fact ${seq} (${showShort(type)}, ${showShort(time)})`;
}

function showShort(text: string): string {
  return text.slice(0, 100).replaceAll(/\p{C}/gu, "\u{FFFD}");
}

function toProblem(kind: ChainProblem["kind"], about: Named, what: string): ChainProblem {
  return { seq: about.seq, kind, message: `F${describeFact(about).slice(1)} ${what}.` };
}
