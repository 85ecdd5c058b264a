// The records of one fact while they are made: where it is in the journal, when it was, and what came of it.

import type { Fact } from "@soong/core";
import { EventSequence } from "../projection/event-sequence.ts";
import { isTimestamp } from "../projection/timestamp.ts";
import { readCount, readText } from "../projection/read-fields.ts";
import { SCHEMA_VERSION, type AgentToolRecord, type ToolEventType } from "./records.ts";

const NONE: readonly AgentToolRecord[] = [];
const EPOCH = "1970-01-01T00:00:00.000Z";

/** What an event is about. */
export interface EventSubject {
  /** The id of the record that the event is about. */
  readonly subject: string;
  readonly invocation_id?: string;
  readonly tool_id?: string;
}

export class RecordWriter {
  /** Of the fact; of the one before it where it has no valid one. */
  time = EPOCH;
  /** The id of the fact, as the records of the export refer to it. */
  factRef = "";
  #session = "";
  #source = "";
  readonly #sequence = new EventSequence();
  #records: AgentToolRecord[] = [];

  begin({ id, seq, time, session_id }: Fact): void {
    if (time !== this.time && isTimestamp(time)) this.time = time;
    const session = readText(session_id) ?? "unknown";
    if (session !== this.#session) {
      this.#session = session;
      this.#source = `/soong/sessions/${session}`;
    }
    this.#sequence.begin(seq);
    this.factRef = this.nameFact(readText(id) ?? `f${readCount(seq) ?? 0}`);
  }

  /** Fact ids are unique within a session only. */
  nameFact(id: string): string {
    return `${this.#session}/${id}`;
  }

  add(record: AgentToolRecord): void {
    this.#records.push(record);
  }

  addEvent(
    event_type: ToolEventType,
    { subject, invocation_id, tool_id }: EventSubject,
    data?: object,
  ): void {
    this.#records.push({
      record_type: "tool_event",
      schema_version: SCHEMA_VERSION,
      // One fact may declare many tools, or end many calls.
      event_id: `${this.factRef}/${event_type}/${subject}`,
      event_type,
      source: this.#source,
      subject,
      time: this.time,
      sequence: this.#sequence.take(),
      invocation_id,
      tool_id,
      data,
    });
  }

  /** In place of an event that an earlier fact has had. */
  skipEvent(): void {
    this.#sequence.skip();
  }

  take(): readonly AgentToolRecord[] {
    const records = this.#records;
    if (records.length === 0) return NONE;
    this.#records = [];
    return records;
  }
}
