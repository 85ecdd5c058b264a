// A question from inside a tool (MCP-5, HOOK-6): hooks first, then a person, else declined.

import { runHook, type HookPorts } from "../hook/index.ts";
import type { GivenUp, Waited } from "../journal/index.ts";
import type { JsonObject } from "@soong/schema";
import type { ElicitationAnswer, ElicitationRequest } from "../tool/index.ts";
import type { Call } from "./call.ts";
import { hookPorts, hookSubject, notifyHooks, type HookHost } from "./hook-view.ts";
import type { RunBase, RunPeople } from "./host.ts";

/** The handler at work: waiting inside it must not outlast it. */
export interface ElicitingExecution {
  waitForPerson<T>(answer: Promise<T>): Promise<T>;
  within<T>(ms: number | undefined, work: () => T | PromiseLike<T>): Promise<Waited<T> | GivenUp>;
}

export async function elicit(
  host: HookHost & RunPeople,
  call: Call,
  request: ElicitationRequest,
  execution: ElicitingExecution,
): Promise<ElicitationAnswer> {
  const about = { ...hookAbout(host, call), request };
  const ports: HookPorts = {
    ...hookPorts(host, call),
    wait: (ms, work) => execution.within(ms, work),
  };
  const answer = (await hooksAnswer()) ?? (await personsAnswer());
  for (const hook of host.hooks.matching("ElicitationResult", hookSubject(call))) {
    await runHook(hook, "ElicitationResult", { ...about, answer }, ports, call);
  }
  const data = {
    message: host.redactor.text(request.message),
    mode: request.mode,
    action: answer.action,
  };
  host.recorder.record("mcp.server.elicitation", data, call);
  return answer;

  async function hooksAnswer(): Promise<ElicitationAnswer | undefined> {
    for (const hook of host.hooks.matching("Elicitation", hookSubject(call))) {
      const outcome = await runHook(hook, "Elicitation", about, ports, call);
      if (!outcome.ok) continue;
      const { action, content } = outcome.answer;
      if (action === undefined || action === "pass") continue;
      return content === undefined ? { action } : { action, content };
    }
    return undefined;
  }

  async function personsAnswer(): Promise<ElicitationAnswer> {
    const { elicit: ask } = host;
    if (ask === undefined || call.given.made_by === "runtime") return { action: "decline" };
    const asked = execution.within(host.config.permissions.ask_timeout_ms, () =>
      ask(
        {
          ...request,
          tool_name: call.tool_name,
          tool_call_id: call.tool_call_id,
        },
        {
          signal: call.signal,
        },
      ),
    );
    const [waited] = await Promise.all([
      execution.waitForPerson(asked),
      notifyHooks(host, call, "elicitation", request.message),
    ]);
    return waited.kind === "answered" ? readElicitation(waited.value) : { action: "decline" };
  }
}

function hookAbout(host: RunBase, call: Call) {
  const { tool_call_id, tool_name } = call;
  return { session_id: host.identity.session_id, tool_call_id, tool_name };
}

/** Whatever is not a clear yes with content is a no. */
function readElicitation(given: unknown): ElicitationAnswer {
  const { action, content } = (typeof given === "object" && given !== null ? given : {}) as {
    action?: unknown;
    content?: unknown;
  };
  if (action === "accept") {
    return typeof content === "object" && content !== null && !Array.isArray(content)
      ? { action, content: content as JsonObject }
      : { action };
  }
  return { action: action === "cancel" ? "cancel" : "decline" };
}
