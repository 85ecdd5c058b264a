// The read model of Agent Runtime: what is going on in a session, folded from the same events that are exported.

import type { Fact } from "@soong/core";
import {
  createAgentRuntimeProjection,
  type AgentRuntimeOptions,
} from "./agent-runtime-projection.ts";
import { UNAVAILABLE, type AgentRuntimeEvent } from "./event.ts";
import { NO_TIME, SCHEMA_VERSIONS } from "./event-writer.ts";
import { readRecord } from "../projection/read-fields.ts";
import { Recent } from "./recent.ts";
import { TaskModel, type TaskSnapshot } from "./task-model.ts";
import { ThreadModel } from "./thread-model.ts";
import { createIncident, isIncident, type Incident, type ThreadSnapshot } from "./thread-state.ts";

export interface AgentRuntimeSnapshotOptions extends AgentRuntimeOptions {
  /** How many turns, calls and so on that have ended each thread keeps. Default: 200. */
  readonly recent?: number;
}

export interface AgentRuntimeSnapshot {
  readonly schemaVersion: string;
  readonly runtimeId: string;
  readonly sessionId: string;
  readonly updatedAt: string;
  readonly threads: readonly ThreadSnapshot[];
  readonly tasks: readonly TaskSnapshot[];
  readonly blockedTasks: readonly object[];
  readonly taskSummary: object;
  readonly permissionState: object;
  readonly routingLimitSummary: object;
  readonly subagentJobSummary: object;
  readonly telemetrySummary: object;
  readonly historySummary: object;
  /** Of the session, and of no thread. */
  readonly incidents: readonly Incident[];
  readonly evidenceRefs: readonly string[];
}

export interface AgentRuntimeReadModel {
  /** Takes the facts of one session in the order of `seq`. */
  push(fact: Fact): void;
  /** The state as of now. Later facts do not change it. */
  snapshot(): AgentRuntimeSnapshot;
}

/** The snapshot of Agent Runtime 0.4, built from facts. */
export function createAgentRuntimeSnapshot({
  profile = "core",
  runtimeId = "",
  recent = 200,
}: AgentRuntimeSnapshotOptions = {}): AgentRuntimeReadModel {
  // The core leaves out what is missing; the Lime profile only adds that it is.
  const projection = createAgentRuntimeProjection({ runtimeId });
  const threads = new Recent<ThreadModel>(recent);
  const tasks = new TaskModel(recent);
  const incidents = new Recent<Incident>(recent);
  let sessionId: string | undefined;
  let updatedAt = NO_TIME;
  let candidates: object | undefined;

  return {
    push(fact) {
      for (const event of projection.push(fact)) takeEvent(event);
    },
    snapshot: () => {
      const models = threads.list();
      const isEmpty = models.length === 0 && profile === "lime";
      const listed = (isEmpty ? [new ThreadModel(UNAVAILABLE, recent)] : models).map((thread) =>
        thread.describe(),
      );
      return describeSession(listed, tasks);
    },
  };

  function takeEvent(event: AgentRuntimeEvent): void {
    sessionId ??= event.sessionId;
    updatedAt = event.timestamp;
    candidates = event.candidateModelSet ?? candidates;
    tasks.take(event);
    const { threadId, eventId } = event;
    if (threadId === undefined) {
      if (!isIncident(event)) return;
      incidents.open(eventId, createIncident(event));
      incidents.end(eventId);
      return;
    }
    const thread =
      threads.find(threadId) ?? threads.open(threadId, new ThreadModel(threadId, recent));
    thread.take(event);
    const { subagentId } = event;
    if (subagentId !== undefined && CHILD_ENDS.has(event.type)) threads.end(subagentId);
  }

  function describeSession(
    listed: readonly ThreadSnapshot[],
    { omitted }: TaskModel,
  ): AgentRuntimeSnapshot {
    const allTasks = tasks.list();
    const subagents = listed.flatMap((thread) => thread.subagents);
    const pending = listed.flatMap((thread) => thread.pendingRequests);
    const { candidateCount, singleCandidate } = readRecord(candidates);
    return {
      schemaVersion: SCHEMA_VERSIONS[profile],
      runtimeId: runtimeId === "" ? "soong" : runtimeId,
      sessionId: sessionId ?? UNAVAILABLE,
      updatedAt,
      threads: listed,
      tasks: allTasks,
      blockedTasks: allTasks
        .filter(({ status }) => status === "blocked")
        .map(({ taskId, statusReason }) => ({ taskId, statusReason })),
      taskSummary: { ...countByStatus(allTasks), omitted },
      permissionState: {
        status: pending.length === 0 ? "idle" : "waiting",
        pending: pending.length,
      },
      routingLimitSummary: {
        status: candidates === undefined ? "not_applicable" : "resolved",
        candidateCount,
        singleCandidate,
      },
      subagentJobSummary: { subagents: subagents.length, jobs: 0 },
      telemetrySummary: { traceIds: [], joinStatus: UNAVAILABLE },
      historySummary: { threads: listed.length, threadsOmitted: threads.omitted },
      incidents: incidents.list(),
      evidenceRefs: [],
    };
  }
}

/** The thread of a child ends with it. */
const CHILD_ENDS: ReadonlySet<string> = new Set([
  "subagent.completed",
  "subagent.failed",
  "subagent.closed",
]);

function countByStatus(tasks: readonly TaskSnapshot[]): object {
  const counts = { active: 0, completed: 0, failed: 0, cancelled: 0, blocked: 0 };
  for (const { status } of tasks) {
    if (Object.hasOwn(counts, status)) counts[status as keyof typeof counts] += 1;
    else counts.active += 1;
  }
  return counts;
}
