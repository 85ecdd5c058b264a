// Turns what happened into facts: gives them seq, time and ids, appends them, wakes the readers.
// The only writer of a session's journal.

import { SoongError, messageOf } from "../tool/index.ts";
import type { ConversationNode, Fact, FactData, FactLevel, FactType } from "./fact.ts";
import type { Journal } from "./journal.ts";
import type { Clock } from "./ports.ts";
import type { Redactor } from "./redact/redactor.ts";

export interface FactOrigin {
  readonly run_id?: string;
  readonly agent_id?: string;
  readonly parent_run_id?: string;
  readonly parent_agent_id?: string;
}

export interface FactCall {
  readonly tool_call_id: string;
  readonly tool_name: string;
}

type RecordFact = <T extends FactType>(
  type: T,
  data: FactData<T>,
  call?: FactCall,
  level?: FactLevel,
) => Fact<T>;

/** Everything recorded for one run, or (without origin) for the session itself. */
export interface Recorder {
  /** Redacts what it records: no text of a tool, a hook or a person gets past this (REDACT-1). */
  readonly record: RecordFact;
  /** For data that is our own words, or has been redacted where it was made. */
  readonly recordClean: RecordFact;
  /** A fact that is not appended yet, of clean data; hand it to `commit`. */
  readonly draft: RecordFact;
  /** Several facts and nodes as one entry: all of them or none. */
  commit(facts: readonly Fact[], nodes?: readonly ConversationNode[]): void;
  flush(): Promise<void>;
  /** Of the session, whichever run it is of. */
  readonly lastSeq: number;
}

export interface SessionRecorder extends Recorder {
  forRun(origin: FactOrigin, redactor: Redactor): Recorder;
  /** Calls back after every append, and once more when the session closes, until unsubscribed. */
  subscribe(listener: () => void): () => void;
  close(): void;
  readonly closed: boolean;
}

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
  return new JournalRecorder(new SessionLog(sessionId, journal, clock, lastSeq), {}, redactor);
}

/** What the recorders of one session share: the count, the time, the journal and those who follow it. */
class SessionLog {
  readonly sessionId: string;
  readonly listeners = new Set<() => void>();
  seq: number;
  closed = false;
  readonly #journal: Journal;
  readonly #clock: Clock;
  #broken: JournalFailure | undefined = undefined;
  #timeMs = Number.NaN;
  #timeText = "";

  constructor(sessionId: string, journal: Journal, clock: Clock, lastSeq: number) {
    this.sessionId = sessionId;
    this.seq = lastSeq;
    this.#journal = journal;
    this.#clock = clock;
  }

  append(facts: readonly Fact[], nodes?: readonly ConversationNode[]): void {
    if (this.#broken !== undefined) throw this.#broken;
    try {
      this.#journal.append(nodes === undefined ? { facts } : { facts, nodes });
    } catch (error) {
      this.#fail(error);
    }
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

  /** Many facts share a millisecond; making the text is most of the cost of a fact. */
  time(): string {
    const ms = this.#clock.now();
    if (ms !== this.#timeMs) {
      this.#timeMs = ms;
      this.#timeText = new Date(ms).toISOString();
    }
    return this.#timeText;
  }

  #fail(error: unknown): never {
    this.#broken ??= new JournalFailure(error);
    throw this.#broken;
  }
}

class JournalRecorder implements SessionRecorder {
  readonly #log: SessionLog;
  readonly #origin: FactOrigin;
  readonly #redactor: Redactor;
  #runSeq = 0;

  constructor(log: SessionLog, origin: FactOrigin, redactor: Redactor) {
    this.#log = log;
    this.#origin = origin;
    this.#redactor = redactor;
  }

  get lastSeq(): number {
    return this.#log.seq;
  }

  get closed(): boolean {
    return this.#log.closed;
  }

  forRun(origin: FactOrigin, redactor: Redactor): Recorder {
    return new JournalRecorder(this.#log, origin, redactor);
  }

  record: RecordFact = (type, data, call, level) =>
    this.recordClean(type, this.#redactor.value(data), call, level);

  recordClean: RecordFact = (type, data, call, level) => {
    const fact = this.draft(type, data, call, level);
    this.#log.append([fact as Fact]);
    return fact;
  };

  draft: RecordFact = <T extends FactType>(
    type: T,
    data: FactData<T>,
    call?: FactCall,
    level?: FactLevel,
  ) => {
    const { run_id, agent_id, parent_run_id, parent_agent_id } = this.#origin;
    const seq = (this.#log.seq += 1);
    const fact = {
      // Short, because there are many: unique within the session, as seq is.
      id: `f${seq}`,
      seq,
      run_seq: run_id === undefined ? undefined : (this.#runSeq += 1),
      type,
      time: this.#log.time(),
      level: level ?? "info",
      session_id: this.#log.sessionId,
      run_id,
      agent_id,
      tool_call_id: call?.tool_call_id,
      tool_name: call?.tool_name,
      data,
    } as Fact<T>;
    if (parent_run_id !== undefined) fact.parent_run_id = parent_run_id;
    if (parent_agent_id !== undefined) fact.parent_agent_id = parent_agent_id;
    return fact;
  };

  commit(facts: readonly Fact[], nodes?: readonly ConversationNode[]): void {
    this.#log.append(facts, nodes);
  }

  flush(): Promise<void> {
    return this.#log.flush();
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
