// The front door: a registry, a clock, and sessions on them.

import {
  kernelConfig,
  searchToolsDefinition,
  type ConfigInput,
  type DeferredTools,
  type KernelConfig,
} from "./call/index.ts";
import { randomIds, systemClock, type Clock, type IdSource } from "./journal/index.ts";
import { createRegistry, type Registry, type ToolSource } from "./registry/registry.ts";
import { RunPolicies } from "./run-policy.ts";
import { RunStarts } from "./run-start.ts";
import { runKey, type Run, type RunOptions } from "./run.ts";
import { openSession, type KernelParts, type Session, type SessionOptions } from "./session.ts";
import type { AnyTool, ToolContext } from "./tool/index.ts";

export interface KernelOptions {
  /** Tools from code. */
  readonly tools?: readonly AnyTool[];
  /** Put before names of these that have no dot: `get_weather` is registered as `app.get_weather`. Default: `app`. */
  readonly namespace?: string;
  /** Tools from anywhere else. */
  readonly sources?: readonly ToolSource[];
  readonly config?: ConfigInput;
  readonly clock?: Clock;
  readonly ids?: IdSource;
}

export interface Kernel {
  readonly registry: Registry;
  readonly config: KernelConfig;
  openSession(options?: SessionOptions): Promise<Session>;
  /** A session with one run, for programs that need no more. */
  startRun(options?: SessionOptions & RunOptions): Promise<Run & { readonly session: Session }>;
}

/** The kernel: register tools, open sessions, start runs. */
export function createKernel(options: KernelOptions = {}): Kernel {
  const registry = createRegistry({ namespace: options.namespace });
  const runs = new Map<string, DeferredTools>();
  registry.open({
    id: "kernel",
    kind: "internal",
    tools: [searchToolsDefinition((context) => findDeferred(runs, context))],
  });
  if (options.tools !== undefined) registry.register(options.tools);
  for (const source of options.sources ?? []) registry.open(source);
  const config = kernelConfig(options.config);
  const clock = options.clock ?? systemClock();
  const parts: KernelParts = {
    config,
    registry,
    clock,
    ids: options.ids ?? randomIds(),
    runs,
    policies: new RunPolicies(),
    starts: new RunStarts(registry, config, clock),
  };
  return {
    registry,
    config,
    openSession: (session) => openSession(parts, session),
    async startRun(both = {}) {
      // Rules given here are the session's: the run has them from there, once.
      const { policy: _session, ...ofRun } = both;
      const session = await openSession(parts, both);
      return Object.assign(await session.startRun(ofRun), { session });
    },
  };
}

function findDeferred(runs: KernelParts["runs"], { sessionId, runId }: ToolContext): DeferredTools {
  const deferred = runs.get(runKey(sessionId, runId));
  if (deferred === undefined) throw new Error(`run ${runId} has ended`);
  return deferred;
}
