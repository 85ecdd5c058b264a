// What a drive of a task is given, what it reports, and how it ends.

import type { Clock, IdSource, Session } from "@soong/core";
import type { StepRecord, StepStatus, Tasks } from "@soong/tasks";
import type { Agents } from "../child/agents.ts";
import type { LoopLimits, ToolProvider } from "../loop/index.ts";
import type { Model } from "../model/index.ts";

export interface DriveOptions {
  /** The one the task belongs to. */
  readonly session: Session;
  readonly task_id: string;
  /** With worker pools, and a kernel that has its tools. */
  readonly agents: Agents;
  readonly tasks: Tasks;
  /** For workers whose pool and definition name none. */
  readonly models: readonly [Model, ...Model[]];
  /** Names of pools. Default: all. */
  readonly pools?: readonly string[];
  readonly system?: readonly string[];
  readonly limits?: Partial<LoopLimits>;
  readonly toolProvider?: ToolProvider;
  /** Stops the workers and gives their steps back; what was finished stays finished. */
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: DriveEvent) => void;
  /** What the workers of an earlier drive wait for, in words, by step: that drive has ended, and cannot report it. */
  readonly describeWaits?: (
    steps: readonly StepRecord[],
  ) => Promise<ReadonlyMap<string, readonly string[]>>;
  readonly clock?: Clock;
  readonly ids?: IdSource;
}

export type DriveEvent =
  | {
      readonly kind: "dispatched";
      readonly step_id: string;
      readonly title: string;
      readonly worker: string;
      readonly attempt: number;
    }
  | {
      /** A step of a remote worker; at once, and whenever it waits for something else. */
      readonly kind: "waiting";
      readonly step_id: string;
      readonly worker: string;
      readonly message: string;
    }
  | {
      readonly kind: "step_ended";
      readonly step_id: string;
      /** The one that had the step, with its host where that is another process; else the one it was given to. */
      readonly worker: string;
      /** As the task has it now: a step that is ready will be tried again. */
      readonly status: StepStatus;
      readonly summary: string;
      /** How many steps are completed, and how many there are. */
      readonly completed: number;
      readonly of_steps: number;
    }
  | {
      readonly kind: "retried";
      readonly step_id: string;
      readonly attempts: number;
      readonly max_attempts: number;
    };

/**
 * `completed`, `failed`, `cancelled`: how the task ended. `blocked`: it continues when what blocks it is removed. `stuck`: no
 * worker can be put to work.
 */
export interface DriveEnd {
  readonly kind: "completed" | "failed" | "cancelled" | "blocked" | "stuck" | "aborted";
  readonly reason: string;
}
