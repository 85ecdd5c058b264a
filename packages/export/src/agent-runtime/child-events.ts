// Child agents: a subagent is a thread of its own, and its run a turn there.

import type { EventWriter, FactMappers } from "./event-writer.ts";
import {
  readList,
  readNumber,
  readRecord,
  readText,
  readTexts,
  type Unchecked,
} from "../projection/read-fields.ts";
import { describeUsage } from "./run-events.ts";
import { createTaskIds } from "./task-events.ts";

export const CHILD_EVENTS = {
  "agent.child.created"(data, events) {
    events.add("subagent.spawned", {
      subagentId: readText(data.child_agent_id),
      status: "running",
      ...createTaskIds(data.task_id, data.step_id),
      worker: describeWorker(data),
      payload: {
        childThreadId: readText(data.child_agent_id),
        childTurnId: readText(data.child_run_id),
        definitionId: readText(data.agent_definition_id),
        role: readText(data.role),
        mode: readText(data.mode),
        objective: readText(data.task),
        tools: readTexts(data.tools),
        models: readTexts(data.models),
        timeoutMs: readNumber(data.timeout_ms),
        inheritedNodes: readNumber(data.inherited_nodes),
      },
    });
  },
  "agent.child.completed"(data, events) {
    endChild(data, events, "subagent.completed", "completed");
  },
  "agent.child.failed"(data, events) {
    const isLate = data.status === "timed_out";
    endChild(data, events, "subagent.failed", isLate ? "timed_out" : "failed");
  },
  "agent.child.cancelled"(data, events) {
    endChild(data, events, "subagent.closed", "cancelled");
  },

  "worker.dispatched"(data, events) {
    const agent = readText(data.agent_id);
    events.add("task.delegated", {
      ...createTaskIds(data.task_id, data.step_id),
      runId: readText(data.run_id),
      subagentId: agent,
      worker: describeWorker(data),
      payload: { childThreadId: agent, childTurnId: readText(data.run_id) },
    });
  },
} satisfies FactMappers;

function endChild(
  data: Unchecked<"agent.child.completed">,
  events: EventWriter,
  type: "subagent.completed" | "subagent.failed" | "subagent.closed",
  status: string,
): void {
  const subagentId = readText(data.child_agent_id);
  const error = readRecord(data.error);
  const artifactIds = readTexts(data.artifacts);
  const message = readText(error["message"]);
  if (subagentId !== undefined) events.open.closeThread(subagentId);
  events.add(type, {
    subagentId,
    status,
    nativeStatus: readText(data.status),
    statusReason: message ?? (type === "subagent.completed" ? undefined : readText(data.reason)),
    ...createTaskIds(data.task_id, data.step_id),
    worker: describeWorker(data),
    costState: data.usage === undefined ? undefined : describeUsage(data.usage),
    refs: artifactIds.length === 0 ? undefined : { artifactIds },
    payload: {
      childThreadId: subagentId,
      childTurnId: readText(data.child_run_id),
      definitionId: readText(data.agent_definition_id),
      role: readText(data.role),
      summary: readText(data.summary),
      findings: readList(data.findings),
      reason: readText(data.reason),
      modelRequests: readNumber(data.turns),
      errorCode: readText(error["code"]),
    },
  });
}

/** Undefined for a child that is no worker. */
function describeWorker(data: {
  readonly pool?: unknown;
  readonly worker?: unknown;
}): object | undefined {
  const worker = readText(data.worker);
  return worker === undefined
    ? undefined
    : { kind: "agent", name: worker, pool: readText(data.pool) };
}
