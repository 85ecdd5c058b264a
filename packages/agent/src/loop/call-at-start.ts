// A call the runtime makes before the first model request (MEM-4): through the whole pipeline, within a short time, and only
// where no one has to be asked. What keeps it from an answer is on record, and the run continues.

import type { Explanation, JsonObject, ToolCall, ToolResult, Turn } from "@soong/core";
import { recordFact, type Running } from "./running.ts";

/** A user waits for the first answer: a server that needs longer is not waited for. */
const MOST_MS = 10_000;

export interface CallAtStart {
  /** Undefined where there is none to use. */
  readonly result?: ToolResult;
  readonly stopped?: Turn["stopped"];
}

export async function callAtStart(
  running: Running,
  name: string,
  input: JsonObject,
): Promise<CallAtStart> {
  const { run, control, clock, log } = running;
  const call: ToolCall = { name, arguments: input, made_by: "runtime" };
  const explained = await run.explain(call);
  if (control.aborted !== undefined) return {};
  if (explained.outcome !== "allow") {
    recordUncalled(running, name, explained);
    return {};
  }
  // With the prompt: a call that ends before it is on record would be taken for the root of the conversation.
  recordFact(running, "memory.recall.started", { at: "start", tool_name: name });
  const turn = run.openTurn();
  control.turn = turn;
  const tool_call_id = turn.push(call);
  const shown = JSON.stringify(explained.observable_input);
  log.add({ type: "call", tool_call_id, name, arguments: shown });
  turn.end();
  const forget = clock.after(MOST_MS, () => {
    void turn.abort(`it gave no answer within ${MOST_MS} ms, before the first model request`);
  });
  const [result] = await turn.settled().finally(forget);
  control.turn = undefined;
  const { stopped } = turn;
  if (result === undefined || control.aborted !== undefined) return { stopped };
  log.add({ type: "result", result });
  if (!result.is_error) return { result, stopped };
  recordFailure(running, name, `${result.status}: ${result.error?.message ?? "no reason given"}`);
  return { stopped };
}

function recordUncalled(
  running: Running,
  tool_name: string,
  explained: Exclude<Explanation, { outcome: "allow" }>,
): void {
  if (explained.outcome !== "refused") {
    const { outcome, reason } = explained as { outcome: "ask" | "deny"; reason: string };
    skip(outcome === "ask" ? `it requires approval (${reason})` : `it is denied (${reason})`);
  } else if (explained.error.error_class === "policy_blocked") skip(explained.error.message);
  else recordFailure(running, tool_name, explained.error.message);

  function skip(reason: string): void {
    recordFact(running, "memory.recall.skipped", { at: "start", tool_name, reason });
  }
}

function recordFailure(running: Running, tool_name: string, why: string): void {
  const message = `The memory ${tool_name} could not be recalled at the start of the run: ${why}`;
  recordFact(running, "error", { code: "memory_not_recalled", message, tool_name }, "warn");
}
