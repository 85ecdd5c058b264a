// Tasks. A step of a task is a child task of it, and each claim of a step an attempt.

import type { EventDetails } from "./event.ts";
import type { EventWriter, FactMappers } from "./event-writer.ts";
import {
  readList,
  readNumber,
  readRecord,
  readText,
  readTexts,
  type Unchecked,
} from "../projection/read-fields.ts";

export const TASK_EVENTS = {
  "task.created"(data, events) {
    const title = readText(data.title);
    events.add("task.created", {
      ...createTaskIds(data.task_id),
      status: "accepted",
      task: { title, version: readNumber(data.version) },
      payload: { title, steps: readNumber(data.steps), ready: readNumber(data.ready) },
    });
  },
  "task.started"(data, events) {
    events.add("task.started", { ...createTaskIds(data.task_id), status: "running" });
  },
  "task.updated"(data, events) {
    const ids = createTaskIds(data.task_id);
    const operations = readList(data.operations);
    events.add("task.updated", {
      ...ids,
      task: { version: readNumber(data.version) },
      payload: {
        steps: readNumber(data.steps),
        operations,
        operationCount: readNumber(data.operations_in_all) ?? operations.length,
      },
    });
  },
  "task.blocked"(data, events) {
    const statusReason = readText(data.reason);
    events.add("task.blocked", { ...createTaskIds(data.task_id), status: "blocked", statusReason });
  },
  "task.unblocked"(data, events) {
    const statusReason = readText(data.reason);
    events.add("task.resumed", { ...createTaskIds(data.task_id), status: "running", statusReason });
  },
  "task.completed"(data, events) {
    events.add("task.completed", {
      ...createTaskIds(data.task_id),
      status: "completed",
      ...createArtifactRefs(data.artifacts),
      payload: { summary: readText(data.summary), counts: data.counts },
    });
  },
  "task.failed"(data, events) {
    stopTask(data, events, "failed");
  },
  "task.cancelled"(data, events) {
    stopTask(data, events, "cancelled");
  },

  "task.step.claimed"(data, events) {
    const ids = createTaskIds(data.task_id, data.step_id);
    const title = readText(data.title);
    const worker = describeHolder(data.claim);
    events.add("task.accepted", { ...ids, status: "accepted", worker, task: { title } });
    events.add("task.attempt.started", {
      ...ids,
      ...createAttempt(ids, data, "running"),
      payload: { title, leaseExpiresAt: readText(readRecord(data.claim)["lease_expires_at"]) },
    });
  },
  "task.step.dispatched"(data, events) {
    const name = readText(data.worker);
    events.add("task.progress", {
      ...createTaskIds(data.task_id, data.step_id),
      status: "preparing",
      phase: "dispatching",
      worker: { kind: "agent", name },
    });
  },
  "task.step.started"(data, events) {
    events.add("task.started", {
      ...createTaskIds(data.task_id, data.step_id),
      status: "running",
      worker: describeHolder(data.claim),
    });
  },
  "task.step.completed"(data, events) {
    const ids = createTaskIds(data.task_id, data.step_id);
    const refs = createArtifactRefs(data.artifacts);
    const payload = { summary: readText(data.summary), nowReady: readTexts(data.now_ready) };
    endAttempt(events, ids, data, "completed", undefined);
    events.add("task.completed", { ...ids, status: "completed", ...refs, payload });
  },
  "task.step.failed"(data, events) {
    const ids = createTaskIds(data.task_id, data.step_id);
    const statusReason = readText(data.reason);
    endAttempt(events, ids, data, "failed", statusReason);
    const attempts = { used: readNumber(data.attempt), most: readNumber(data.max_attempts) };
    const payload = { attempts };
    events.add("task.failed", { ...ids, status: "failed", statusReason, payload });
  },
  "task.step.blocked"(data, events) {
    const ids = createTaskIds(data.task_id, data.step_id);
    const statusReason = readText(data.reason);
    endAttempt(events, ids, data, "blocked", statusReason);
    events.add("task.blocked", { ...ids, status: "blocked", statusReason });
  },
  "task.step.cancelled"(data, events) {
    const ids = createTaskIds(data.task_id, data.step_id);
    const statusReason = readText(data.reason);
    endAttempt(events, ids, data, "cancelled", statusReason);
    events.add("task.cancelled", { ...ids, status: "cancelled", statusReason });
  },
  "task.step.unblocked"(data, events) {
    events.add("task.resumed", {
      ...createTaskIds(data.task_id, data.step_id),
      status: "queued",
      payload: { attempts: describeAttempts(data) },
    });
  },
  "task.step.retried"(data, events) {
    events.add("task.retrying", {
      ...createTaskIds(data.task_id, data.step_id),
      status: "retrying",
      payload: { attempts: describeAttempts(data) },
    });
  },
  "task.step.released"(data, events) {
    const ids = createTaskIds(data.task_id, data.step_id);
    endClaim(events, ids, data, "cancelled");
  },
  "task.step.lease_lost"(data, events) {
    const ids = createTaskIds(data.task_id, data.step_id);
    const statusReason = readText(data.reason);
    events.add("task.lost", {
      ...ids,
      status: "lost",
      statusReason,
      worker: describeHolder(data.claim),
    });
    endClaim(events, ids, data, "lost");
  },
  "task.step.not_released"(data, events) {
    const runId = readText(data.run_id);
    const payload = { code: "task_step_not_released", message: readText(data.message) };
    events.add("runtime.warning", { runId, payload });
  },
} satisfies FactMappers;

