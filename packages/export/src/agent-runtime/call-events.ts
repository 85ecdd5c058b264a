// Tool calls. Agent Runtime's `tool.started` means that the model asked for the call (EXPORT-2): it comes from
// `tool.requested`. That execution began is `tool.progress` with the status running.

import type { ToolStatus } from "@soong/core";
import type { EventWriter, FactMappers, MapFact } from "./event-writer.ts";
import { describeEffects } from "./permission-events.ts";
import { omitBytes } from "../projection/omit-bytes.ts";
import {
  readArtifactIds,
  readFlag,
  readList,
  readNumber,
  readRecord,
  readText,
  readTexts,
  type UncheckedRecord,
} from "../projection/read-fields.ts";

const endCall: MapFact<"tool.completed"> = (data, events, fact) => {
  const { toolCallId } = events;
  const call = toolCallId === undefined ? undefined : events.open.closeCall(toolCallId);
  // The call ended while it waited for an answer: the request is answered with that.
  if (call?.actionId !== undefined) withdrawRequest(events, call.actionId);
  const result = readRecord(data.result);
  const nativeStatus = readText(result["status"]) ?? fact.type.slice("tool.".length);
  const status = STATUSES.get(nativeStatus) ?? STATUS_OF_TYPE.get(fact.type) ?? "unknown";
  const isResult = fact.type === "tool.completed";
  const decisionEventId = call?.findDecision(readText(data.decision_ref));
  const artifactIds = readArtifactIds(result["artifacts"]);
  const error = readRecord(result["error"]);
  const metadata = readRecord(result["metadata"]);
  const truncation = readRecord(metadata["truncation"]);
  const artifact = readText(truncation["artifact_id"]);
  const summary = readText(result["summary"]);
  const hasRefs = decisionEventId !== undefined || artifactIds !== undefined;
  events.add(isResult ? "tool.result" : "tool.failed", {
    status,
    nativeStatus,
    statusReason: isResult ? undefined : (readText(error["message"]) ?? summary),
    outputRef:
      artifact === undefined ? events.refersTo("/data/result/content") : `artifact:${artifact}`,
    refs: hasRefs ? { artifactIds, decisionEventId } : undefined,
    payload: {
      toolName: readText(fact.tool_name) ?? readText(result["tool_name"]),
      preview: summary,
      content: omitBytes(result["content"]),
      data: result["data"],
      error: isResult ? undefined : describeError(error),
      durationMs: readNumber(metadata["duration_ms"]),
      truncated: artifact !== undefined || truncation["original_chars"] !== undefined,
      redactions: readNumber(metadata["redactions"]),
      owner: readText(readRecord(metadata["provenance"])["source_kind"]),
      cancelledBy: events.siblingCallId(data.cancelled_by),
    },
  });
};

export const CALL_EVENTS = {
  "tool.requested"(data, events, fact) {
    const { toolCallId } = events;
    const toolName = readText(fact.tool_name);
    if (toolCallId !== undefined) events.open.openCall(toolCallId);
    events.add("tool.started", {
      status: "accepted",
      nativeStatus: "requested",
      payload: {
        toolName,
        index: readNumber(data.index),
        surfaceRevision: readNumber(data.surface_revision),
        nativeCallId: readText(data.native_call_id) ?? readText(fact.tool_call_id),
        nativeName: readText(data.native_name),
        alias: readText(data.alias),
        parentToolCallId: events.siblingCallId(data.within_tool_call_id),
        requestedBy: data.made_by === "runtime" ? "runtime" : "model",
      },
    });
    if (data.model_input === undefined) return;
    events.add("tool.args", {
      payload: {
        toolName,
        safeArgs: data.model_input,
        argsChars: readNumber(data.model_input_chars),
        described: data.model_input_described === true,
      },
    });
  },

  "input.mutated"(data, events, fact) {
    const source = readText(data.source);
    events.add("tool.args", {
      statusReason: readText(data.reason),
      payload: {
        toolName: readText(fact.tool_name),
        safeArgs: data.observable_input,
        changedBy: source,
        changedFields: readTexts(data.changed_fields),
      },
    });
  },

  "tool.queued"(data, events, fact) {
    events.add("tool.progress", {
      status: "queued",
      payload: { toolName: readText(fact.tool_name), class: readText(data.class) },
    });
  },

  "tool.started"(data, events, fact) {
    const call = events.open.findCall(events.toolCallId);
    const decisionEventId = call?.findDecision(readText(data.decision_ref));
    events.add("tool.progress", {
      status: "running",
      nativeStatus: "started",
      refs: decisionEventId === undefined ? undefined : { decisionEventId },
      payload: {
        toolName: readText(fact.tool_name),
        decision: readText(data.decision),
        class: readText(data.class),
        effects: describeEffects(data.effects),
        isDestructive: readFlag(data.is_destructive),
        interruptBehavior: readText(data.interrupt_behavior),
        safeArgs: data.call_input,
        hookOutcomes: data.hooks,
      },
    });
  },

  "tool.progress"(data, events, fact) {
    events.add("tool.progress", {
      status: "running",
      payload: {
        toolName: readText(fact.tool_name),
        message: readText(data.message),
        progress: readNumber(data.progress),
        total: readNumber(data.total),
        partialOutput: data.data,
        merged: readNumber(data.merged),
      },
    });
  },

  "tool.waiting"(data, events, fact) {
    events.add("tool.progress", {
      status: data.waits === true ? "waiting_input" : "running",
      payload: { toolName: readText(fact.tool_name) },
    });
  },

  "tool.completed": endCall,
  "tool.failed": endCall,
  "tool.denied": endCall,
  "tool.skipped": endCall,
  "tool.cancelled": endCall,
  "tool.discarded": endCall,

  "tool.late"(data, events, fact) {
    events.add("runtime.warning", {
      payload: {
        code: "late_tool_result",
        message: "The tool settled after its call had ended; the result was discarded.",
        toolName: readText(fact.tool_name),
        outcome: readText(data.how),
      },
    });
  },

  "tool.catalog.resolved"(data, events) {
    const revision = readNumber(data.revision);
    events.add("tool.catalog.resolved", {
      stepId: createCatalogStep(events, revision),
      payload: {
        surfaceRevision: revision,
        baseRevision: readNumber(data.base_revision),
        profile: readText(data.profile),
        role: readText(data.role),
        mode: readText(data.mode),
        counts: data.counts,
        tools: readList(data.tools).map(describeTool),
        groups: readList(data.groups).map(describeTool),
        removed: readTexts(data.removed),
      },
    });
  },

  "tool.deferred.loaded"(data, events) {
    const revision = readNumber(data.surface_revision);
    events.add("tool.catalog.resolved", {
      stepId: createCatalogStep(events, revision),
      phase: "deferred_loaded",
      payload: { surfaceRevision: revision, loaded: readTexts(data.tools) },
    });
  },
} satisfies FactMappers;

