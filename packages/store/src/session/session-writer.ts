// The one writer of a session: checks an entry, links its facts into the chain, and keeps in memory what
// the next commit writes. Takes an entry whole or not at all.

import {
  type ArtifactRecord,
  type CommittedFacts,
  type ConversationNode,
  type Fact,
  type JournalEntry,
  isTerminalFact,
} from "@soong/core";
import { chainLine, hashLine, nodeDigest, nodeText } from "../chain/chain.ts";
import { StoreError, type AtCrashPoint } from "../contract/store-error.ts";

import { asColumn, isPlain } from "../sqlite/sqlite-error.ts";
import type { Committer, Pending } from "./committer.ts";
import { createDerivedRows } from "./derived-rows.ts";
import {
  parseOpenState,
  type FactRow,
  type NodeRow,
  type SessionRow,
  type WriteStatements,
} from "./rows.ts";
import type { SessionTables } from "./statements.ts";
import type { CommittedFact } from "../folder/line-file.ts";

export interface SessionWriter {
  append(entry: JournalEntry): void;
  /** As append, for what a crash left open: below its nodes there may be some that are committed. */
  recover(entry: JournalEntry): void;
  addArtifact(record: ArtifactRecord): void;
  findArtifact(artifact_id: string): ArtifactRecord | undefined;
  /** Gives up what is not committed; takes nothing more. */
  abandon(): void;
  /** Set when what it took can never be committed; from then on it takes nothing. */
  readonly refusal: StoreError | undefined;
  readonly committed: CommittedFacts;
  /** Taken, not committed yet; oldest first. */
  pendingFacts(): readonly CommittedFact[];
  readonly row: Readonly<SessionRow>;
}

export interface SessionWriterOptions {
  readonly row: SessionRow;
  readonly tables: SessionTables;
  readonly statements: WriteStatements;
  readonly committer: Committer;
  readonly onCommitted: (facts: readonly CommittedFact[]) => void;
  readonly at?: AtCrashPoint | undefined;
}

/** An entry as it will be written, before anything of it is taken. */
interface Prepared {
  readonly facts: readonly CommittedFact[];
  readonly nodes: readonly { node: ConversationNode; text: string }[];
  readonly head_hash: string;
  readonly bytes: number;
}

const MOST_OWN_NODES = 50_000;

