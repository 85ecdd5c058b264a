// What a model request is put together from, its compaction, and going back.

import { invocationId } from "../projection/invocation-id.ts";
import type { EventWriter, FactMappers } from "./event-writer.ts";
import { readList, readNumber, readText, type Unchecked } from "../projection/read-fields.ts";

export const CONTEXT_EVENTS = {
  "context.resolved"(data, events) {
    events.add("context.resolved", {
      payload: {
        request: readNumber(data.request),
        since: readNumber(data.since),
        system: readList(data.system),
        memoryRefs: readList(data.memory_refs),
        knowledgeRefs: readList(data.knowledge_refs),
        sourceRefs: readList(data.source_refs),
        instructionRefs: readList(data.instruction_refs),
        fileRefs: readList(data.file_refs),
        workspaceRefs: readList(data.workspace_refs),
        browserRefs: readList(data.browser_refs),
        sessionRefs: readList(data.session_refs),
        skillRefs: readList(data.skill_refs),
        agentRefs: readList(data.agent_refs),
        board: data.board,
        history: data.history,
        policy: data.policy,
        tools: data.tools,
        omissions: readList(data.omissions),
        missing: readList(data.missing),
        tokens: data.tokens,
      },
    });
  },

  "context.compaction.started"(data, events) {
    events.add("context.compaction.started", {
      status: "running",
      historyBoundary: describeBoundary(data),
      payload: describeCompaction(data),
    });
  },
  "context.compaction.completed"(data, events) {
    events.add("context.compaction.completed", {
      status: "completed",
      historyBoundary: describeBoundary(data, readText(data.node_id), readText(data.kept_from)),
      payload: {
        summaryPreview: readText(data.summary_preview),
        continuation: data.continuation,
        tokensAfter: readNumber(data.tokens_after),
        ...describeCompaction(data),
      },
    });
  },
  "context.compaction.failed"(data, events) {
    events.add("context.compaction.failed", {
      status: "failed",
      statusReason: readText(data.message),
      historyBoundary: describeBoundary(data),
      payload: describeCompaction(data),
    });
  },

  "context.rewound"(data, events) {
    const historyBoundary = { kind: "conversation", nodeId: readText(data.node_id) };
    rollBack(events, historyBoundary, readText(data.reason), readText(data.agent_id));
  },
  /** Of the session: the call that made the change is of another run. */
  "change.undone"(data, events, fact) {
    const run_id = readText(data.of_run);
    const { tool_call_id } = fact;
    events.toolCallId = run_id && invocationId({ run_id, tool_call_id });
    const historyBoundary = { kind: "workspace", path: readText(data.path), turnId: run_id };
    rollBack(events, historyBoundary, "The change of a call was undone.", undefined);
  },

  "skill.loaded"(data, events) {
    events.add("context.resolved", {
      phase: "skill_loaded",
      payload: {
        skillRefs: [
          {
            skill: readText(data.skill),
            file: readText(data.file),
            sha256: readText(data.sha256),
            chars: readNumber(data.chars),
          },
        ],
        tools: readList(data.tools),
      },
    });
  },
  "memory.recalled"(data, events) {
    events.add("context.resolved", {
      phase: "memory_recalled",
      payload: {
        memoryRefs: readList(data.memories),
        query: readText(data.query),
        scope: readText(data.scope),
        considered: readNumber(data.considered),
        omitted: readNumber(data.left_out),
        tokens: readNumber(data.tokens),
        toolName: readText(data.tool_name),
        parentToolCallId: events.siblingCallId(data.recalled_by),
      },
    });
  },
  "memory.recall.started"(data, events) {
    const toolName = readText(data.tool_name);
    events.add("run.status", {
      status: "preparing",
      phase: "memory_recall",
      payload: { title: "The external memory is searched.", toolName },
    });
  },
  "memory.recall.skipped"(data, events) {
    const statusReason = readText(data.reason);
    const toolName = readText(data.tool_name);
    events.add("run.status", {
      status: "preparing",
      phase: "memory_recall",
      statusReason,
      payload: { title: "The external memory is not searched.", detail: statusReason, toolName },
    });
  },
} satisfies FactMappers;

type CompactionData = Unchecked<"context.compaction.started">;

function describeBoundary(data: CompactionData, nodeId?: string, keptFrom?: string): object {
  return {
    kind: "compaction",
    firstNodeId: readText(data.first_node_id),
    lastNodeId: readText(data.last_node_id),
    nodeId,
    keptFrom,
  };
}

function describeCompaction(data: CompactionData): object {
  return {
    trigger: readText(data.trigger),
    model: readText(data.model),
    tokensBefore: readNumber(data.tokens_before),
    affectedTurns: readNumber(data.affected_turns),
  };
}

function rollBack(
  events: EventWriter,
  historyBoundary: object,
  statusReason: string | undefined,
  threadId: string | undefined,
): void {
  const details = { threadId, status: "completed", statusReason, historyBoundary };
  events.add("history.rollback.completed", details);
}
