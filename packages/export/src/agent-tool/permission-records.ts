// Decisions about calls: of the policy, of users who were asked, and of hooks.

import type { ExportState } from "./export-state.ts";
import type { Mappers } from "./mapper.ts";
import type { OpenCall } from "./open-call.ts";
import {
  readList,
  readObject,
  readRecord,
  readText,
  readValue,
  type UncheckedRecord,
} from "../projection/read-fields.ts";
import { SCHEMA_VERSION, type DecisionReason, type ToolPermissionDecision } from "./records.ts";

type PermissionFactType =
  | "permission.evaluated"
  | "permission.requested"
  | "permission.resolved"
  | "permission.failed"
  | "hook.denied";

export const PERMISSION_RECORDS: Mappers<PermissionFactType> = {
  "permission.evaluated": (data, state, fact) => {
    const call = state.reachCall(fact);
    const behavior = BEHAVIORS.get(data.decision);
    if (call === undefined || behavior === undefined) return;
    call.permissionInputRef = call.inputRef;
    if (state.hasContent) call.permissionInput = readValue(data.permission_input);
    const decisive = findDecisive(data.chain);
    const rule = readText(decisive["rule"]);
    const layer = readText(decisive["layer"]);
    const reason: DecisionReason = {
      type: REASON_TYPES.get(layer ?? "") ?? "other",
      message: state.readContent(data.reason),
      rule_ref: rule,
      layer,
      origin: readObject(decisive["origin"]),
      grant_id: readText(data.grant_id),
    };
    writeDecision(call, state, behavior, reason, {
      source: findSource(layer, decisive["origin"]),
      rule_refs: rule === undefined ? undefined : [rule],
      blocked_path:
        behavior === "deny" && state.hasContent ? findOnlyPath(data.resources) : undefined,
    });
  },
  "permission.requested": ({ request }, state, fact) => {
    const call = state.findCall(fact);
    if (call === undefined) return;
    const { request_id, reason, session_scope, suggested_decision, always_rule } =
      readRecord(request);
    const rule = state.hasContent ? readObject(always_rule) : undefined;
    call.change("awaiting_approval", state.writer.time);
    state.writer.addEvent("tool.permission.requested", call, {
      request_id: readText(request_id),
      reason: state.readContent(reason),
      session_scope: state.readContent(session_scope),
      suggested_decision: readText(suggested_decision),
      suggested_updates: rule === undefined ? undefined : [{ type: "add_rule", rule }],
    });
  },
  "permission.resolved": (data, state, fact) => {
    const call = state.findCall(fact);
    const behavior = ANSWERS.get(data.decision);
    if (call === undefined || behavior === undefined) return;
    const message = state.readContent(data.reason);
    const reason: DecisionReason = {
      type: "permission_prompt_tool",
      message,
      request_id: readText(data.request_id),
      answered_by: readText(data.answered_by),
      answer: readText(data.decision),
    };
    const accept_feedback = behavior === "allow" ? message : undefined;
    writeDecision(call, state, behavior, reason, { accept_feedback });
  },
  "permission.failed": (data, state, fact) => {
    const call = state.findCall(fact);
    if (call === undefined) return;
    writeDecision(call, state, "deny", {
      type: "other",
      message: state.readContent(data.message),
      request_id: readText(data.request_id),
    });
  },
  "hook.denied": (data, state, fact) => {
    const call = state.findCall(fact);
    if (call === undefined) return;
    writeDecision(call, state, "deny", {
      type: "hook",
      message: state.readContent(data.reason),
      hook_name: readText(data.hook),
    });
  },
};

type Behavior = ToolPermissionDecision["behavior"];

const BEHAVIORS: ReadonlyMap<unknown, Behavior> = new Map<unknown, Behavior>([
  ["allow", "allow"],
  ["ask", "ask"],
  ["deny", "deny"],
]);

const ANSWERS: ReadonlyMap<unknown, Behavior> = new Map<unknown, Behavior>([
  ["allow_once", "allow"],
  ["allow_for_session", "allow"],
  ["deny", "deny"],
]);

/** By the layer that decided. */
const REASON_TYPES: ReadonlyMap<string, DecisionReason["type"]> = new Map<
  string,
  DecisionReason["type"]
>([
  ["runtime", "safety_check"],
  ["rules", "rule"],
  ["grant", "rule"],
  ["mode", "mode"],
  ["defaults", "policy"],
  ["ceiling", "policy"],
  ["hook", "hook"],
]);

const STATUS = { allow: "approved", ask: undefined, deny: "denied" } as const;

function writeDecision(
  call: OpenCall,
  { writer }: ExportState,
  behavior: Behavior,
  reason: DecisionReason,
  more: Partial<
    Pick<ToolPermissionDecision, "source" | "rule_refs" | "blocked_path" | "accept_feedback">
  > = {},
): void {
  const decision_id = writer.factRef;
  const { invocation_id, run } = call;
  call.addDecision(decision_id);
  const status = STATUS[behavior];
  if (status !== undefined) call.change(status, writer.time);
  writer.add({
    record_type: "tool_permission_decision",
    schema_version: SCHEMA_VERSION,
    decision_id,
    invocation_id,
    behavior,
    mode: run.mode,
    source: more.source,
    reason,
    rule_refs: more.rule_refs,
    blocked_path: more.blocked_path,
    accept_feedback: more.accept_feedback,
    decided_at: writer.time,
  });
  writer.addEvent("tool.permission.decided", call, { decision_id, behavior });
}

function findDecisive(chain: unknown): UncheckedRecord {
  return readRecord(readList(chain).find((entry) => readRecord(entry)["decisive"] === true));
}

/** A rule of a file may be the user's or the project's: the origin says which file. */
function findSource(layer: string | undefined, origin: unknown): string | undefined {
  if (layer === "grant") return "session";
  return readText(readRecord(origin)["flag"]) === undefined ? undefined : "cli_arg";
}

function findOnlyPath(resources: unknown): string | undefined {
  const [first, second] = readList(resources);
  return second === undefined ? readText(readRecord(first)["path"]) : undefined;
}
