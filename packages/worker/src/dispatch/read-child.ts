// The end of a dispatch: read from the session of the worker, or made where there is none.

import {
  readEndUsage,
  readMessage,
  sumUsage,
  type EndReason,
  type RemoteChild,
  type RemoteEnd,
  type UsageTotal,
} from "@soong/agent";
import type { ConversationNode, Fact } from "@soong/core";
import type { RunRecord, Store } from "@soong/store";
import type { StepRecord } from "@soong/tasks";

/** Undefined while the run is under way. */
export async function readChildEnd(
  store: Store,
  run: RunRecord,
): Promise<Pick<RemoteEnd, "result" | "answer" | "head_hash"> | undefined> {
  if (run.status === "running" || run.status === "queued") return undefined;
  const reader = await store.readSession(run.session_id);
  const ends = await store.lastFacts([run.session_id]);
  const fact = ends.find(({ run_id }) => run_id === run.run_id);
  const { head_hash } = await reader.record();
  const path = await reader.activePath(run.agent_id);
  return { result: readResult(fact, run), answer: readAnswer(path, run.run_id), head_hash };
}

function readResult(fact: Fact | undefined, run: RunRecord): RemoteEnd["result"] {
  const { reason = run.status, turns = 0, error, message } = (fact?.data ?? {}) as EndData;
  const usage = (fact && readEndUsage(fact)) ?? sumUsage([]);
  const status =
    run.status === "completed" ? "completed" : run.status === "aborted" ? "cancelled" : "failed";
  if (status === "completed") return { status, usage, reason: reason as EndReason, turns };
  const why = error?.message ?? message ?? `its run ended as ${run.status}`;
  return {
    status,
    usage,
    reason: reason as EndReason,
    turns,
    error: { code: error?.code ?? status, message: why },
  };
}

interface EndData {
  readonly reason?: string;
  readonly turns?: number;
  readonly message?: string;
  readonly error?: { readonly code?: string; readonly message?: string };
}

/** The text of the last message of the model. */
function readAnswer(path: readonly ConversationNode[], run_id: string): string {
  const said = path.filter((node) => node.run_id === run_id).map(readMessage);
  const last = said.findLast((message) => message?.role === "assistant");
  return last?.role === "assistant" ? last.text : "";
}

export function toChild(
  { session_id, run_id, agent_id }: RunRecord,
  worker = "a worker",
): RemoteChild {
  return { session_id, run_id, agent_id, worker };
}

export function nothingDone(step: StepRecord | undefined): RemoteEnd["result"] {
  const message = step === undefined ? "the step is gone" : `the step is ${step.status}`;
  return {
    status: "failed",
    usage: sumUsage([]),
    reason: "aborted_tools",
    turns: 0,
    error: { code: "worker_lost", message },
  };
}

export function endExceeded(child: RemoteChild, message: string, usage: UsageTotal): RemoteEnd {
  const error = { code: "budget", message };
  const result = {
    status: "failed",
    usage,
    reason: "failed",
    turns: usage.requests,
    error,
  } as const;
  return { child, result, answer: "" };
}