/** The standard's words for how a call ended; ours are in `nativeStatus`. */
const STATUSES: ReadonlyMap<string, string> = new Map<ToolStatus, string>([
  ["succeeded", "completed"],
  ["partial", "completed"],
  ["failed", "failed"],
  ["timed_out", "timed_out"],
  ["aborted", "cancelled"],
  ["unknown", "unknown"],
  ["denied", "blocked"],
  ["rejected", "blocked"],
  ["skipped", "cancelled"],
  ["cancelled", "cancelled"],
  ["discarded", "cancelled"],
]);

/** Of a fact whose result does not say it. */
const STATUS_OF_TYPE: ReadonlyMap<string, string> = new Map([
  ["tool.completed", "completed"],
  ["tool.failed", "failed"],
  ["tool.denied", "blocked"],
  ["tool.skipped", "cancelled"],
  ["tool.cancelled", "cancelled"],
  ["tool.discarded", "cancelled"],
]);

function withdrawRequest(events: EventWriter, actionId: string): void {
  const statusReason = "The call ended before the request was answered.";
  const permissionDecision = {
    decision: "unavailable",
    decisionSource: "runtime",
    decisionReason: statusReason,
    approvalActionId: actionId,
  } as const;
  const about = { actionId, status: "cancelled", statusReason };
  events.add("permission.resolved", { ...about, permissionDecision });
  events.add("action.resolved", { ...about, payload: { decision: "cancelled" } });
}

function describeError(error: UncheckedRecord): object {
  return {
    code: readText(error["code"]),
    category: readText(error["error_class"]),
    message: readText(error["message"]),
    retryable: readFlag(error["retryable"]),
    recovery: readText(error["recovery"]),
    details: error["details"],
  };
}

function createCatalogStep({ turnId = "" }: EventWriter, revision = 0): string {
  return `${turnId}/catalog-${revision}`;
}

/** One tool, or a group of which the same is said. */
function describeTool(value: unknown): object {
  const tool = readRecord(value);
  return {
    toolName: readText(tool["tool_name"]),
    names: tool["names"],
    state: readText(tool["state"]),
    description: readText(tool["description"]),
    inputSchema: tool["input_schema"],
    capabilities: readTexts(tool["capabilities"]),
    policy: readText(tool["policy"]),
    runtimeOwner: readText(tool["runtime_owner"]),
    isReadOnly: readFlag(tool["is_read_only"]),
    isConcurrencySafe: readFlag(tool["is_concurrency_safe"]),
    isDestructive: readFlag(tool["is_destructive"]),
    isOpenWorld: readFlag(tool["is_open_world"]),
    interruptBehavior: readText(tool["interrupt_behavior"]),
    metadataRef: readText(tool["metadata_ref"]),
    reason: readText(tool["reason"]),
    detail: readText(tool["detail"]),
  };
}
