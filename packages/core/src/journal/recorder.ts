// Turns what happened into facts: gives them seq, time and ids, appends them, wakes the readers.
// The only writer of a session's journal.

import { SoongError, messageOf } from "../tool/index.ts";
import type { ConversationNode, Fact, FactData, FactLevel, FactType } from "./fact.ts";
import type { Journal, JournalEntry } from "./journal.ts";
import {
  makeFact,
  NotedEntry,
  type FactCall,
  type FactOrigin,
  type FactRecord,
  type NotedTypes,
} from "./noted-entry.ts";
import type { Clock } from "./ports.ts";
import type { Redactor } from "./redact/redactor.ts";

type RecordFact = <T extends FactType>(
  type: T,
  data: FactData<T>,
  call?: FactCall,
  level?: FactLevel,
) => Fact<T>;

/** Everything recorded for one run, or (without origin) for the session itself. */
export interface Recorder {
  /** Redacts what it records: no text of a tool, a hook or a user gets past this (REDACT-1). */
  readonly record: RecordFact;
  /** For data that is our own words, or has been redacted where it was made. */
  readonly recordClean: RecordFact;
  /** A fact that is not appended yet, of clean data; hand it to `commit`. */
  readonly draft: RecordFact;
  /** Several facts and nodes as one entry: all of them or none. */
  commit(facts: readonly Fact[], nodes?: readonly ConversationNode[]): void;
  /**
   * One entry of facts that can be made of a record at any later time; `hasNodes`: and of its nodes. Clean data only.
   * Answers with the seq of the last one.
   */
  note(record: FactRecord, types: NotedTypes, level?: FactLevel, hasNodes?: boolean): number;
  /** One entry with a fact of each record. */
  noteEach(records: readonly FactRecord[], type: FactType): void;
  flush(): Promise<void>;
  /** Of the session, whichever run it is of. */
  readonly lastSeq: number;
}

export interface SessionRecorder extends Recorder {
  forRun(origin: Omit<FactOrigin, "session_id">, redactor: Redactor): Recorder;
  /** Calls back with each such fact as it is appended, until unsubscribed. */
  watch(wanted: WantedFacts, listener: AppendListener): () => void;
  /** Calls back after every append, and once more when the session closes, until unsubscribed. */
  subscribe(listener: () => void): () => void;
  close(): void;
  readonly closed: boolean;
}

export interface WantedFacts {
  readonly types: ReadonlySet<FactType>;
  /** Only facts of this run. */
  readonly run_id?: string;
}

/** The fact is made when it is asked for. */
type AppendListener = (fact: () => Fact, seq: number) => void;

/** The journal refused an entry; from then on nothing of this session may happen unrecorded. */
export class JournalFailure extends SoongError {
  override readonly name = "JournalFailure";

  constructor(cause: unknown) {
    super("journal_failed", `the journal could not be written: ${messageOf(cause)}`);
  }
}

export function createRecorder(
  sessionId: string,
  journal: Journal,
  clock: Clock,
  redactor: Redactor,
  lastSeq = 0,
): SessionRecorder {
  const log = new SessionLog(journal, clock, lastSeq);
  return new JournalRecorder(log, { session_id: sessionId }, redactor);
}

/** What the recorders of one session share: the count, the time, the journal and those who follow it. */
class SessionLog {
  readonly listeners = new Set<() => void>();
  readonly watchers = new Set<Watcher>();
  seq: number;
  closed = false;
  readonly clock: Clock;
  readonly #journal: Journal;
  #broken: JournalFailure | undefined = undefined;

  constructor(journal: Journal, clock: Clock, lastSeq: number) {
    this.seq = lastSeq;
    this.clock = clock;
    this.#journal = journal;
  }

  append(entry: JournalEntry): void {
    if (this.#broken !== undefined) throw this.#broken;
    try {
      this.#journal.append(entry);
    } catch (error) {
      this.#fail(error);
    }
    if (this.watchers.size > 0) this.#tellWatchers(entry);
    this.notify();
  }

  async flush(): Promise<void> {
    if (this.#broken !== undefined) throw this.#broken;
    try {
      await this.#journal.flush();
    } catch (error) {
      this.#fail(error);
    }
  }

  notify(): void {
    if (this.listeners.size > 0) for (const listener of this.listeners) listener();
  }

  #tellWatchers(entry: JournalEntry): void {
    for (const watcher of this.watchers) {
      // Most entries have nothing for most watchers, and are not looked into for them.
      if (entry instanceof NotedEntry && !entry.hasAny(watcher.wanted.types)) continue;
      tellWatcher(watcher, entry);
    }
  }

  #fail(error: unknown): never {
    this.#broken ??= new JournalFailure(error);
    throw this.#broken;
  }
}

