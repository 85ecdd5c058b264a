// Writes the events of one fact after the other: ids, time and count are the same for all types.

import type { Fact, FactType } from "@soong/core";
import { EventSequence } from "../projection/event-sequence.ts";
import { invocationId } from "../projection/invocation-id.ts";
import { isTimestamp } from "../projection/timestamp.ts";
import {
  UNAVAILABLE,
  type AgentRuntimeEvent,
  type AgentRuntimeEventType,
  type AgentRuntimeProfile,
  type EventDetails,
} from "./event.ts";
import { OpenWork } from "./open-work.ts";
import { readText, type Unchecked } from "../projection/read-fields.ts";

/** How the events of a fact type are made. */
export type MapFact<T extends FactType> = (
  data: Unchecked<T>,
  events: EventWriter,
  fact: Fact,
) => void;

export type FactMappers = { readonly [T in FactType]?: MapFact<T> };

/** Of the events: the newest version of the public core, and the version that the Lime profile requires. */
export const SCHEMA_VERSIONS = { core: "0.4.0", lime: "lime-profile-0.4.0" } as const;

/** Where no fact had a time. */
export const NO_TIME = "1970-01-01T00:00:00.000Z";

export class EventWriter {
  readonly open = new OpenWork();
  sessionId: string | undefined = undefined;
  threadId: string | undefined = undefined;
  turnId: string | undefined = undefined;
  toolCallId: string | undefined = undefined;
  readonly #isLime: boolean;
  readonly #schemaVersion: string;
  readonly #runtimeId: string;
  readonly #sequence = new EventSequence();
  #timestamp = NO_TIME;
  #factId = "";
  #seq = 0;
  #events: AgentRuntimeEvent[] = [];

  constructor(profile: AgentRuntimeProfile, runtimeId: string) {
    this.#isLime = profile === "lime";
    this.#schemaVersion = SCHEMA_VERSIONS[profile];
    this.#runtimeId = runtimeId;
  }

  begin(fact: Fact): void {
    const { id, seq, time } = fact;
    this.#events = [];
    this.#seq = Number.isSafeInteger(seq) ? seq : 0;
    this.#sequence.begin(seq);
    this.#factId = readText(id) ?? `f${this.#seq}`;
    if (isTimestamp(time)) this.#timestamp = time;
    this.sessionId = readText(fact.session_id);
    this.threadId = readText(fact.agent_id);
    this.turnId = readText(fact.run_id);
    this.toolCallId = invocationId(fact);
  }

  take(): readonly AgentRuntimeEvent[] {
    return this.#events;
  }

  /** Answers with the id of the event. What `details` leaves open are the ids of the fact. */
  add(type: AgentRuntimeEventType, details: EventDetails): string {
    const eventId = this.#createId(type);
    const { toolCallId = this.toolCallId } = details;
    const event = {
      type,
      eventId,
      timestamp: this.#timestamp,
      schemaVersion: this.#schemaVersion,
      runtimeId: this.#runtimeId,
      sequence: this.#sequence.take(),
      sessionId: this.sessionId,
      threadId: details.threadId ?? this.threadId,
      turnId: details.turnId ?? this.turnId,
      runId: details.runId ?? this.turnId,
      stepId: details.stepId ?? toolCallId,
      toolCallId,
      taskId: details.taskId,
      parentTaskId: details.parentTaskId,
      rootTaskId: details.rootTaskId,
      attemptId: details.attemptId,
      actionId: details.actionId,
      subagentId: details.subagentId,
      artifactId: details.artifactId,
      modelRequestId: details.modelRequestId,
      outputRef: details.outputRef,
      status: details.status,
      nativeStatus: details.nativeStatus,
      statusReason: details.statusReason,
      phase: details.phase,
      permissionDecision: details.permissionDecision,
      sandboxProfile: details.sandboxProfile,
      hookRun: details.hookRun,
      routingDecision: details.routingDecision,
      candidateModelSet: details.candidateModelSet,
      costState: details.costState,
      limitEvent: details.limitEvent,
      task: details.task,
      taskAttempt: details.taskAttempt,
      worker: details.worker,
      output: details.output,
      historyBoundary: details.historyBoundary,
      refs: details.refs,
      payload: details.payload ?? {},
    };
    if (this.#isLime) fillRequiredIds(event);
    this.#events.push(event);
    return eventId;
  }

  /** In place of an event that an earlier fact has had. */
  skip(): void {
    this.#sequence.skip();
  }

  /** Where the journal has this part of the fact, such as `/data/result`. */
  refersTo(pointer: string): string {
    return `journal:${this.sessionId ?? UNAVAILABLE}/${this.#seq}#${pointer}`;
  }

  /** An id that no other fact has. */
  createId(name: string): string {
    return `${this.sessionId ?? UNAVAILABLE}/${this.#factId}/${name}`;
  }

  /** The id outside its run of another call of this run. */
  siblingCallId(value: unknown): string | undefined {
    const id = readText(value);
    return id === undefined || this.turnId === undefined ? id : `${this.turnId}/${id}`;
  }

  #createId(type: string): string {
    const id = this.createId(type);
    let others = 0;
    for (const event of this.#events) if (event.type === type) others += 1;
    return others === 0 ? id : `${id}/${others + 1}`;
  }
}

type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] };

/** Families whose events the Lime profile wants in a turn of a thread. */
const IN_A_TURN: ReadonlySet<string> = new Set([
  "turn",
  "model",
  "reasoning",
  "tool",
  "action",
  "permission",
  "sandbox",
  "hook",
  "context",
  "routing",
  "cost",
  "rate_limit",
  "quota",
]);

/** A missing id is said to be missing: it is never guessed. */
function fillRequiredIds(event: Mutable<AgentRuntimeEvent>): void {
  const family = event.type.slice(0, event.type.indexOf("."));
  event.sessionId ??= UNAVAILABLE;
  if (family === "thread") event.threadId ??= UNAVAILABLE;
  if (IN_A_TURN.has(family)) {
    event.threadId ??= UNAVAILABLE;
    event.turnId ??= UNAVAILABLE;
  }
  if (family === "tool") {
    event.stepId ??= UNAVAILABLE;
    event.toolCallId ??= event.type === "tool.catalog.resolved" ? event.stepId : UNAVAILABLE;
  } else if (family === "action") {
    event.actionId ??= UNAVAILABLE;
  } else if (family === "task") {
    event.taskId ??= UNAVAILABLE;
    if (event.type.startsWith("task.attempt.")) event.runId ??= UNAVAILABLE;
  } else if (family === "subagent") {
    event.subagentId ??= UNAVAILABLE;
  }
}
