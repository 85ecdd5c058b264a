// Runs a handler (DEF-7, PIPE-5…7): with its own time, its progress, a way to be cancelled, and an end in
// every case. A handler that blocks the thread for ever is beyond anything in the same thread.

import { beginWaiting, isThenable, within, type GivenUp, type Waited } from "../journal/index.ts";
import { readReturn, readThrown, type HandlerOutcome } from "../result/index.ts";
import {
  isPromise,
  toolError,
  type ArtifactRef,
  type ContentBlock,
  type ToolContext,
  type ToolError,
  type ToolStatus,
} from "../tool/index.ts";
import { abortOf, toolOf, type Call, type Ending } from "./call.ts";
import { CallContext, type HandlerTraces } from "./context.ts";
import type { Deadline } from "./deadlines.ts";
import type { Gate } from "./gate.ts";
import type { CallHost } from "./host.ts";
import type { PartialOutput } from "./partial-output.ts";
import type { Progress } from "./progress.ts";

/** After this many yields without a pause, other work gets its turn: a generator may yield for ever. */
const YIELDS_IN_A_ROW = 64;

export function executeCall(host: CallHost, call: Call, gate: Gate): Ending | Promise<Ending> {
  const { definition } = toolOf(call);
  const execution = new Execution(host, call, gate, timeoutOf(host, call));
  let returned: unknown;
  try {
    returned = definition.handler(call.input, new CallContext(host, call, execution));
    // A plain value, as most small tools return, has nothing to wait for.
    if (!isThenable(returned) && !isAsyncGenerator(returned)) {
      execution.close();
      return executed(readReturn(returned));
    }
  } catch (error) {
    execution.close();
    return executed(readThrown(error));
  }
  return execution.settle(returned);
}

/** One handler at work. It ends with whichever comes first: its own end, its time, a cancellation. */
class Execution implements HandlerTraces, Deadline {
  over = false;
  progress: Progress | undefined;
  partial: PartialOutput | undefined;
  artifacts: ArtifactRef[] | undefined;
  at = Number.POSITIVE_INFINITY;
  readonly #host: CallHost;
  readonly #call: Call;
  readonly #gate: Gate;
  readonly #limit: number;
  #remaining: number;
  #pauses = 0;
  #cleanups: (() => void | Promise<void>)[] | undefined;
  /** Questions that are open; they end with the handler. */
  #questions: Set<() => void> | undefined;
  #isCutShort = false;
  #generator: AsyncGenerator<unknown, unknown> | undefined;
  #resolve: ((end: Ending | Promise<Ending>) => void) | undefined;

  constructor(host: CallHost, call: Call, gate: Gate, limit: number) {
    this.#host = host;
    this.#call = call;
    this.#gate = gate;
    this.#limit = limit;
    this.#remaining = limit;
  }

