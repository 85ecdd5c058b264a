// A question from inside a tool (MCP-5, HOOK-6): hooks first, then the user, else declined.

import { asRecord, isJsonObject } from "@soong/schema";
import { runHook, type HookPorts } from "../hook/run-hooks.ts";
import type { GivenUp, Waited } from "../journal/index.ts";
import type { ElicitationAnswer, ElicitationRequest } from "../tool/index.ts";
import type { AcceptedCall } from "./call.ts";
import { hookPorts, hookSubject, notifyHooks } from "./call-hooks.ts";

/** The handler at work: waiting inside it must not outlast it. */
export interface ElicitingExecution {
  waitForUser<T>(answer: Promise<T>): Promise<T>;
  within<T>(ms: number | undefined, work: () => T | PromiseLike<T>): Promise<Waited<T> | GivenUp>;
}

export async function elicit(
  call: AcceptedCall,
  request: ElicitationRequest,
  execution: ElicitingExecution,
): Promise<ElicitationAnswer> {
  const { hooks, identity, recorder, redactor } = call.run;
  const { tool_call_id, tool_name } = call;
  const payload = { session_id: identity.session_id, tool_call_id, tool_name, request };
  const wait: HookPorts["wait"] = (ms, work) => execution.within(ms, work);
  const ports: HookPorts = { ...hookPorts(call), wait };
  let answer: ElicitationAnswer | undefined;
  for (const hook of hooks.matching("Elicitation", hookSubject(call))) {
    const outcome = await runHook(hook, "Elicitation", payload, ports, call);
    const { action, content } = outcome.ok ? outcome.answer : {};
    if (action === undefined || action === "pass") continue;
    answer = content === undefined ? { action } : { action, content };
    break;
  }
  answer ??= await askPerson(call, request, execution);
  for (const hook of hooks.matching("ElicitationResult", hookSubject(call))) {
    await runHook(hook, "ElicitationResult", { ...payload, answer }, ports, call);
  }
  const { mode } = request;
  const message = redactor.text(request.message);
  recorder.record("mcp.server.elicitation", { message, mode, action: answer.action }, call);
  return answer;
}

async function askPerson(
  call: AcceptedCall,
  request: ElicitationRequest,
  execution: ElicitingExecution,
): Promise<ElicitationAnswer> {
  const { elicit: ask, config } = call.run;
  if (ask === undefined || call.given.made_by === "runtime") return { action: "decline" };
  const { tool_call_id, tool_name, signal } = call;
  const asked = execution.within(config.permissions.ask_timeout_ms, () =>
    ask({ ...request, tool_name, tool_call_id }, { signal }),
  );
  const [waited] = await Promise.all([
    execution.waitForUser(asked),
    notifyHooks(call, "elicitation", request.message),
  ]);
  return waited.kind === "answered" ? readElicitation(waited.value) : { action: "decline" };
}

/** Anything but a clear yes with content is a no. */
function readElicitation(given: unknown): ElicitationAnswer {
  const { action, content } = asRecord(given);
  if (action === "accept") return isJsonObject(content) ? { action, content } : { action };
  return { action: action === "cancel" ? "cancel" : "decline" };
}
