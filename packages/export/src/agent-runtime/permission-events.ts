// Decisions about calls: of the policy, of hooks and of the user. What waits for the user is also an action.

import type { PermissionDecision } from "./event.ts";
import type { EventWriter, FactMappers } from "./event-writer.ts";
import { readFlag, readList, readRecord, readText } from "../projection/read-fields.ts";

export const PERMISSION_EVENTS = {
  "permission.evaluated"(data, events, fact) {
    const chain = readList(data.chain).map(readRecord);
    const decisive = chain.filter((entry) => entry["decisive"] === true);
    const decisionReason = readText(data.reason);
    const eventId = events.add("permission.evaluated", {
      phase: readText(data.stage),
      statusReason: decisionReason,
      permissionDecision: {
        decision: readDecision(data.decision),
        decisionSource: readText(decisive[0]?.["layer"]) ?? "policy",
        decisionReason,
        ruleRefs: decisive.flatMap(({ rule }) => readText(rule) ?? []),
        grantId: readText(data.grant_id),
      },
      payload: {
        toolName: readText(fact.tool_name),
        permission: readText(data.permission),
        effects: describeEffects(data.effects),
        isDestructive: readFlag(data.planned_destructive),
        resources: readList(data.resources),
        hosts: data.hosts,
        chain: data.chain,
        safeArgs: data.permission_input,
      },
    });
    const call = events.open.findCall(events.toolCallId);
    if (call !== undefined) call.evaluated = { factId: fact.id, eventId };
  },

  "permission.requested"(data, events, fact) {
    const request = readRecord(data.request);
    const actionId = readText(request["request_id"]) ?? events.createId("action");
    const toolName = readText(fact.tool_name) ?? readText(request["tool_name"]);
    const statusReason = readText(request["reason"]);
    const call = events.open.findCall(events.toolCallId);
    if (call !== undefined) call.actionId = actionId;
    const permissionDecision = {
      decision: "ask",
      decisionSource: "policy",
      decisionReason: statusReason,
      approvalActionId: actionId,
    } as const;
    const about = { actionId, status: "waiting_permission", statusReason };
    events.add("permission.requested", { ...about, permissionDecision, payload: { toolName } });
    events.add("action.required", {
      ...about,
      payload: {
        actionType: "tool_permission",
        decisionKind: "allow_or_deny",
        toolName,
        prompt: `Allow ${toolName ?? "this call"}? ${statusReason ?? ""}`.trimEnd(),
        description: readText(request["description"]),
        safeArgs: request["arguments"],
        preview: request["preview"],
        resources: readList(request["resources"]),
        hosts: request["network_hosts"],
        scope: readText(request["session_scope"]),
        destructive: readFlag(request["destructive"]),
        dangerous: readFlag(request["dangerous"]),
        suggestedDecision: readText(request["suggested_decision"]),
      },
    });
  },

  "permission.resolved"(data, events, fact) {
    const answer = readText(data.decision);
    const decision = ANSWERS.get(answer ?? "") ?? "unavailable";
    const decisionSource = readText(data.answered_by) ?? "user";
    const actionId = readText(data.request_id);
    const statusReason = readText(data.reason);
    const permissionDecision = {
      decision,
      decisionSource,
      decisionReason: statusReason,
      approvalActionId: actionId,
      scope: answer === "allow_for_session" ? "session" : "call",
    } as const;
    const eventId = resolveRequest(events, actionId, permissionDecision, {
      toolName: readText(fact.tool_name),
      answer,
    });
    const call = events.open.findCall(events.toolCallId);
    if (call !== undefined) call.answered = { factId: fact.id, eventId };
  },

  /** No one answered; without a request, there was no one to ask. */
  "permission.failed"(data, events, fact) {
    const actionId = readText(data.request_id);
    const isAsked =
      actionId !== undefined && events.open.findCall(events.toolCallId)?.actionId === actionId;
    const decisionReason = readText(data.message);
    const toolName = readText(fact.tool_name);
    const permissionDecision = {
      decision: "unavailable",
      decisionSource: "runtime",
      decisionReason,
      approvalActionId: isAsked ? actionId : undefined,
    } as const;
    if (isAsked) {
      resolveRequest(events, actionId, permissionDecision, { toolName, answer: undefined });
      return;
    }
    const about = { statusReason: decisionReason, permissionDecision, payload: { toolName } };
    events.add("permission.evaluated", about);
  },

  "hook.started"(data, events) {
    events.add("hook.started", { status: "running", hookRun: describeHook(data) });
  },
  "hook.completed"(data, events) {
    const hookRun = describeHook(data, data.duration_ms, readText(data.outcome));
    events.add("hook.completed", { status: "completed", hookRun });
  },
  "hook.failed"(data, events) {
    const statusReason = readText(data.message);
    const hookRun = describeHook(data, data.duration_ms);
    events.add("hook.failed", { status: "failed", statusReason, hookRun });
  },

  /** The call ends with it: no policy decides any more. */
  "hook.denied"(data, events, fact) {
    const decisionReason = readText(data.reason);
    const hook = readText(data.hook);
    events.add("permission.evaluated", {
      statusReason: decisionReason,
      permissionDecision: {
        decision: "deny",
        decisionSource: "hook",
        decisionReason,
        ruleRefs: hook === undefined ? [] : [`hook:${hook}`],
      },
      payload: { toolName: readText(fact.tool_name), stopsRun: readText(data.stop) },
    });
  },

  "grant.created"(data, events) {
    const grant = readRecord(data.grant);
    events.add("policy.changed", {
      payload: {
        change: "grant_created",
        grantId: readText(grant["grant_id"]),
        toolName: readText(grant["tool_name"]),
        scopes: readList(grant["scopes"]),
        grantedBy: readText(grant["granted_by"]),
      },
    });
  },
  "grant.revoked"(data, events) {
    const payload = { change: "grant_revoked", grantId: readText(data.grant_id) };
    events.add("policy.changed", { payload });
  },

  /** Recorded when it was answered: question and answer at once. */
  "mcp.server.elicitation"(data, events, fact) {
    const actionId = events.createId("elicitation");
    const answer = readText(data.action);
    events.add("action.required", {
      actionId,
      status: "waiting_input",
      payload: {
        actionType: "structured_input",
        decisionKind: readText(data.mode),
        toolName: readText(fact.tool_name),
        prompt: readText(data.message),
      },
    });
    const status = answer === "accept" ? "completed" : "cancelled";
    events.add("action.resolved", { actionId, status, payload: { decision: answer } });
  },
} satisfies FactMappers;