  settle(returned: unknown): Promise<Ending> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#call.waiter = this;
      if (this.#call.cancellation !== undefined) this.cancelled();
      if (this.#pauses === 0 && !this.over) this.#runClock();
      if (isAsyncGenerator(returned)) this.#generator = returned;
      const value = this.#generator === undefined ? returned : this.#drain(this.#generator);
      ownPromise(value).then(
        (result) => {
          if (this.close()) resolve(executed(readReturn(result)));
          else this.#late("returned");
        },
        (error: unknown) => {
          if (this.close()) resolve(executed(readThrown(error)));
          else this.#late("threw");
        },
      );
    });
  }

  /** From then on nothing the handler says is heard. False when it was closed before. */
  close(): boolean {
    if (this.over) return false;
    this.over = true;
    this.#host.deadlines.remove(this);
    this.#closeProgress();
    this.#questions?.forEach((giveUp) => giveUp());
    if (!this.#isCutShort) this.partial?.discard();
    return true;
  }

  /** A journal that fails must not keep the call from ending; its result will say so. */
  #closeProgress(): void {
    try {
      this.progress?.close();
    } catch {
      // As above.
    }
  }

  onCancel(cleanup: () => void | Promise<void>): void {
    if (this.#isCutShort)
      void Promise.resolve()
        .then(cleanup)
        .catch(() => {});
    else if (!this.over) (this.#cleanups ??= []).push(cleanup);
  }

  async within<T>(
    ms: number | undefined,
    work: () => T | PromiseLike<T>,
  ): Promise<Waited<T> | GivenUp> {
    if (this.over) return { kind: "given_up" };
    const { done, giveUp } = beginWaiting(this.#host.clock, ms, work);
    const questions = (this.#questions ??= new Set());
    questions.add(giveUp);
    try {
      return await done;
    } finally {
      questions.delete(giveUp);
    }
  }

  expired(): void {
    const { tool_name } = this.#call;
    const error = toolError({
      code: "timed_out",
      error_class: "timeout",
      message: `${tool_name} did not end within ${this.#limit} ms and was stopped.`,
      retryable: true,
      recovery: "retry",
    });
    abortOf(this.#call).abort(new Error(error.message));
    this.#cutShort("timed_out", error);
  }

  cancelled(): void {
    const { cancellation } = this.#call;
    if (cancellation !== undefined) this.#cutShort(cancellation.status, cancellation.error);
  }

  /** The call's clock stands still while a person thinks (PIPE-6). */
  async waitForPerson<T>(answer: Promise<T>): Promise<T> {
    this.#pauses += 1;
    if (this.#pauses === 1 && this.#resolve !== undefined) {
      this.#host.deadlines.remove(this);
      this.#remaining = this.at - this.#host.clock.monotonic();
    }
    try {
      return await this.#gate.waitForPerson(answer);
    } finally {
      this.#pauses -= 1;
      if (this.#pauses === 0 && this.#resolve !== undefined && !this.over) this.#runClock();
    }
  }

  #runClock(): void {
    this.at = this.#host.clock.monotonic() + this.#remaining;
    this.#host.deadlines.add(this);
  }

  #cutShort(status: ToolStatus, error: ToolError): void {
    if (this.over) return;
    this.#isCutShort = true;
    this.close();
    if (this.#generator !== undefined) void giveUp(this.#generator);
    this.#resolve?.(this.#afterCleanUp(status, error));
  }

  /** Its own clean-up (a process tree, a connection), bounded: the call ends either way. */
  async #afterCleanUp(status: ToolStatus, error: ToolError): Promise<Ending> {
    const cleanups = this.#cleanups;
    if (cleanups !== undefined) {
      await within(this.#host.clock, this.#host.config.tools.cancel_grace_ms, () =>
        Promise.allSettled(cleanups.map(async (cleanup) => cleanup())),
      );
    }
    const content = (await this.partial?.keep()) ?? [];
    const artifacts = this.artifacts ?? [];
    content.push(...artifacts.map(artifactBlock));
    return { status, executed: true, outcome: { status: "failed", content, artifacts, error } };
  }

  async #drain(generator: AsyncGenerator<unknown, unknown>): Promise<unknown> {
    const { progress } = new CallContext(this.#host, this.#call, this);
    for (let count = 1; ; count += 1) {
      const step = await generator.next();
      if (step.done === true) return step.value;
      if (this.over) return undefined;
      progress(readProgress(step.value));
      if (count % YIELDS_IN_A_ROW === 0) {
        await new Promise<void>((go) => {
          this.#host.clock.after(0, go);
        });
      }
    }
  }

  /** Too late to count: the call has ended without it (PIPE-5). */
  #late(how: string): void {
    try {
      this.#host.recorder.record("tool.late", { how }, this.#call, "warn");
    } catch {
      // The session is over or its journal broken: there is nobody left to tell.
    }
  }
}

function artifactBlock({ artifact_id, media_type, size, name }: ArtifactRef): ContentBlock {
  const named = name === undefined ? {} : { name };
  return { type: "artifact_ref", artifact_id, media_type, size, ...named };
}

/** A promise we can trust: a foreign `then` may throw, or call back more than once. */
function ownPromise(value: unknown): Promise<unknown> {
  return isPlainPromise(value)
    ? value
    : new Promise((take) => {
        take(value);
      });
}

function isPlainPromise(value: unknown): value is Promise<unknown> {
  try {
    return (
      value instanceof Promise &&
      value.constructor === Promise &&
      !Object.hasOwn(value, "then") &&
      !Object.hasOwn(value, "constructor")
    );
  } catch {
    return false;
  }
}

function executed(outcome: HandlerOutcome): Ending {
  return { status: outcome.status, outcome, executed: true };
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
  if (isPromise(asked)) asked = undefined;
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
