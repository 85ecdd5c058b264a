// What the dispatching run has on record of a worker on another machine: which session and run it is, and how that ended. The
// facts of its work are in its own session.

import type { FactData, ToolContext } from "@soong/core";
import { omitUndefined } from "@soong/schema";
import type { ActiveRun, UsageTotal } from "../loop/index.ts";
import { extractFindings, extractSummary, type ChildResult } from "./child-result.ts";
import type { RemoteChild, RemoteEnd, RemoteWork } from "./remote-workers.ts";
import { END_FACTS, type AgentParts } from "./run-child.ts";

export interface RemoteChildRecord {
  created(child: RemoteChild): void;
  /** It ended without a result. */
  lost(child: RemoteChild, usage: UsageTotal): void;
  ended(end: RemoteEnd): ChildResult;
}

export function recordRemoteChild(
  parts: AgentParts,
  active: ActiveRun,
  context: ToolContext,
  work: RemoteWork,
): RemoteChildRecord {
  const { run } = active;
  const { pool, task_id, step_id, agent_definition_id } = work;
  const call = { tool_call_id: context.toolCallId, tool_name: context.toolName };
  const recorded = new Set<string>();

  return {
    created,
    lost(child, usage) {
      const error = { code: "worker_lost", message: "It ended without a result." };
      recordEnd({
        child,
        result: { status: "failed", usage, reason: "aborted_tools", turns: usage.requests, error },
        answer: "",
      });
    },
    ended: recordEnd,
  };

  function recordEnd({ child, head_hash, result, answer: said }: RemoteEnd): ChildResult {
    if (child !== undefined) created(child);
    // Its own run has redacted it with the secrets of its machine; this one has others.
    const answer = run.redactor.text(said);
    const { run_id = "", agent_id = "" } = child ?? {};
    const role = "worker" as const;
    const whole: ChildResult = {
      ...result,
      summary: extractSummary(answer),
      findings: extractFindings(answer),
      artifacts: [],
      agent_id,
      run_id,
      agent_definition_id,
      role,
    };
    if (child === undefined) return whole;
    const { agent_id: _agent, run_id: _run, artifacts: _artifacts, ...rest } = whole;
    const data = { ...describe(child), ...rest, artifacts: [] };
    run.recorder.record(END_FACTS[result.status], omitUndefined({ ...data, head_hash }), call);
    return whole;
  }

  function created(child: RemoteChild): void {
    const { agent_id, run_id, worker } = child;
    if (recorded.has(run_id)) return;
    recorded.add(run_id);
    const data: FactData<"agent.child.created"> = {
      ...describe(child),
      agent_definition_id,
      role: "worker",
      mode: run.surface.mode,
      task: `Step ${step_id} of task ${task_id}`,
      tools: work.allowed_tools ?? [],
      models: work.model === undefined ? [] : [work.model],
      timeout_ms: parts.childTimeoutMs,
    };
    run.recorder.record("agent.child.created", data, call);
    const dispatched = { pool, worker, task_id, step_id, agent_id, run_id };
    run.recorder.record("worker.dispatched", dispatched, call);
  }

  function describe({ session_id, run_id, agent_id, worker }: RemoteChild) {
    return {
      child_agent_id: agent_id,
      child_run_id: run_id,
      child_session_id: session_id,
      pool,
      worker,
      task_id,
      step_id,
    };
  }
}
