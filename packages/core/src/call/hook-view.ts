// What hooks, and the people a call is shown to, see of it: its names, its targets, its input without secrets.

import {
  runHook,
  type AnyHook,
  type HookPayloads,
  type HookPorts,
  type HookSubject,
} from "../hook/index.ts";
import { within } from "../journal/index.ts";
import { recordable } from "../result/index.ts";
import type { JsonValue } from "../schema/index.ts";
import { abortOf, resourcesOf, toolOf, withinCall, type Call, type HookVerdict } from "./call.ts";
import type { CallHost } from "./host.ts";

export function hookSubject(call: Call): HookSubject {
  const paths = resourcesOf(call).flatMap((resource) => {
    if (resource.kind === "host") return [];
    return resource.kind === "path" ? [resource.path, ...(resource.also ?? [])] : [resource.cwd];
  });
  return { tool_name: call.tool_name, tags: toolOf(call).tags, paths };
}

/** Asks for a guard of a path that the call only may reach: nothing is named that the guard could judge (PERM-15). */
export function reachedGuard(host: CallHost, call: Call): HookVerdict | undefined {
  const subject = hookSubject(call);
  for (const resource of resourcesOf(call)) {
    if (resource.kind === "host") continue;
    for (const path of resource.may_reach ?? []) {
      const guard = host.hooks.guardOf({ path, access: "read" }, subject);
      if (guard === undefined || host.hooks.matchedPath(guard, subject) !== undefined) continue;
      const hook = guard.id;
      const isCommand = resource.kind === "command";
      const answer = isCommand ? " A rule that allows this very command answers it." : "";
      return {
        decision: "ask",
        hook,
        reason: `This ${isCommand ? "program" : "call"} could reach ${JSON.stringify(path)}, which the hook "${hook}" guards, without naming it, so the hook cannot judge it.${answer}`,
        ...(isCommand ? { unspelled: true } : {}),
      };
    }
  }
  return undefined;
}

/** The path that made a hook with a `path` match, for its payload. */
export function matchedPath(host: CallHost, call: Call, hook: AnyHook): { path?: string } {
  const path = host.hooks.matchedPath(hook, hookSubject(call));
  return path === undefined ? {} : { path };
}

export function hookIdentity(host: CallHost, call: Call) {
  const { session_id, run_id, agent_id } = host.identity;
  const { tool_call_id, tool_name } = call;
  return { session_id, run_id, agent_id, tool_call_id, tool_name };
}

export function hookPorts(host: CallHost, call: Call): HookPorts {
  return {
    clock: host.clock,
    recorder: host.recorder,
    redactor: host.redactor,
    signal: () => abortOf(call).signal,
    defaultTimeoutMs: host.config.hooks.timeout_ms,
    wait: (ms, work) => withinCall(host.clock, call, ms, work),
  };
}

/** JSON, and such that giving it again means the same call. */
export function observableInput(call: Call): JsonValue {
  return call.observable ?? recordable(call.input);
}

/** The input as hooks and people see it: without secrets, and with a way back for what they return. */
export function seenInput(
  host: CallHost,
  call: Call,
): { redacted: JsonValue; restore(value: JsonValue): JsonValue } {
  return host.redactor.reversible(observableInput(call), toolOf(call).input.sensitive);
}

/** HOOK-7: a person is waited for. The hooks watch meanwhile; what becomes of them changes nothing. */
export async function notifyHooks(
  host: CallHost,
  call: Call,
  kind: HookPayloads["Notification"]["kind"],
  message: string,
): Promise<void> {
  if (!host.hooks.has("Notification")) return;
  const { agent_id: _agent, ...identity } = hookIdentity(host, call);
  for (const hook of host.hooks.matching("Notification", hookSubject(call))) {
    const ports: HookPorts = {
      ...hookPorts(host, call),
      wait: (ms, work) => within(host.clock, ms, work),
    };
    await runHook(hook, "Notification", { ...identity, kind, message }, ports, call);
  }
}
