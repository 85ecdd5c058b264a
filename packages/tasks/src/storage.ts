// Where tasks are kept, as a port: `store.tasks()` of `@soong/store` is one, `createMemoryTasks()` another. It keeps
// rows and finds them again; their meaning and their transitions are decided in this package.

import type { JsonObject } from "@soong/core";

export interface TaskStorage {
  /**
   * One transaction: what is selected is loaded, the plan is made of it, and all it wants written is written. No
   * one else changes these rows meanwhile. A plan touches nothing, may be made more than once, and when it throws nothing
   * is written.
   */
  change<Answer>(
    selection: TaskSelection,
    plan: (found: FoundRows) => PlannedChange<Answer>,
  ): Promise<Answer>;
  /** As of one moment, also while others change it. */
  read(selection: TaskSelection): Promise<FoundRows>;
  /** Newest first. */
  list(page: TaskPage): Promise<StoredTask[]>;
}

/** Which rows to load, as data. Steps are the union of all that is asked for, each once, by position. */
export interface TaskSelection {
  readonly task_id: string;
  readonly steps?: "all" | readonly string[];
  /** Also the steps that depend on those named in `steps`. */
  readonly with_dependents?: boolean;
  /** Pages of the task's steps by status. */
  readonly with_status?: readonly StatusPage[];
  /** Steps whose lease had run out by then, in milliseconds since the epoch; by now, if the storage has a clock of its own. */
  readonly leases_until?: number;
  /** Steps this run has claimed, of any task. */
  readonly claims_of?: string;
  /** How many steps of the task have which status. */
  readonly counts?: boolean;
  /** How many tasks this session has. */
  readonly tasks_of_session?: string;
}

export interface StatusPage {
  /** Default: any. */
  readonly statuses?: readonly string[];
  /** Only steps that come later. */
  readonly after_position?: number;
  readonly limit: number;
}

export interface FoundRows {
  readonly task?: StoredTask;
  readonly steps: readonly StoredStep[];
  readonly counts?: Readonly<Record<string, number>>;
  readonly session_tasks?: number;
  /** By the clock of the storage, in milliseconds since the epoch, if it has one: leases are judged by it alone. */
  readonly now?: number;
}

export interface PlannedChange<Answer> {
  readonly answer: Answer;
  /** Put in the place of the one with its id, or added. */
  readonly task?: StoredTask;
  readonly steps?: readonly StepWrite[];
  readonly removed_steps?: readonly string[];
}

export interface StoredTask {
  readonly task_id: string;
  readonly session_id: string;
  readonly status: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly content: JsonObject;
}

/** What changes as a step is worked on. */
export interface StepState {
  readonly task_id: string;
  /** Unique within its task. */
  readonly step_id: string;
  readonly position: number;
  readonly status: string;
  /** Of its dependencies, those that are not completed. */
  readonly open_dependencies: number;
  /** Of the run that holds it. */
  readonly run_id?: string;
  /** In milliseconds since the epoch. */
  readonly lease_expires_at?: number;
  readonly state: JsonObject;
}

/** What it is; may be long, and is written only when the plan of a task changes. */
export interface StepDefinition {
  readonly depends_on: readonly string[];
  readonly content: JsonObject;
}

export interface StoredStep extends StepState {
  readonly definition: StepDefinition;
}

/** Without a definition it keeps the one it has. */
export interface StepWrite extends StepState {
  readonly definition?: StepDefinition;
}

export interface TaskPage {
  /** Default: of all sessions. */
  readonly session_id?: string;
  readonly statuses?: readonly string[];
  readonly limit: number;
  /** The last task of the page before. */
  readonly after?: string;
}
