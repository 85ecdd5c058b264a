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
import type { JsonValue } from "@soong/schema";
import { resourcesOf, toolOf, withinCall, type Call, type HookVerdict } from "./call.ts";
import type { RunAuthority, RunBase } from "./host.ts";

/** What running the hooks of a call needs. */
export type HookHost = RunBase & Pick<RunAuthority, "hooks">;

export function hookSubject(call: Call): HookSubject {
  const paths = resourcesOf(call).flatMap((resource) => {
    if (resource.kind === "host") return [];
    return resource.kind === "path" ? [resource.path, ...(resource.also ?? [])] : [resource.cwd];
  });
  return { tool_name: call.tool_name, tags: toolOf(call).tags, paths };
}

/** Asks for a guard of a path that the call only may reach: nothing is named that the guard could judge (PERM-15). */
export function reachedGuard(host: HookHost, call: Call): HookVerdict | undefined {
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
export function matchedPath(host: HookHost, call: Call, hook: AnyHook): { path?: string } {
  const path = host.hooks.matchedPath(hook, hookSubject(call));
  return path === undefined ? {} : { path };
}

export function hookIdentity(host: RunBase, call: Call) {
  const { session_id, run_id, agent_id } = host.identity;
  const { tool_call_id, tool_name } = call;
  return { session_id, run_id, agent_id, tool_call_id, tool_name };
}

export function hookPorts(host: RunBase, call: Call): HookPorts {
  return {
    clock: host.clock,
    recorder: host.recorder,
    redactor: host.redactor,
    signal: () => call.signal,
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
  host: RunBase,
  call: Call,
): { redacted: JsonValue; restore(value: JsonValue): JsonValue } {
  return host.redactor.reversible(observableInput(call), toolOf(call).input.sensitive);
}

/** HOOK-7: the call waits for a person. The hooks watch meanwhile; their outcome changes nothing. */
export async function notifyHooks(
  host: HookHost,
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
