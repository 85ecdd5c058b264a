// Runs of hooks around a call. Hooks of the session, of prompts and of child agents are not about a call.

import type { ExportState } from "./export-state.ts";
import type { Mappers } from "./mapper.ts";
import type { OpenCall, OpenHook } from "./open-call.ts";
import { readText } from "../projection/read-fields.ts";
import { SCHEMA_VERSION, type HookEventName, type ToolHook } from "./records.ts";

type HookFactType = "hook.started" | "hook.completed" | "hook.failed";

export const HOOK_RECORDS: Mappers<HookFactType> = {
  "hook.started": ({ hook, event }, state, fact) => {
    const call = state.findCall(fact);
    const hook_event = HOOK_EVENTS.get(event);
    if (call === undefined || hook_event === undefined) return;
    const { writer } = state;
    const opened = openHook(call, readText(hook), hook_event, writer.time);
    (call.openHooks ??= []).push(opened);
    const isPost = hook_event.startsWith("post");
    call.change(isPost ? "post_hooks_running" : "pre_hooks_running", writer.time);
    const type = isPost ? "tool.hook.post.started" : "tool.hook.pre.started";
    writer.addEvent(type, call, { hook_id: opened.hook_id, hook_name: opened.hook_name });
  },
  "hook.completed": ({ hook, event, outcome }, state, fact) => {
    const call = state.findCall(fact);
    const hook_event = HOOK_EVENTS.get(event);
    if (call === undefined || hook_event === undefined) return;
    const answer = readText(outcome) ?? "pass";
    const outputs = answer.split(", ").flatMap((part) => OUTPUTS.get(part) ?? []);
    const behavior = BEHAVIORS.get(answer);
    endHook(call, state, readText(hook), hook_event, outputs, behavior && { behavior });
  },
  "hook.failed": ({ hook, event, message }, state, fact) => {
    const call = state.findCall(fact);
    const hook_event = HOOK_EVENTS.get(event);
    if (call === undefined || hook_event === undefined) return;
    const outputs = [{ type: "message", message: state.readContent(message) }];
    endHook(call, state, readText(hook), hook_event, outputs);
  },
};

/** Of hooks that were running when the call, or the journal, ended. */
export function writeOpenHooks(call: OpenCall, state: ExportState): void {
  for (const hook of call.openHooks ?? []) writeHook(call, state, hook, {});
  call.openHooks = undefined;
}

const HOOK_EVENTS: ReadonlyMap<unknown, HookEventName> = new Map<unknown, HookEventName>([
  ["PreToolUse", "pre_tool_use"],
  ["PostToolUse", "post_tool_use"],
  ["PostToolUseFailure", "post_tool_use_failure"],
  ["PermissionRequest", "permission_request"],
]);

/** By the parts of an answer, as `hook.completed` names them. */
const OUTPUTS: ReadonlyMap<string, { readonly type: string }> = new Map([
  ["input", { type: "updated_input" }],
  ["context", { type: "additional_context" }],
  ["stop", { type: "stop" }],
  ["replace", { type: "updated_output" }],
  ["reason", { type: "message" }],
  ["deny", { type: "permission_result" }],
  ["ask", { type: "permission_result" }],
]);

type HookBehavior = NonNullable<ToolHook["permission_result"]>["behavior"];

const BEHAVIORS: ReadonlyMap<string, HookBehavior> = new Map<string, HookBehavior>([
  ["deny", "deny"],
  ["ask", "ask"],
  ["pass", "passthrough"],
]);

function openHook(
  call: OpenCall,
  hook_name = "unknown",
  hook_event: HookEventName,
  started_at?: string,
): OpenHook {
  return { hook_id: call.nameHook(), hook_name, hook_event, started_at };
}

function endHook(
  call: OpenCall,
  state: ExportState,
  name: string | undefined,
  hook_event: HookEventName,
  outputs: ToolHook["outputs"],
  permission_result?: ToolHook["permission_result"],
): void {
  const { writer } = state;
  const open = call.openHooks ?? [];
  const isEnded = (one: OpenHook): boolean =>
    one.hook_event === hook_event && one.hook_name === (name ?? "unknown");
  const found = open.findLast(isEnded);
  if (found !== undefined) call.openHooks = open.filter((one) => one !== found);
  const hook = found ?? openHook(call, name, hook_event);
  writeHook(call, state, hook, { outputs, permission_result, ended_at: writer.time });
  const isPost = hook_event.startsWith("post");
  const type = isPost ? "tool.hook.post.completed" : "tool.hook.pre.completed";
  writer.addEvent(type, call, { hook_id: hook.hook_id, hook_name: hook.hook_name });
}

function writeHook(
  { invocation_id, tool_id }: OpenCall,
  { writer }: ExportState,
  { hook_id, hook_name, hook_event, started_at }: OpenHook,
  end: Pick<ToolHook, "outputs" | "permission_result" | "ended_at">,
): void {
  writer.add({
    record_type: "tool_hook",
    schema_version: SCHEMA_VERSION,
    hook_id,
    hook_name,
    hook_event,
    invocation_id,
    tool_id,
    outputs: end.outputs?.length === 0 ? undefined : end.outputs,
    permission_result: end.permission_result,
    started_at,
    ended_at: end.ended_at,
  });
}
