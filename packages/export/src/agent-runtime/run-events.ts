// Sessions and runs: a run is a turn, an agent is a thread.

import type { Fact } from "@soong/core";
import type { EventWriter, FactMappers } from "./event-writer.ts";
import { readNumber, readRecord, readText, type Unchecked } from "../projection/read-fields.ts";

export const RUN_EVENTS = {
  "session.created"(data, events) {
    const by = readRecord(readRecord(data)["dispatched_by"]);
    const taskId = readText(by["task_id"]);
    const dispatch = taskId !== undefined && {
      payload: {
        parentSessionId: readText(by["session_id"]),
        parentTurnId: readText(by["run_id"]),
        parentThreadId: readText(by["agent_id"]),
        parentCallId: readText(by["tool_call_id"]),
        taskId,
        stepId: readText(by["step_id"]),
      },
    };
    events.add("session.created", { status: "idle", ...dispatch });
  },

  "run.queued"(data, events, fact) {
    if (events.turnId !== undefined) events.open.queueRun(events.turnId);
    submitTurn(events, fact, "queued");
    const payload = { change: "queued", turnId: events.turnId, ahead: readNumber(data.ahead) };
    events.add("queue.changed", { payload });
  },

  "run.started"(data, events, fact) {
    const { turnId } = events;
    if (turnId !== undefined && events.open.leaveQueue(turnId)) {
      events.add("queue.changed", { payload: { change: "started", turnId, ahead: undefined } });
    } else submitTurn(events, fact, "accepted");
    const definitions = readText(readRecord(data.definitions)["artifact_id"]);
    events.add("turn.started", {
      status: "running",
      payload: {
        role: readText(data.role),
        mode: readText(data.mode),
        surfaceRevision: readNumber(data.surface_revision),
        policyRef: events.refersTo("/data/policy"),
        definitionsRef: definitions && `artifact:${definitions}`,
        parentThreadId: readText(fact.parent_agent_id),
        parentTurnId: readText(fact.parent_run_id),
      },
    });
  },

  "run.completed"(data, events) {
    endTurn(data, events, "completed");
  },
  "run.failed"(data, events) {
    endTurn(data, events, "failed");
  },
  "run.aborted"(data, events) {
    endTurn(data, events, "cancelled");
  },

  "turn.halted"(data, events) {
    events.add("run.status", {
      status: "cancelling",
      phase: "halting_calls",
      statusReason: readText(data.reason),
      payload: {
        title: "No further call of this answer starts.",
        kind: readText(data.kind),
        detail: readText(data.reason),
        firstToolCallId: events.siblingCallId(data.first_call_id),
      },
    });
  },
} satisfies FactMappers;

/** The thread of a run begins with the first run of its agent. */
function submitTurn(events: EventWriter, fact: Fact, status: "queued" | "accepted"): void {
  const { threadId } = events;
  const parentThreadId = readText(fact.parent_agent_id);
  if (threadId !== undefined && events.open.openThread(threadId)) {
    events.add("thread.started", { status: "running", payload: { parentThreadId } });
  } else events.skip();
  const parentTurnId = readText(fact.parent_run_id);
  events.add("turn.submitted", { status, payload: { status, parentThreadId, parentTurnId } });
}

function endTurn(
  data: Unchecked<"run.completed">,
  events: EventWriter,
  status: "completed" | "failed" | "cancelled",
): void {
  const error = readRecord(data.error);
  const message = readText(data.message) ?? readText(error["message"]);
  if (events.turnId !== undefined) events.open.leaveQueue(events.turnId);
  events.add(status === "completed" ? "turn.completed" : "turn.failed", {
    status,
    nativeStatus: readText(data.reason),
    statusReason: message ?? readText(data.reason),
    taskId: readText(data.task_id),
    costState: data.usage === undefined ? undefined : describeUsage(data.usage),
    payload: {
      reason: readText(data.reason),
      errorCode: readText(error["code"]),
      message,
      modelRequests: readNumber(data.turns),
      taskEnd: readText(data.end),
    },
  });
}

/** Tokens and cost of a run or a model request; a cost that is unknown is null. */
export function describeUsage(value: unknown, given?: unknown): object {
  const usage = readRecord(value);
  return {
    inputTokens: readNumber(usage["input_tokens"]),
    outputTokens: readNumber(usage["output_tokens"]),
    cacheReadTokens: readNumber(usage["cache_read_tokens"]),
    cacheWriteTokens: readNumber(usage["cache_write_tokens"]),
    reasoningTokens: readNumber(usage["reasoning_tokens"]),
    requests: readNumber(usage["requests"]),
    cost: given ?? usage["cost"] ?? null,
  };
}
