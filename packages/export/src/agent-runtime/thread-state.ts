// The parts of a thread, as they are kept and as a snapshot has them.

import type { AgentRuntimeEvent } from "./event.ts";
import { readRecord, readText } from "../projection/read-fields.ts";

export type ThreadStatus =
  | "idle"
  | "queued"
  | "running"
  | "blocked"
  | "completed"
  | "failed"
  | "cancelled"
  | "unknown";

export interface ThreadSnapshot {
  readonly threadId: string;
  readonly status: ThreadStatus;
  readonly activeTurnId?: string | undefined;
  readonly turns: readonly TurnSnapshot[];
  /** Requests that wait for an answer. */
  readonly pendingRequests: readonly object[];
  readonly queuedTurns: readonly object[];
  readonly incidents: readonly Incident[];
  readonly actions: readonly object[];
  readonly toolCalls: readonly object[];
  readonly permissionState: object;
  readonly sandboxState: object;
  readonly modelRouting: object;
  readonly limitState: object;
  readonly costState: object;
  readonly subagents: readonly object[];
  readonly outputs: readonly object[];
  readonly history: object;
  readonly evidenceSummary: object;
}

export interface TurnSnapshot {
  readonly turnId: string;
  readonly status: string;
  readonly runId: string;
  readonly taskId?: string | undefined;
  readonly statusReason?: string | undefined;
  readonly startedAt?: string | undefined;
  readonly completedAt?: string | undefined;
  readonly routingDecision?: object | undefined;
  readonly costState?: object | undefined;
}

export interface Incident {
  readonly type: string;
  readonly eventId: string;
  readonly turnId?: string | undefined;
  readonly toolCallId?: string | undefined;
  readonly message?: string | undefined;
  readonly at: string;
}

export type TurnState = { -readonly [Key in keyof TurnSnapshot]: TurnSnapshot[Key] };

export interface CallState {
  readonly toolCallId: string;
  readonly toolName: string | undefined;
  readonly turnId: string | undefined;
  readonly requestedAt: string;
  status: string;
  nativeStatus: string | undefined;
  decision: string | undefined;
  decisionSource: string | undefined;
  preview: string | undefined;
  artifactIds: readonly string[] | undefined;
  startedAt: string | undefined;
  endedAt: string | undefined;
}

export interface ActionState {
  readonly actionId: string;
  readonly actionType: string | undefined;
  readonly turnId: string | undefined;
  readonly toolCallId: string | undefined;
  readonly toolName: string | undefined;
  readonly prompt: string | undefined;
  readonly requestedAt: string;
  status: string;
  decision: string | undefined;
  resolvedAt: string | undefined;
}

export interface SubagentState {
  readonly subagentId: string;
  readonly turnId: string | undefined;
  readonly childTurnId: string | undefined;
  readonly role: string | undefined;
  readonly spawnedAt: string;
  status: string;
  statusReason: string | undefined;
  endedAt: string | undefined;
}

const INCIDENTS: ReadonlySet<string> = new Set([
  "runtime.warning",
  "runtime.error",
  "model.failed",
  "sandbox.violation",
  "hook.failed",
  "context.compaction.failed",
  "turn.failed",
]);

/** Of calls only those that failed: a denied or cancelled one did what it should. */
export function isIncident({ type, status }: AgentRuntimeEvent): boolean {
  const isFailedCall = type === "tool.failed" && status !== "blocked" && status !== "cancelled";
  return isFailedCall || INCIDENTS.has(type);
}

export function createIncident(event: AgentRuntimeEvent): Incident {
  const { type, eventId, turnId, toolCallId, statusReason, payload, timestamp: at } = event;
  const message = statusReason ?? readText(readRecord(payload)["message"]);
  return { type, eventId, turnId, toolCallId, message, at };
}

export function createTurn(turnId: string): TurnState {
  return {
    turnId,
    status: "unknown",
    runId: turnId,
    taskId: undefined,
    statusReason: undefined,
    startedAt: undefined,
    completedAt: undefined,
    routingDecision: undefined,
    costState: undefined,
  };
}

export function createCall(
  { turnId, payload, timestamp }: AgentRuntimeEvent,
  toolCallId: string,
): CallState {
  return {
    toolCallId,
    toolName: readText(readRecord(payload)["toolName"]),
    turnId,
    requestedAt: timestamp,
    status: "unknown",
    nativeStatus: undefined,
    decision: undefined,
    decisionSource: undefined,
    preview: undefined,
    artifactIds: undefined,
    startedAt: undefined,
    endedAt: undefined,
  };
}

export function createAction(event: AgentRuntimeEvent, actionId: string): ActionState {
  const { actionType, toolName, prompt } = readRecord(event.payload);
  return {
    actionId,
    actionType: readText(actionType),
    turnId: event.turnId,
    toolCallId: event.toolCallId,
    toolName: readText(toolName),
    prompt: readText(prompt),
    requestedAt: event.timestamp,
    status: "unknown",
    decision: undefined,
    resolvedAt: undefined,
  };
}

export function createSubagent(event: AgentRuntimeEvent, subagentId: string): SubagentState {
  const { childTurnId, role } = readRecord(event.payload);
  return {
    subagentId,
    turnId: event.turnId,
    childTurnId: readText(childTurnId),
    role: readText(role),
    spawnedAt: event.timestamp,
    status: "unknown",
    statusReason: undefined,
    endedAt: undefined,
  };
}
