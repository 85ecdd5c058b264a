// What a worker process works with.

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
  /** The name of a tool, of an alias the one it is for. */
  canonicalTool(name: string): string;
  /** What a worker has where a job names no tools. */
  defaultTools(): readonly string[];
  /** Whether there is such a tool now, by any of its names. */
  hasTool(name: string): boolean;
  /** Throws where this machine has no such model. */
  checkModel(reference: string): Promise<unknown>;
  /** A session of this process, for one step. */
  openSession(about: {
    readonly title: string;
    readonly dispatchedBy: SessionDispatch;
  }): Promise<WorkerSession>;
  /** What the user of the worker should know. */
  report(line: string): void;
}

export interface WorkerSession {
  readonly session: Session;
  /** Someone wants its runs ended. */
  onAbort(listener: (reason: string) => void): () => void;
  /** Another process may have it by now. */
  readonly lost: AbortSignal;
  close(): Promise<void>;
}
