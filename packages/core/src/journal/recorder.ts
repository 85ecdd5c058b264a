// Turns what happened into facts: gives them seq, time and ids, appends them, wakes the readers.
// The only writer of a session's journal.

import { SoongError, messageOf } from "../tool/index.ts";
import type { Fact, FactData, FactLevel, FactType } from "./fact.ts";
import type { Journal } from "./journal.ts";
import type { ConversationNode } from "./node.ts";
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

/** Everything recorded for one run, or (without origin) for the session itself. */
export interface Recorder {
  /** Redacts what it records: no text of a tool, a hook or a person gets past this (REDACT-1). */
  record<T extends FactType>(
    type: T,
    data: FactData<T>,
    call?: FactCall,
    level?: FactLevel,
  ): Fact<T>;
  /** For data that is our own words, or has been redacted where it was made. */
  recordClean<T extends FactType>(
    type: T,
    data: FactData<T>,
    call?: FactCall,
    level?: FactLevel,
  ): Fact<T>;
  /** Several facts and nodes as one entry: all of them or none. */
  commit(facts: readonly Fact[], nodes?: readonly ConversationNode[]): void;
  /** A fact that is not appended yet, of clean data; hand it to `commit`. */
  draft<T extends FactType>(
    type: T,
    data: FactData<T>,
    call?: FactCall,
    level?: FactLevel,
  ): Fact<T>;
  flush(): void | Promise<void>;
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
  let seq = lastSeq;
  let broken: JournalFailure | undefined;
  let closed = false;
  const listeners = new Set<() => void>();
  let timeMs = Number.NaN;
  let timeText = "";

  return {
    ...recorderFor({}, redactor),
    forRun: recorderFor,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      closed = true;
      for (const listener of listeners) listener();
    },
    get closed() {
      return closed;
    },
    get lastSeq() {
      return seq;
    },
  };

  function recorderFor(origin: FactOrigin, redacts: Redactor): Recorder {
    const { run_id, agent_id, parent_run_id, parent_agent_id } = origin;
    let runSeq = 0;
    return {
      record,
      recordClean,
      commit,
      draft,
      flush,
      get lastSeq() {
        return seq;
      },
    };

    function draft<T extends FactType>(
      type: T,
      data: FactData<T>,
      call?: FactCall,
      level?: FactLevel,
    ): Fact<T> {
      seq += 1;
      const fact = {
        // Short, because there are many: unique within the session, as seq is.
        id: `f${seq}`,
        seq,
        run_seq: run_id === undefined ? undefined : (runSeq += 1),
        type,
        time: now(),
        level: level ?? "info",
        session_id: sessionId,
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

    function record<T extends FactType>(
      type: T,
      data: FactData<T>,
      call?: FactCall,
      level?: FactLevel,
    ): Fact<T> {
      return recordClean(type, redacts.value(data), call, level);
    }

    function recordClean<T extends FactType>(
      type: T,
      data: FactData<T>,
      call?: FactCall,
      level?: FactLevel,
    ): Fact<T> {
      const fact = draft(type, data, call, level);
      commit([fact as Fact]);
      return fact;
    }
  }

  function commit(facts: readonly Fact[], nodes?: readonly ConversationNode[]): void {
    if (broken !== undefined) throw broken;
    try {
      journal.append(nodes === undefined ? { facts } : { facts, nodes });
    } catch (error) {
      fail(error);
    }
    if (listeners.size > 0) for (const listener of listeners) listener();
  }

  function flush(): void | Promise<void> {
    if (broken !== undefined) throw broken;
    try {
      return journal.flush()?.catch(fail);
    } catch (error) {
      return fail(error);
    }
  }

  function fail(error: unknown): never {
    broken ??= new JournalFailure(error);
    throw broken;
  }

  /** Many facts share a millisecond; making the text is most of the cost of a fact. */
  function now(): string {
    const ms = clock.now();
    if (ms !== timeMs) {
      timeMs = ms;
      timeText = new Date(ms).toISOString();
    }
    return timeText;
  }
}
