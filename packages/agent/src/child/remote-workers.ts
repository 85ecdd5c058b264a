// Workers that are processes of their own, on any machine (DIST-1): what a dispatch says to them, and what comes back.

import { createHash } from "node:crypto";
import type { ToolGrant } from "@soong/core";
import type { TaskCaller } from "@soong/tasks";
import type { UsageTotal } from "../loop/index.ts";
import type { AgentDefinition } from "./agent-catalog.ts";
import type { ChildResult } from "./child-result.ts";

/** As it is written into a job. */
export interface RemoteWork {
  readonly pool: string;
  readonly task_id: string;
  readonly step_id: string;
  readonly agent_definition_id: string;
  /** Of the definition as the dispatcher has it: a worker with another one does not take the work. */
  readonly definition_digest: string;
  readonly instructions?: string;
  /** Default: the tools of the role. */
  readonly allowed_tools?: readonly string[];
  /** A reference that the worker's own config has to know. */
  readonly model?: string;
  /** The call that waits for it: its run's policy is the worker's ceiling (PERM-12). */
  readonly from: RemoteOrigin;
}

export interface RemoteOrigin {
  readonly session_id: string;
  readonly run_id: string;
  readonly agent_id: string;
  readonly tool_call_id: string;
}

/** The run that has claimed the step. */
export interface RemoteChild {
  readonly session_id: string;
  readonly run_id: string;
  readonly agent_id: string;
  /** Such as `builders@host/1`. */
  readonly worker: string;
}

export interface RemoteEnd {
  /** Undefined where no worker has had it. */
  readonly child: RemoteChild | undefined;
  /** Of the child's session, when its run had ended. */
  readonly head_hash?: string;
  readonly result: Pick<ChildResult, "status" | "usage" | "reason" | "turns" | "error">;
  readonly answer: string;
}

export interface RemoteWatch {
  /** Who dispatches, to look at the task. */
  readonly caller: TaskCaller;
  readonly signal: AbortSignal;
  /** How long a worker may take to begin. */
  readonly startWithinMs: number;
  /** What was allowed for the dispatching session, as it is now: it answers what the worker asks. Never sent anywhere. */
  grants(): readonly ToolGrant[];
  /** The project directory that the grants are about. */
  readonly project: string | undefined;
  /** A run has claimed it; another one, if the first was lost. */
  onClaimed(child: RemoteChild): void;
  /** What it has used since the last time. A sentence: its run is to be stopped, because no more may be used. */
  onUsed(used: UsageTotal): string | undefined;
  /** A run that had claimed it ended without a result; `onClaimed` may not have been called for it. Called once for each. */
  onLost(child: RemoteChild, usage: UsageTotal): void;
  /** For the user who waits. */
  onWaiting(message: string): void;
}

/** Settles when the step has come to rest. */
export interface RemoteWorkers {
  dispatch(work: RemoteWork, watch: RemoteWatch): Promise<RemoteEnd>;
}

/** Where it was written does not matter, nor where its rules were. */
export function digestDefinition({ origin: _origin, rules, ...rest }: AgentDefinition): string {
  const said = rules?.map(({ origin: _place, ...rule }) => rule);
  return createHash("sha256")
    .update(JSON.stringify({ ...rest, rules: said }))
    .digest("hex");
}