export function createSessionWriter(options: SessionWriterOptions): SessionWriter {
  const { row, tables, statements, committer, at } = options;
  let isRecovering = false;
  const derived = createDerivedRows(
    tables,
    {
      has: hasNode,
      childOf: (node_id) => (isRecovering ? tables.childOf(node_id) : undefined),
    },
    parseOpenState(row),
  );

  /** Every node of a session that is new; of others, and of very long ones, the tables are asked. */
  let ownNodes = row.last_seq === 0 ? new Set<string>() : undefined;

  let facts: CommittedFact[] = [];
  let nodes = new Map<string, NodeRow>();
  let artifacts = new Map<string, ArtifactRecord>();
  let refusal: StoreError | undefined;
  let committedSeq = row.last_seq;
  const listeners = new Set<() => void>();
  /** Calls that may change something and have not ended. */
  const writes = new Set<string>();
  let mustSync = false;
  const pending: Pending = {
    get mustSync() {
      return mustSync;
    },
    write,
    committed,
    refused(error) {
      refusal = error;
      forget();
    },
  };

  return {
    row,
    append,
    recover(entry) {
      isRecovering = true;
      mustSync = true;
      append(entry);
      isRecovering = false;
    },
    addArtifact(record) {
      artifacts.set(record.artifact_id, record);
      row.bytes += record.size;
      committer.note(pending, 0);
    },
    findArtifact: (artifact_id) => artifacts.get(artifact_id) ?? tables.artifact(artifact_id),
    committed: {
      get seq() {
        return committedSeq;
      },
      subscribe(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    pendingFacts: () => facts,
    abandon() {
      committer.drop(pending);
      forget();
    },
    get refusal() {
      return refusal;
    },
  };

  // ── taking an entry ─────────────────────────────────────────────────────────────────────────────

  function append(entry: JournalEntry): void {
    if (refusal !== undefined) throw refusal;
    if (committer.failure !== undefined) committer.commit();
    const prepared = prepare(entry);
    for (const fact of prepared.facts) take(fact);
    const seq = row.last_seq;
    for (const { node, text } of prepared.nodes) {
      const { node_id, parent_id } = node;
      derived.takeNode(node);
      // What the user said is like an answer.
      mustSync ||= node.kind === "message" && node.data?.["role"] === "user";
      ownNodes?.add(node_id);
      nodes.set(node_id, { node_id, parent_id: parent_id ?? null, seq, text });
    }
    row.head_hash = prepared.head_hash;
    row.bytes += prepared.bytes;
    at?.("entry.taken");
    committer.note(pending, prepared.bytes);
  }

  function prepare(entry: JournalEntry): Prepared {
    const { facts: given, nodes: hung = [] } = entry;
    const last = given.at(-1);
    if (last === undefined) throw refuseEntry("an entry needs at least one fact");
    const textOf = new Map<string, string>();
    for (const node of hung) {
      for (const id of [node.node_id, node.agent_id, node.parent_id ?? ""]) checkId(id);
      if (textOf.has(node.node_id) || hasNode(node.node_id)) {
        throw refuseEntry(`node ${node.node_id} is there already`);
      }
      if (node.session_id !== row.session_id)
        throw refuseEntry(`node ${node.node_id} is of ${node.session_id}`);
      textOf.set(
        node.node_id,
        asText(() => nodeText(node), `node ${node.node_id}`),
      );
    }
    const digests = hung.map((node) => nodeDigest(node, textOf.get(node.node_id) as string));
    let { head_hash, last_seq: seq } = row;
    let bytes = 0;
    const prepared: CommittedFact[] = [];
    const newRuns = new Set<string>();
    for (const fact of given) {
      seq += 1;
      check(fact, seq, newRuns);
      const line = asText(
        () => chainLine(fact, head_hash, fact === last ? digests : []),
        `fact ${seq}`,
      );
      head_hash = hashLine(line);
      bytes += Buffer.byteLength(line);
      prepared.push({ fact, line });
    }
    const texts = hung.map((node) => ({ node, text: textOf.get(node.node_id) as string }));
    for (const { text } of texts) bytes += Buffer.byteLength(text);
    return { facts: prepared, nodes: texts, head_hash, bytes };
  }

  function check(fact: Fact, seq: number, newRuns: Set<string>): void {
    if (fact.seq !== seq) throw refuseEntry(`fact ${fact.seq} came where fact ${seq} is next`);
    if (fact.session_id !== row.session_id)
      throw refuseEntry(`fact ${seq} is of ${fact.session_id}`);
    for (const id of [fact.run_id, fact.agent_id, fact.parent_run_id, fact.parent_agent_id]) {
      if (id !== undefined) checkId(id);
    }
    if (fact.type === "context.rewound") checkRewind(fact);
    const { run_id } = fact;
    if (run_id === undefined || newRuns.has(run_id) || derived.runOf(run_id) !== undefined) return;
    const owner = tables.ownerOfRun(run_id);
    if (owner !== undefined) {
      throw new StoreError("run_exists", `Run ${run_id} is one of session ${owner} already.`);
    }
    newRuns.add(run_id);
  }

  function checkId(id: string): void {
    if (!isPlain(id))
      throw refuseEntry(`an id holds NUL or half a character: ${JSON.stringify(id)}`);
  }

  function checkRewind(fact: Fact<"context.rewound">): void {
    const { agent_id, node_id } = fact.data;
    const isKnown = typeof agent_id === "string" && typeof node_id === "string" && hasNode(node_id);
    if (!isKnown) throw refuseEntry(`fact ${fact.seq} rewinds to a node that is not there`);
  }

  function refuseEntry(why: string): StoreError {
    return new StoreError("entry_refused", `The journal of session ${row.session_id}: ${why}.`);
  }

  function asText(make: () => string, what: string): string {
    try {
      return make();
    } catch (error) {
      throw refuseEntry(`${what} cannot be written as JSON (${(error as Error).message})`);
    }
  }

  function take(committedFact: CommittedFact): void {
    const { fact } = committedFact;
    facts.push(committedFact);
    row.last_seq = fact.seq;
    row.updated_at = fact.time;
    mustSync ||= !mayBeLost(fact, writes);
    derived.take(fact);
  }

  function hasNode(node_id: string): boolean {
    if (ownNodes !== undefined && ownNodes.size > MOST_OWN_NODES) ownNodes = undefined;
    return ownNodes?.has(node_id) ?? (nodes.has(node_id) || tables.has(node_id));
  }

  // ── committing ──────────────────────────────────────────────────────────────────────────────────

  function write(): void {
    const { session_no } = row;
    derived.write(statements, session_no);
    row.open_state = JSON.stringify(derived.openState());
    for (const fact of facts) statements.fact(session_no, factRow(fact));
    for (const node of nodes.values()) statements.node(session_no, node);
    for (const artifact of artifacts.values()) statements.artifact(session_no, artifact);
    statements.session(row);
  }

  function factRow({ fact, line }: CommittedFact): FactRow {
    const run = fact.run_id === undefined ? undefined : derived.runOf(fact.run_id);
    return {
      seq: fact.seq,
      type: fact.type,
      run_index: run?.run_index ?? null,
      tool_call_id: asColumn(fact.tool_call_id),
      line,
    };
  }

  function committed(): void {
    const lines = facts;
    forget();
    committedSeq = lines.at(-1)?.fact.seq ?? committedSeq;
    for (const listener of listeners) listener();
    options.onCommitted(lines);
  }

  function forget(): void {
    mustSync = false;
    facts = [];
    nodes = new Map();
    artifacts = new Map();
    derived.forget();
  }
}

/** Facts that nothing outside follows from. A type that is not here is synced. */
const READING: ReadonlySet<string> = new Set([
  "artifact.created",
  "context.resolved",
  "hook.completed",
  "hook.started",
  "input.mutated",
  "model.completed",
  "model.delta",
  "model.failed",
  "model.started",
  "output.redacted",
  "output.truncated",
  "permission.evaluated",
  "routing.decided",
  "routing.fallback",
  "tool.catalog.resolved",
  "tool.deferred.loaded",
  "tool.progress",
  "tool.queued",
  "tool.requested",
  "tool.validated",
  "tool.waiting",
  "tool.yielded",
]);

/** With the power (STORE-6). `writes`: the calls under way that may change something; it is kept up here. */
function mayBeLost(fact: Fact, writes: Set<string>): boolean {
  if (READING.has(fact.type)) return true;
  const call = `${fact.run_id} ${fact.tool_call_id}`;
  if (fact.type === "tool.started") {
    const { read_only, repeatable } = fact.data.effects ?? {};
    if (read_only === true && repeatable === true) return true;
    writes.add(call);
    return false;
  }
  return isTerminalFact(fact) && !writes.delete(call);
}