const ANSWERS: ReadonlyMap<string, PermissionDecision["decision"]> = new Map([
  ["allow_once", "allow"],
  ["allow_for_session", "allow"],
  ["deny", "deny"],
] as const);

function readDecision(value: unknown): PermissionDecision["decision"] {
  return value === "allow" || value === "ask" || value === "deny" ? value : "unavailable";
}

/** Answers with the id of `permission.resolved`. */
function resolveRequest(
  events: EventWriter,
  actionId: string | undefined,
  permissionDecision: PermissionDecision,
  { toolName, answer }: { toolName: string | undefined; answer: string | undefined },
): string {
  const call = events.open.findCall(events.toolCallId);
  if (call !== undefined && call.actionId === actionId) call.actionId = undefined;
  const { decision, decisionReason: statusReason, decisionSource } = permissionDecision;
  const status = decision === "unavailable" ? "failed" : "completed";
  const about = { actionId, status, statusReason };
  const payload = { toolName };
  const eventId = events.add("permission.resolved", { ...about, permissionDecision, payload });
  events.add("action.resolved", {
    ...about,
    payload: { toolName, decision, answer, decisionSource },
  });
  return eventId;
}

function describeHook(
  data: { readonly hook?: unknown; readonly event?: unknown },
  duration?: unknown,
  outcome?: string,
): object {
  return {
    hook: readText(data.hook),
    hookPoint: readText(data.event),
    durationMs: typeof duration === "number" ? duration : undefined,
    outcome,
  };
}

/** What the call was judged to do. */
export function describeEffects(value: unknown): object | undefined {
  if (value === undefined) return undefined;
  const effects = readRecord(value);
  return {
    isReadOnly: readFlag(effects["read_only"]),
    isConcurrencySafe: readFlag(effects["concurrency_safe"]),
    isDestructive: readFlag(effects["destructive"]),
    isOpenWorld: readFlag(effects["open_world"]),
    isRepeatable: readFlag(effects["repeatable"]),
  };
}
