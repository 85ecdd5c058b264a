// What machines with one database say to each other through it: who works, what a session's holder is to do, and that there is
// something new to look at.

export interface ClusterStorage {
  /** How far this machine's clock is ahead of the database's, in milliseconds. */
  clockOffsetMs(): Promise<number>;
  /** Registers a worker, or says that it is still there and what it does. Answers with what is wanted of it. */
  reportWorker(worker: WorkerReport): Promise<{ readonly draining: boolean }>;
  removeWorker(worker_id: string): Promise<void>;
  /** Those seen within `seenWithinMs`, by pool and host. Default: one minute. */
  workers(options?: { readonly seenWithinMs?: number }): Promise<WorkerRecord[]>;
  /** It is to take nothing more. Undefined: there is no such worker. */
  drainWorker(worker_id: string): Promise<WorkerRecord | undefined>;
  /** From now on no worker begins what this call dispatched, and one that has begun it stops. */
  withdrawDispatch(dispatch: DispatchName, reason: string): Promise<void>;
  /** Why it was withdrawn. Undefined: it was not. `listen` says when: `dispatch/RUN_ID`. */
  readWithdrawal(dispatch: DispatchName): Promise<string | undefined>;
  /** The sessions that processes hold now, on any machine, longest held first. */
  holders(): Promise<SessionHolder[]>;
  /** For the process that holds the session now, and no later one. False: no one holds it. */
  send(session_id: string, command: SessionCommand): Promise<boolean>;
  /**
   * Commands for a session while it is held here, each once, until the function that is returned is called. They come at once,
   * or with a look every few seconds where the notice of one was lost.
   */
  onCommand(session_id: string, take: (command: SessionCommand) => void): () => void;
  /** Calls those who listen to this topic, on any machine, at most every 100 ms. Nothing fails when it cannot. */
  wake(topic: string): void;
  /**
   * Also called when the connection is made, or made again: something may have been missed. The store itself wakes
   * `facts/<session_id>` after a commit, `questions/<session_id>` and `questions` when one was asked, answered or settled,
   * `sessions` when a process has taken one or lets it go, and `worker/<worker_id>` when that worker is to drain.
   */
  listen(topic: string, woken: () => void): () => void;
}

export type SessionCommand =
  | { readonly kind: "abort"; readonly run_id?: string; readonly reason: string }
  | { readonly kind: "revoke"; readonly grant_id: string };

export interface SessionHolder {
  readonly session_id: string;
  readonly pid: number;
  readonly host: string;
  /** By that machine's clock. */
  readonly since: string;
  readonly project?: string;
  /** Those that have not ended. */
  readonly runs: readonly {
    readonly run_id: string;
    readonly agent_id: string;
    readonly role?: string;
    readonly started_at: string;
  }[];
}

/** The call of a run that dispatched something. */
export interface DispatchName {
  readonly run_id: string;
  readonly tool_call_id: string;
}

export interface WorkerReport {
  /** Of one process: a restarted one has another, or another `started_at`. */
  readonly worker_id: string;
  readonly pool: string;
  readonly host: string;
  readonly pid: number;
  /** Of Soong. */
  readonly version: string;
  /** How many steps it executes at once. */
  readonly concurrency: number;
  readonly started_at: string;
  readonly doing: readonly WorkerStep[];
  /** Steps that were given to it lately and that it cannot execute. */
  readonly declined?: readonly DeclinedStep[];
}

/** A step that a worker executes. */
export interface WorkerStep {
  readonly task_id: string;
  readonly step_id: string;
  readonly since: string;
  /** The session it has for that, once there is one. */
  readonly session_id?: string;
}

/** Of one dispatch: what the next one asks for may be another thing. */
export interface DeclinedStep
  extends Pick<WorkerStep, "task_id" | "step_id" | "since">, DispatchName {
  /** A sentence that continues "because". */
  readonly why: string;
}

export interface WorkerRecord extends WorkerReport {
  /** By the database's clock. */
  readonly seen_at: string;
  readonly draining: boolean;
}
