// The active runs. The loop registers each run as it begins and removes it as it ends, so that a tool whose handler knows only
// the ids of its call finds the run behind them: its conversation, its models, what it may still spend.

import type { Clock, ConversationNode, IdSource, Run, RunOptions, Session } from "@soong/core";
import type { Model } from "../model/index.ts";
import type { LoopLimits } from "./limits.ts";
import type { ToolProvider } from "./tool-provider.ts";
import type { UsageTotal } from "./usage.ts";

export interface RunRegistry {
  /** After `run.started` and before the first request. What it throws ends the run. */
  add(active: ActiveRun): void;
  /** After the run's last fact. */
  remove(active: ActiveRun): void;
}

export interface ActiveRun {
  readonly session: Session;
  readonly run: Run;
  /** What the run was asked for with. */
  readonly options: RunOptions;
  readonly models: readonly [Model, ...Model[]];
  readonly system: readonly string[];
  /** As they were requested, before limits of its models apply. */
  readonly limits: LoopLimits;
  readonly toolProvider: ToolProvider | undefined;
  readonly agent_definition_id: string | undefined;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** What the run and all it started have used so far; one object for all of them, which each adds to. */
  readonly account: UsageTotal;
  /** Everything of a run that begins now comes after it in the journal. */
  readonly lastSeq: number;
  /** The conversation as it is now, root first. An answer is on it once it has been read whole. */
  path(): readonly ConversationNode[];
  /** Tools that were found and loaded so far. */
  loadedTools(): readonly string[];
}
