// The tasks of a session as they stand, with their attempts.

import type { AgentRuntimeEvent } from "./event.ts";
import { UNAVAILABLE } from "./event.ts";
import { readRecord, readText } from "../projection/read-fields.ts";
import { Recent } from "./recent.ts";

export interface TaskSnapshot {
  readonly taskId: string;
  readonly parentTaskId?: string | undefined;
  readonly rootTaskId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly threadId?: string | undefined;
  readonly turnId?: string | undefined;
  readonly title?: string | undefined;
  readonly status: string;
  readonly statusReason?: string | undefined;
  readonly currentRunId?: string | undefined;
  readonly attempts: readonly AttemptSnapshot[];
  readonly relationships: readonly { readonly kind: string; readonly targetId: string }[];
  readonly artifacts: readonly { readonly artifactId: string }[];
  readonly createdAt?: string | undefined;
  readonly updatedAt?: string | undefined;
  readonly startedAt?: string | undefined;
  readonly endedAt?: string | undefined;
}

export interface AttemptSnapshot {
  readonly runId: string;
  readonly attemptId: string | undefined;
  readonly status: string;
  readonly startedAt?: string | undefined;
  readonly endedAt?: string | undefined;
}

type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] };

interface TaskState extends Mutable<Omit<TaskSnapshot, "attempts" | "artifacts">> {
  readonly attempts: Map<string, Mutable<AttemptSnapshot>>;
  artifactIds: readonly string[];
}

/** Attempts of a task that are kept. */
const MOST_ATTEMPTS = 10;

const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);

export class TaskModel {
  readonly #tasks: Recent<TaskState>;

  constructor(recent: number) {
    this.#tasks = new Recent(recent);
  }

  take(event: AgentRuntimeEvent): void {
    const { taskId, type, timestamp } = event;
    if (taskId === undefined || !type.startsWith("task.")) return;
    const task = this.#tasks.find(taskId) ?? this.#tasks.open(taskId, createTask(event, taskId));
    task.updatedAt = timestamp;
    if (type.startsWith("task.attempt.")) return takeAttempt(task, event);
    task.title = readText(readRecord(event.task)["title"]) ?? task.title;
    task.artifactIds = event.refs?.artifactIds ?? task.artifactIds;
    const { status } = event;
    if (status === undefined) return;
    task.status = status;
    task.statusReason = event.statusReason;
    if (status === "running") task.startedAt ??= timestamp;
    if (ENDED.has(status)) {
      task.endedAt = timestamp;
      this.#tasks.end(taskId);
    } else if (task.endedAt !== undefined) {
      task.endedAt = undefined;
      this.#tasks.open(taskId, task);
    }
  }

  list(): TaskSnapshot[] {
    return this.#tasks.list().map(({ attempts, artifactIds, ...task }) => ({
      attempts: Array.from(attempts.values(), (attempt) => ({ ...attempt })),
      artifacts: artifactIds.map((artifactId) => ({ artifactId })),
      ...task,
    }));
  }

  get omitted(): number {
    return this.#tasks.omitted;
  }
}

function createTask(event: AgentRuntimeEvent, taskId: string): TaskState {
  const { parentTaskId, rootTaskId, sessionId, threadId, turnId, timestamp } = event;
  return {
    taskId,
    parentTaskId,
    rootTaskId,
    sessionId,
    threadId,
    turnId,
    title: undefined,
    status: "unknown",
    statusReason: undefined,
    currentRunId: undefined,
    attempts: new Map(),
    relationships: parentTaskId === undefined ? [] : [{ kind: "parent", targetId: parentTaskId }],
    artifactIds: [],
    createdAt: timestamp,
    updatedAt: timestamp,
    startedAt: undefined,
    endedAt: undefined,
  };
}

function takeAttempt(task: TaskState, event: AgentRuntimeEvent): void {
  const { attempts } = task;
  const { type, attemptId = "", timestamp, runId = UNAVAILABLE } = event;
  if (type === "task.attempt.started") {
    attempts.set(attemptId, { runId, attemptId, status: "running", startedAt: timestamp });
    task.currentRunId = runId;
    const [oldest] = attempts.keys();
    if (attempts.size > MOST_ATTEMPTS && oldest !== undefined) attempts.delete(oldest);
    return;
  }
  const { status = "unknown" } = event;
  // Whether a lost worker is at work is not known.
  const ended = {
    status: status === "lost" ? "unknown" : status,
    endedAt: timestamp,
  };
  const attempt = attempts.get(attemptId);
  attempts.set(attemptId, { runId, attemptId, ...attempt, ...ended });
  if (task.currentRunId === runId) task.currentRunId = undefined;
}