type TaskIds = Pick<EventDetails, "taskId" | "parentTaskId" | "rootTaskId">;

/** A step is the child task `<task>/<step>`. */
export function createTaskIds(task: unknown, step?: unknown): TaskIds {
  const rootTaskId = readText(task);
  const stepId = readText(step);
  if (rootTaskId === undefined || stepId === undefined) {
    return { taskId: rootTaskId, parentTaskId: undefined, rootTaskId };
  }
  return { taskId: `${rootTaskId}/${stepId}`, parentTaskId: rootTaskId, rootTaskId };
}

interface ClaimData {
  readonly claim?: unknown;
  readonly attempt?: unknown;
  readonly max_attempts?: unknown;
}

function createAttempt(
  { taskId = "" }: TaskIds,
  { claim, attempt, max_attempts }: ClaimData,
  status: string,
): EventDetails {
  const { run_id, claimed_at } = readRecord(claim);
  const runId = readText(run_id);
  const startedAt = readText(claimed_at);
  return {
    runId,
    // The number of an attempt is used again where it did not count.
    attemptId: `${taskId}/${startedAt ?? ""}/${runId ?? ""}`,
    status,
    worker: describeHolder(claim),
    taskAttempt: {
      status,
      attempt: readNumber(attempt),
      maxAttempts: readNumber(max_attempts),
      startedAt,
    },
  };
}

/** Only of a claim: without one, its end was recorded before. */
function endAttempt(
  events: EventWriter,
  ids: TaskIds,
  data: ClaimData,
  status: "completed" | "failed" | "blocked" | "cancelled" | "lost",
  statusReason: string | undefined,
): void {
  if (readText(readRecord(data.claim)["run_id"]) === undefined) return;
  const type = status === "completed" ? "task.attempt.completed" : "task.attempt.failed";
  events.add(type, { ...ids, ...createAttempt(ids, data, status), statusReason });
}

/** `task.step.failed` follows where it was the last attempt. */
function endClaim(
  events: EventWriter,
  ids: TaskIds,
  data: Unchecked<"task.step.released">,
  status: "cancelled" | "lost",
): void {
  const statusReason = readText(data.reason);
  endAttempt(events, ids, data, status, statusReason);
  if (data.status !== "ready") return;
  const payload = { counted: data.counted !== false };
  events.add("task.queued", { ...ids, status: "queued", statusReason, payload });
}

/** With the task, the claims of its steps end. */
function stopTask(
  data: Unchecked<"task.failed">,
  events: EventWriter,
  status: "failed" | "cancelled",
): void {
  const statusReason = readText(data.reason);
  for (const claim of readList(data.claims_ended)) {
    const ids = createTaskIds(data.task_id, readRecord(claim)["step_id"]);
    endAttempt(events, ids, { claim }, "cancelled", statusReason);
  }
  events.add(`task.${status}`, {
    ...createTaskIds(data.task_id),
    status,
    statusReason,
    payload: { stepsCancelled: readNumber(data.steps_cancelled) },
  });
}

function describeHolder(claim: unknown): object | undefined {
  const { worker, agent_id, run_id } = readRecord(claim);
  const runId = readText(run_id);
  if (runId === undefined) return undefined;
  return { kind: "agent", name: readText(worker), threadId: readText(agent_id), runId };
}

function describeAttempts(data: { readonly attempts?: unknown; readonly max_attempts?: unknown }) {
  return { used: readNumber(data.attempts), most: readNumber(data.max_attempts) };
}

function createArtifactRefs(artifacts: unknown): Pick<EventDetails, "refs"> {
  const artifactIds = readTexts(artifacts);
  return { refs: artifactIds.length === 0 ? undefined : { artifactIds } };
}
