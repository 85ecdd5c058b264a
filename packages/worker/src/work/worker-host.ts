// What a worker process gives to its work: stores, agents, models, tools, sessions.

import type { Agents, LoopLimits, Model, ToolProvider } from "@soong/agent";
import type { Session, SessionDispatch } from "@soong/core";
import type { Store } from "@soong/store";
import type { ClaimKeeper, Tasks } from "@soong/tasks";
import type { Guard } from "../dispatch/index.ts";
import type { MachinePlaces } from "./move-policy.ts";

export interface WorkerHost {
  readonly store: Store;
  readonly tasks: Tasks;
  readonly keeper: ClaimKeeper;
  readonly agents: Agents;
  readonly models: readonly [Model, ...Model[]];
  readonly limits: LoopLimits;
  readonly toolProvider?: ToolProvider | undefined;
  readonly places: MachinePlaces;
  /** The hooks of its sessions that can stop or change calls. */
  readonly guards: readonly Guard[];
  /** Resolves an alias to the name of its tool. */
  canonicalTool(name: string): string;
  /** The tools of a worker if its job names none. */
  defaultTools(): readonly string[];
  /** Whether a tool of this name or alias is registered now. */
  hasTool(name: string): boolean;
  /** Throws if this machine has no such model. */
  checkModel(reference: string): Promise<unknown>;
  /** Opens a session for one step. */
  openSession(about: {
    readonly title: string;
    readonly dispatchedBy: SessionDispatch;
  }): Promise<WorkerSession>;
  /** Prints a line for the user of the worker. */
  report(line: string): void;
}

export interface WorkerSession {
  readonly session: Session;
  /** Calls `listener` when a user wants to end the runs of this session. */
  onAbort(listener: (reason: string) => void): () => void;
  /** Aborts when the session is lost: another process may have it. */
  readonly lost: AbortSignal;
  close(): Promise<void>;
}
