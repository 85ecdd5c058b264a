// The one writer of a session: checks an entry, links its facts into the chain, and keeps in memory what
// the next commit writes. Takes an entry whole or not at all.

import {
  type ArtifactRecord,
  type CommittedFacts,
  type ConversationNode,
  type Fact,
  type JournalEntry,
  type NodeDigest,
  type TextMeasures,
  isTerminalFact,
} from "@soong/core";
import { chainLine, hashLine, nodeDigest, nodeText } from "../chain/chain.ts";
import { StoreError, type AtCrashPoint } from "../contract/store-error.ts";

import { asColumn, isPlain } from "../sql/columns.ts";
import type { Committer, Pending } from "./committer.ts";
import { createDerivedRows, type DerivedChanges } from "./derived-rows.ts";
import {
  formatOpenState,
  parseOpenState,
  type FactRow,
  type NodeRow,
  type SessionRow,
} from "./rows.ts";
import type { SessionTables } from "./session-tables.ts";
import type { Batch } from "./write-rows.ts";
import type { CommittedFact } from "../folder/line-file.ts";

export interface SessionWriter {
  append(entry: JournalEntry): void;
  /** As append, for what a crash left open: below its nodes there may be some that are committed. */
  recover(entry: JournalEntry): void;
  addArtifact(record: ArtifactRecord): void;
  findArtifact(artifact_id: string): ArtifactRecord | undefined;
  /** One with that content, kept by whichever process. */
  findContent(content: TextMeasures): ArtifactRecord | undefined;
  /** Settles when all that it has taken is committed; nothing to wait for when it is. */
  flush(): void | Promise<void>;
  /** Gives up what is not committed; takes nothing more. */
  abandon(): void;
  /** Set when what it took can never be committed; from then on it takes nothing. */
  readonly refusal: StoreError | undefined;
  readonly committed: CommittedFacts;
  /** From here on facts are in memory: those not committed yet and, where someone follows, the last that were. */
  readonly firstHeld: number;
  /** Facts in memory after a seq, as they are or will be in the tables. */
  heldFacts(after: number, limit: number): Fact[];
  readonly row: Readonly<SessionRow>;
}