interface Watcher {
  readonly wanted: WantedFacts;
  readonly listener: AppendListener;
}

function tellWatcher({ wanted, listener }: Watcher, entry: JournalEntry): void {
  const heads = entry instanceof NotedEntry ? entry.heads : entry.facts;
  heads.forEach(({ type, seq, run_id }, i) => {
    const isOfRun = wanted.run_id === undefined || wanted.run_id === run_id;
    if (isOfRun && wanted.types.has(type)) listener(() => entry.facts[i] as Fact, seq);
  });
}

class JournalRecorder implements SessionRecorder {
  readonly #log: SessionLog;
  readonly #origin: FactOrigin;
  readonly #redactor: Redactor;
  /** Undefined for what is of no run. */
  #runSeq: number | undefined;

  constructor(log: SessionLog, origin: FactOrigin, redactor: Redactor) {
    this.#log = log;
    this.#origin = origin;
    this.#redactor = redactor;
    this.#runSeq = origin.run_id === undefined ? undefined : 0;
  }

  get lastSeq(): number {
    return this.#log.seq;
  }

  get closed(): boolean {
    return this.#log.closed;
  }

  forRun(origin: Omit<FactOrigin, "session_id">, redactor: Redactor): Recorder {
    const { session_id } = this.#origin;
    const { run_id, agent_id, parent_run_id, parent_agent_id } = origin;
    const own = { session_id, run_id, agent_id, parent_run_id, parent_agent_id };
    return new JournalRecorder(this.#log, own, redactor);
  }

  record: RecordFact = (type, data, call, level) =>
    this.recordClean(type, this.#redactor.value(data), call, level);

  recordClean: RecordFact = (type, data, call, level) => {
    const fact = this.draft(type, data, call, level);
    this.commit([fact as Fact]);
    return fact;
  };

  draft: RecordFact = (type, data, call, level) => {
    const ms = this.#log.clock.now();
    const seq = (this.#log.seq += 1);
    const runSeq = this.#runSeq === undefined ? undefined : (this.#runSeq += 1);
    return makeFact(type, data, this.#origin, seq, runSeq, ms, level ?? "info", call);
  };

  note(record: FactRecord, types: NotedTypes, level: FactLevel = "info", hasNodes = false): number {
    this.#note(record, types, typeof types === "string" ? 1 : types.length, level, hasNodes);
    return this.#log.seq;
  }

  noteEach(records: readonly FactRecord[], type: FactType): void {
    this.#note(records, type, records.length, "info", false);
  }

  #note(
    about: FactRecord | readonly FactRecord[],
    types: NotedTypes,
    count: number,
    level: FactLevel,
    hasNodes: boolean,
  ): void {
    const log = this.#log;
    const seq = log.seq + 1;
    const runSeq = this.#runSeq === undefined ? undefined : this.#runSeq + 1;
    const ms = log.clock.now();
    log.seq += count;
    if (this.#runSeq !== undefined) this.#runSeq += count;
    log.append(new NotedEntry(about, types, this.#origin, seq, runSeq, ms, level, hasNodes));
  }

  commit(facts: readonly Fact[], nodes?: readonly ConversationNode[]): void {
    this.#log.append(nodes === undefined ? { facts } : { facts, nodes });
  }

  flush(): Promise<void> {
    return this.#log.flush();
  }

  watch(wanted: WantedFacts, listener: AppendListener): () => void {
    const watcher = { wanted, listener };
    this.#log.watchers.add(watcher);
    return () => this.#log.watchers.delete(watcher);
  }

  subscribe(listener: () => void): () => void {
    this.#log.listeners.add(listener);
    return () => this.#log.listeners.delete(listener);
  }

  close(): void {
    this.#log.closed = true;
    this.#log.notify();
  }
}
