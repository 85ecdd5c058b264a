// Facts that become an event of the span of their call, or else of their run: each with the fields that are sent, under the
// names of their attributes. Fields that hold text of a user, a model or a tool are never among them.

import type { Fact, FactType } from "@soong/core";
import { Attributes } from "./attributes.ts";
import { readCount, readData, readFlag, readLabel, readName } from "./fact-fields.ts";
import { parseModelReference } from "./model-reference.ts";

type EventFields = Readonly<Record<string, string>>;

const HOOK: EventFields = { hook: "soong.hook.name", event: "soong.hook.event" };

const COMPACTION: EventFields = {
  trigger: "soong.compaction.trigger",
  tokens_before: "soong.compaction.tokens_before",
  tokens_after: "soong.compaction.tokens_after",
};

const CHILD: EventFields = {
  child_agent_id: "soong.child.agent_id",
  child_run_id: "soong.child.run_id",
  agent_definition_id: "soong.child.definition",
  status: "soong.child.status",
};

export const SPAN_EVENTS = {
  "tool.waiting": { waits: "soong.tool.waits" },
  "input.mutated": { source: "soong.hook.name" },
  "hook.completed": {
    ...HOOK,
    outcome: "soong.hook.outcome",
    duration_ms: "soong.hook.duration_ms",
  },
  "hook.failed": { ...HOOK, duration_ms: "soong.hook.duration_ms" },
  "hook.denied": { hook: "soong.hook.name" },
  "permission.requested": {},
  "permission.resolved": { decision: "soong.permission.answer" },
  "permission.failed": {},
  "grant.created": {},
  "sandbox.applied": { backend: "soong.sandbox.backend" },
  "sandbox.missing": {},
  "sandbox.violation": { kind: "soong.sandbox.violation", certain: "soong.sandbox.certain" },
  "mcp.server.elicitation": {
    mode: "soong.elicitation.mode",
    action: "soong.elicitation.action",
  },
  "mcp.server.host_request": {
    server_id: "soong.mcp.server",
    method: "soong.mcp.method",
    outcome: "soong.mcp.outcome",
  },
  "turn.halted": { kind: "soong.turn.halted_by" },
  "routing.fallback": {
    from: "soong.routing.from",
    to: "soong.routing.to",
    reason: "error.type",
    attempts: "soong.routing.attempts",
  },
  "context.compaction.started": COMPACTION,
  "context.compaction.completed": COMPACTION,
  "context.compaction.failed": COMPACTION,
  "agent.child.created": CHILD,
  "agent.child.completed": CHILD,
  "agent.child.failed": CHILD,
  "agent.child.cancelled": CHILD,
  "worker.dispatched": {
    pool: "soong.worker.pool",
    worker: "soong.worker.id",
    task_id: "soong.task.id",
    step_id: "soong.task.step_id",
  },
  "skill.loaded": { skill: "soong.skill.name" },
  "memory.recalled": { scope: "soong.memory.scope" },
  error: { code: "soong.error.code" },
} as const satisfies Partial<Record<FactType, EventFields>>;

export type SpanEventType = keyof typeof SPAN_EVENTS;

export function isSpanEvent(type: string): type is SpanEventType {
  return Object.hasOwn(SPAN_EVENTS, type);
}

export function buildEventAttributes(fact: Fact<SpanEventType>): Attributes {
  const data = readData(fact);
  const attributes = new Attributes();
  const fields: EventFields = SPAN_EVENTS[fact.type];
  for (const [field, key] of Object.entries(fields)) {
    attributes
      .int(key, readCount(data, field))
      .flag(key, readFlag(data, field))
      .text(key, readEventText(data, field, key));
  }
  return attributes;
}

function readEventText(
  data: Readonly<Record<string, unknown>>,
  field: string,
  key: string,
): string | undefined {
  if (key === "soong.hook.name") return readName(data, field);
  const label = readLabel(data, field);
  return label !== undefined && key.startsWith("soong.routing.")
    ? parseModelReference(label).model
    : label;
}