export interface SessionWriterOptions {
  readonly row: SessionRow;
  readonly tables: SessionTables;
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

/** What is on its way to the tables. */
interface InFlight {
  readonly facts: readonly CommittedFact[];
  readonly nodes: ReadonlyMap<string, NodeRow>;
  readonly artifacts: ReadonlyMap<string, ArtifactRecord>;
  readonly derived: DerivedChanges;
  readonly mustSync: boolean;
}

const MOST_OWN_NODES = 50_000;

/** Committed facts that stay in memory for those who follow: reading them back took 16 % of a turn of the loop. */
const MOST_RECENT = 256;
const MOST_RECENT_CHARS = 2 ** 20;

export function createSessionWriter(options: SessionWriterOptions): SessionWriter {
  const { row, tables, committer, at } = options;
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
  let recent: readonly CommittedFact[] = [];
  let nodes = new Map<string, NodeRow>();
  let artifacts = new Map<string, ArtifactRecord>();
  let inFlight: InFlight | undefined;
  let refusal: StoreError | undefined;
  let committedSeq = row.last_seq;
  /** As it is in the tables. */
  let before = { last_seq: row.last_seq, head_hash: row.head_hash };
  const listeners = new Set<() => void>();
  /** Calls that may change something and have not ended. */
  const writes = new Set<string>();
  let mustSync = false;
  const pending: Pending = {
    get mustSync() {
      return mustSync;
    },
    take,
    putBack,
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
    flush: () => committer.flush(pending),
    addArtifact(record) {
      artifacts.set(record.artifact_id, record);
      row.bytes += record.size;
      committer.note(pending, 0);
    },
    findArtifact: (artifact_id) =>
      artifacts.get(artifact_id) ??
      inFlight?.artifacts.get(artifact_id) ??
      tables.artifact(artifact_id),
    findContent: (content) => tables.artifactWith(content),
    committed: {
      get seq() {
        return committedSeq;
      },
      subscribe(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    get firstHeld() {
      return recent[0]?.fact.seq ?? committedSeq + 1;
    },
    heldFacts(after, limit) {
      return [...recent, ...(inFlight?.facts ?? []), ...facts]
        .filter(({ fact }) => fact.seq > after)
        .slice(0, limit)
        .map(({ line }) => JSON.parse(line) as Fact);
    },
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
    committer.refuseFailed();
    const prepared = prepare(entry);
    for (const fact of prepared.facts) takeFact(fact);
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
    const texts = hung.length === 0 ? NO_TEXTS : prepareNodes(hung);
    const digests = texts.map(({ node, text }) => nodeDigest(node, text));
    let { head_hash, last_seq: seq } = row;
    let bytes = 0;
    const prepared: CommittedFact[] = [];
    const newRuns = new Set<string>();
    for (const fact of given) {
      seq += 1;
      check(fact, seq, newRuns);
      const line = toLine(fact, head_hash, fact === last ? digests : NO_NODES);
      head_hash = hashLine(line);
      bytes += Buffer.byteLength(line);
      prepared.push({ fact, line });
    }
    for (const { text } of texts) bytes += Buffer.byteLength(text);
    return { facts: prepared, nodes: texts, head_hash, bytes };
  }

  function prepareNodes(hung: readonly ConversationNode[]): Prepared["nodes"] {
    const seen = new Set<string>();
    return hung.map((node) => {
      const { node_id, agent_id, parent_id, session_id } = node;
      checkId(node_id);
      checkId(agent_id);
      if (parent_id !== undefined) checkId(parent_id);
      if (seen.has(node_id) || hasNode(node_id)) {
        throw refuseEntry(`node ${node_id} is there already`);
      }
      if (session_id !== row.session_id) throw refuseEntry(`node ${node_id} is of ${session_id}`);
      seen.add(node_id);
      try {
        return { node, text: nodeText(node) };
      } catch (error) {
        throw notJson(`node ${node_id}`, error);
      }
    });
  }

  function check(fact: Fact, seq: number, newRuns: Set<string>): void {
    if (fact.seq !== seq) throw refuseEntry(`fact ${fact.seq} came where fact ${seq} is next`);
    if (fact.session_id !== row.session_id)
      throw refuseEntry(`fact ${seq} is of ${fact.session_id}`);
    const { run_id, agent_id, parent_run_id, parent_agent_id } = fact;
    if (run_id !== undefined) checkId(run_id);
    if (agent_id !== undefined) checkId(agent_id);
    if (parent_run_id !== undefined) checkId(parent_run_id);
    if (parent_agent_id !== undefined) checkId(parent_agent_id);
    if (fact.type === "context.rewound") checkRewind(fact);
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

  function toLine(fact: Fact, prev_hash: string, digests: readonly NodeDigest[]): string {
    try {
      return chainLine(fact, prev_hash, digests);
    } catch (error) {
      throw notJson(`fact ${fact.seq}`, error);
    }
  }

  function notJson(what: string, error: unknown): StoreError {
    return refuseEntry(`${what} cannot be written as JSON (${(error as Error).message})`);
  }

  function takeFact(held: CommittedFact): void {
    const { fact } = held;
    facts.push(held);
    row.last_seq = fact.seq;
    row.updated_at = fact.time;
    mustSync ||= !mayBeLost(fact, writes);
    derived.take(fact);
  }

  function hasNode(node_id: string): boolean {
    if (ownNodes !== undefined && ownNodes.size > MOST_OWN_NODES) ownNodes = undefined;
    if (ownNodes !== undefined) return ownNodes.has(node_id);
    return nodes.has(node_id) || inFlight?.nodes.has(node_id) === true || tables.has(node_id);
  }

  // ── committing ──────────────────────────────────────────────────────────────────────────────────

  /** From now until it is committed or put back, nothing else is on its way. */
  function take(): Batch {
    const changes = derived.takeChanges();
    row.open_state = formatOpenState(derived.openState());
    inFlight = { facts, nodes, artifacts, derived: changes, mustSync };
    startAnew();
    const { session_no, session_id, updated_at, last_seq, head_hash, bytes, open_state } = row;
    return {
      session: { session_no, session_id, updated_at, last_seq, head_hash, bytes, open_state },
      before,
      mustSync: inFlight.mustSync,
      facts: inFlight.facts.map(factRow),
      nodes: [...inFlight.nodes.values()],
      runs: changes.runs,
      agents: changes.agents,
      calls: changes.calls,
      artifacts: [...inFlight.artifacts.values()],
    };
  }

  function putBack(): void {
    if (inFlight === undefined) return;
    facts = [...inFlight.facts, ...facts];
    nodes = new Map([...inFlight.nodes, ...nodes]);
    artifacts = new Map([...inFlight.artifacts, ...artifacts]);
    mustSync ||= inFlight.mustSync;
    derived.putBack(inFlight.derived);
    inFlight = undefined;
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

  function committed(batch: Batch): void {
    if (inFlight === undefined) return;
    tables.committed?.(batch);
    const { session } = batch;
    const { facts: lines, derived: changes } = inFlight;
    recent = listeners.size === 0 ? [] : takeLast([...recent, ...lines]);
    derived.forget(changes);
    inFlight = undefined;
    before = { last_seq: session.last_seq, head_hash: session.head_hash };
    committedSeq = lines.at(-1)?.fact.seq ?? committedSeq;
    for (const listener of listeners) listener();
    options.onCommitted(lines);
  }

  function forget(): void {
    putBack();
    startAnew();
    derived.forget(derived.takeChanges());
  }

  function startAnew(): void {
    mustSync = false;
    facts = [];
    nodes = new Map();
    artifacts = new Map();
  }
}

const NO_NODES: readonly NodeDigest[] = [];
const NO_TEXTS: Prepared["nodes"] = [];

function takeLast(facts: readonly CommittedFact[]): readonly CommittedFact[] {
  let from = Math.max(0, facts.length - MOST_RECENT);
  let chars = 0;
  for (const { line } of facts.slice(from)) chars += line.length;
  for (; chars > MOST_RECENT_CHARS; from += 1) chars -= facts[from]?.line.length ?? chars;
  return facts.slice(from);
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
