// Runs a handler (DEF-7, PIPE-5…7): with its own time, its progress, a way to be cancelled, and an end in
// every case. A handler that blocks the thread for ever is beyond anything in the same thread.

import { isThenable, within } from "../journal/index.ts";
import { readReturn, readThrown, type HandlerOutcome } from "../result/index.ts";
import { toolError, type ToolContext } from "../tool/index.ts";
import { toolOf, type Call, type Cancellation, type Ending } from "./call.ts";
import { CallContext, type HandlerTraces } from "./context.ts";
import type { Gate } from "./gate.ts";
import type { CallHost } from "./host.ts";
import { Stopwatch } from "./stopwatch.ts";

/** After this many yields without a pause, other work gets its turn: a generator may yield for ever. */
const YIELDS_IN_A_ROW = 64;

export function executeCall(host: CallHost, call: Call, gate: Gate): Ending | Promise<Ending> {
  const { definition } = toolOf(call);
  const execution: Execution = {
    host,
    call,
    watch: new Stopwatch(host, timeoutOf(host, call), gate),
    traces: { over: false, cleanups: undefined, progress: undefined, partial: undefined },
  };
  const context = new CallContext(host, call, execution.watch, execution.traces);
  let returned: unknown;
  try {
    returned = definition.handler(call.input, context);
    // A plain value, as most small tools return, has nothing to wait for.
    if (!isThenable(returned) && !isAsyncGenerator(returned)) {
      return executed("succeeded", readReturn(returned));
    }
  } catch (error) {
    return executed("failed", readThrown(error));
  }
  return settle(execution, context, returned);
}

interface Execution {
  readonly host: CallHost;
  readonly call: Call;
  readonly watch: Stopwatch;
  readonly traces: HandlerTraces;
}

/** Whichever comes first: the handler's end, its time, or a cancellation. */
function settle(execution: Execution, context: ToolContext, returned: unknown): Promise<Ending> {
  const { host, call, watch, traces } = execution;
  return new Promise((resolve) => {
    const generator = isAsyncGenerator(returned) ? returned : undefined;
    const cutShort = (cut: CutShort): void => {
      if (!close(execution)) return;
      if (generator !== undefined) void giveUp(generator);
      resolve(afterCleanUp(execution, cut));
    };
    call.onCancel = () => {
      const { cancellation } = call;
      if (cancellation !== undefined) cutShort({ kind: "cancelled", cancellation });
    };
    if (call.cancellation !== undefined) call.onCancel();
    watch.start(() => cutShort({ kind: "timed_out", ms: watch.limit }));
    const value = generator === undefined ? returned : drain(host, context, traces, generator);
    ownPromise(value).then(
      (result) => {
        if (close(execution)) resolve(executed("succeeded", readReturn(result)));
        else late(execution, "returned");
      },
      (error: unknown) => {
        if (close(execution)) resolve(executed("failed", readThrown(error)));
        else late(execution, "threw");
      },
    );
  });
}

type CutShort =
  | { kind: "timed_out"; ms: number }
  | { kind: "cancelled"; cancellation: Cancellation };

/** False when the call had ended before. */
function close({ traces, watch }: Execution): boolean {
  if (traces.over) return false;
  traces.over = true;
  watch.stop();
  traces.progress?.close();
  return true;
}

/** A promise we can trust: a foreign `then` may throw, or call back more than once. */
function ownPromise(value: unknown): Promise<unknown> {
  return value instanceof Promise && value.constructor === Promise
    ? value
    : new Promise((take) => {
        take(value);
      });
}

/** Too late to count: the call has ended without it (PIPE-5). */
function late({ host, call }: Execution, how: string): void {
  try {
    host.recorder.record("tool.late", { how }, call, "warn");
  } catch {
    // The session is over or its journal broken: there is nobody left to tell.
  }
}

async function afterCleanUp({ host, call, traces }: Execution, cut: CutShort): Promise<Ending> {
  if (cut.kind === "timed_out") call.abort.abort(new Error(`timed out after ${cut.ms} ms`));
  await cleanUp(host, traces);
  return endingOf(call, traces, cut);
}

/** Its own clean-up (a process tree, a connection), bounded: the call ends either way. */
async function cleanUp(host: CallHost, { cleanups }: HandlerTraces): Promise<void> {
  if (cleanups === undefined) return;
  await within(host.clock, host.config.tools.cancel_grace_ms, () =>
    Promise.allSettled(cleanups.map(async (cleanup) => cleanup())),
  );
}

function endingOf(call: Call, { partial }: HandlerTraces, cut: CutShort): Ending {
  const kept = partial?.result().text;
  const content = kept === undefined ? [] : [{ type: "text" as const, text: kept }];
  if (cut.kind === "cancelled") {
    const { status, error } = cut.cancellation;
    return { status, executed: true, outcome: { status: "failed", content, artifacts: [], error } };
  }
  const error = toolError({
    code: "timed_out",
    error_class: "timeout",
    message: `${call.tool_name} did not end within ${cut.ms} ms and was stopped.`,
    retryable: true,
    recovery: "retry",
  });
  return {
    status: "timed_out",
    executed: true,
    outcome: { status: "failed", content, artifacts: [], error },
  };
}

async function drain(
  host: CallHost,
  context: ToolContext,
  traces: HandlerTraces,
  generator: AsyncGenerator<unknown, unknown>,
): Promise<unknown> {
  for (let count = 1; ; count += 1) {
    const step = await generator.next();
    if (step.done === true) return step.value;
    if (traces.over) return undefined;
    context.progress(readProgress(step.value));
    if (count % YIELDS_IN_A_ROW === 0)
      await new Promise<void>((go) => {
        host.clock.after(0, go);
      });
  }
}

function executed(status: "succeeded" | "failed", outcome: HandlerOutcome): Ending {
  return {
    status: status === "succeeded" ? outcome.status : status,
    outcome,
    executed: true,
  };
}

/** PIPE-5. The model chooses only where the tool lets it, and never above the maximum. */
function timeoutOf(host: CallHost, call: Call): number {
  const { definition, source } = toolOf(call);
  if (definition.starts_agent === true && source.kind === "agent") {
    return host.config.agents.child_timeout_ms;
  }
  const { default_timeout_ms, max_timeout_ms } = host.config.tools;
  let asked: unknown;
  try {
    asked = definition.timeoutFor?.(call.input);
  } catch {
    asked = undefined;
  }
  const chosen = typeof asked === "number" && asked > 0 ? asked : definition.timeout_ms;
  return Math.min(chosen ?? default_timeout_ms, max_timeout_ms);
}

function isAsyncGenerator(value: unknown): value is AsyncGenerator<unknown, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const given = value as Partial<AsyncGenerator>;
  return typeof given.next === "function" && typeof given[Symbol.asyncIterator] === "function";
}

async function giveUp(generator: AsyncGenerator<unknown, unknown>): Promise<void> {
  try {
    await generator.return(undefined);
  } catch {
    // It was told to stop; what it says about that is of no use to anybody.
  }
}

function readProgress(given: unknown): Parameters<ToolContext["progress"]>[0] {
  if (typeof given === "string") return { message: given };
  return typeof given === "object" && given !== null ? given : {};
}
