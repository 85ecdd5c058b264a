// An entry whose facts are made when they are read: by a store, a live reader, a replay. Most are never read in memory, and
// a call's seven facts as objects were 2 kB that live as long as the journal.

import type { ConversationNode, Fact, FactData, FactLevel, FactType } from "./fact.ts";
import type { JournalEntry } from "./journal.ts";

export interface FactCall {
  readonly tool_call_id: string;
  readonly tool_name: string;
}

/**
 * What facts can be made of at any later time, as they were when they were noted: what a fact holds is set once,
 * before that fact is noted.
 */
export interface FactRecord extends Partial<FactCall> {
  factData(type: FactType): FactData;
  /** What is committed with its last fact. */
  readonly nodes?: readonly ConversationNode[] | undefined;
}

/** Of one fact, or of several of one record that are one entry. */
export type NotedTypes = FactType | readonly FactType[];

export interface FactOrigin {
  readonly session_id: string;
  readonly run_id?: string;
  readonly agent_id?: string;
  readonly parent_run_id?: string;
  readonly parent_agent_id?: string;
}

/** Facts of one record, in the order of their types; or of many records, all of one type. */
export class NotedEntry implements JournalEntry {
  /** Of the first fact. */
  readonly #seq: number;
  readonly #types: NotedTypes;
  readonly #about: FactRecord | readonly FactRecord[];
  readonly #origin: FactOrigin;
  readonly #runSeq: number | undefined;
  readonly #ms: number;
  readonly #level: FactLevel;
  readonly #hasNodes: boolean;

  constructor(
    about: FactRecord | readonly FactRecord[],
    types: NotedTypes,
    origin: FactOrigin,
    seq: number,
    runSeq: number | undefined,
    ms: number,
    level: FactLevel,
    hasNodes: boolean,
  ) {
    this.#about = about;
    this.#types = types;
    this.#origin = origin;
    this.#seq = seq;
    this.#runSeq = runSeq;
    this.#ms = ms;
    this.#level = level;
    this.#hasNodes = hasNodes;
  }

  /** Made anew each time: a caller that needs the same ones again keeps them. */
  get facts(): readonly Fact[] {
    return this.#each((type, i, record) => {
      const run_seq = this.#runSeq === undefined ? undefined : this.#runSeq + i;
      const [seq, data] = [this.#seq + i, record.factData(type)];
      return makeFact(type, data, this.#origin, seq, run_seq, this.#ms, this.#level, record);
    });
  }

  hasAny(types: ReadonlySet<FactType>): boolean {
    const own = this.#types;
    return typeof own === "string" ? types.has(own) : own.some((type) => types.has(type));
  }

  /** What is known of the facts without making them. */
  get heads(): readonly Pick<Fact, "type" | "seq" | "run_id">[] {
    const { run_id } = this.#origin;
    return this.#each((type, i) => ({ type, seq: this.#seq + i, run_id }));
  }

  get nodes(): readonly ConversationNode[] | undefined {
    return this.#hasNodes ? (this.#about as FactRecord).nodes : undefined;
  }

  /** As an entry of plain facts: a journal may write it whole. */
  toJSON(): JournalEntry {
    const { facts, nodes } = this;
    return { facts, nodes };
  }

  #each<T>(make: (type: FactType, i: number, record: FactRecord) => T): T[] {
    const about = this.#about;
    const types = this.#types;
    if (typeof types !== "string")
      return types.map((type, i) => make(type, i, about as FactRecord));
    return isList(about)
      ? about.map((record, i) => make(types, i, record))
      : [make(types, 0, about)];
  }
}

function isList(about: FactRecord | readonly FactRecord[]): about is readonly FactRecord[] {
  return Array.isArray(about);
}

export function makeFact<T extends FactType>(
  type: T,
  data: FactData<T>,
  origin: FactOrigin,
  seq: number,
  run_seq: number | undefined,
  ms: number,
  level: FactLevel,
  call: Partial<FactCall> | undefined,
): Fact<T> {
  const { session_id, run_id, agent_id, parent_run_id, parent_agent_id } = origin;
  const fact = {
    id: factId(seq),
    seq,
    run_seq,
    type,
    time: timeText(ms),
    level,
    session_id,
    run_id,
    agent_id,
    tool_call_id: call?.tool_call_id,
    tool_name: call?.tool_name,
    data,
  } as Fact<T>;
  if (parent_run_id !== undefined) fact.parent_run_id = parent_run_id;
  if (parent_agent_id !== undefined) fact.parent_agent_id = parent_agent_id;
  return fact;
}

let lastMs = Number.NaN;
let lastText = "";

/** Many facts share a millisecond; making the text is most of the cost of a fact. */
function timeText(ms: number): string {
  if (ms !== lastMs) {
    lastText = new Date(ms).toISOString();
    lastMs = ms;
  }
  return lastText;
}

/** Short, because there are many: unique within the session, as seq is. */
export function factId(seq: number): string {
  return `f${seq}`;
}
