// Runs a handler (DEF-7, PIPE-5…7): with its own time, its progress, a way to be cancelled, and an end in
// every case. A handler that blocks the thread for ever is beyond anything in the same thread.

import { beginWaiting, within, type GivenUp, type Waited } from "../journal/index.ts";
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
import { toolOf, type Call, type Ending, type TurnControl } from "./call.ts";
import { CallContext, type HandlerHost, type HandlerTraces } from "./context.ts";
import type { Deadline, Deadlines } from "./deadlines.ts";
import type { PartialOutput } from "./partial-output.ts";
import type { Progress } from "./progress.ts";

/** After this many yields without a pause, other work gets its turn: a generator may yield for ever. */
const YIELDS_IN_A_ROW = 64;

type ExecutionHost = HandlerHost & { readonly deadlines: Deadlines };

export function executeCall(host: ExecutionHost, call: Call, turn: TurnControl): Promise<Ending> {
  return new Execution(host, call, turn).run();
}

/** One handler at work. It ends with whichever comes first: its own end, its time, a cancellation. */
class Execution implements HandlerTraces, Deadline {
  over = false;
  progress: Progress | undefined = undefined;
  partial: PartialOutput | undefined = undefined;
  artifacts: ArtifactRef[] | undefined = undefined;
  at = Number.POSITIVE_INFINITY;
  readonly #host: ExecutionHost;
  readonly #call: Call;
  readonly #turn: TurnControl;
  readonly #limit: number;
  #remaining: number;
  #pauses = 0;
  #cleanups: (() => void | Promise<void>)[] | undefined = undefined;
  /** Questions that are open; they end with the handler. */
  #questions: Set<() => void> | undefined = undefined;
  #isCutShort = false;
  #generator: AsyncGenerator<unknown, unknown> | undefined = undefined;
  #end: (end: Ending | Promise<Ending>) => void = () => {};

  constructor(host: ExecutionHost, call: Call, turn: TurnControl) {
    this.#host = host;
    this.#call = call;
    this.#turn = turn;
    this.#limit = timeoutOf(host, call);
    this.#remaining = this.#limit;
  }

  run(): Promise<Ending> {
    return new Promise((resolve) => {
      this.#end = resolve;
      this.at = this.#host.clock.monotonic() + this.#limit;
      // A promise of our own, because a foreign `then` may call back twice or throw.
      new Promise((take) => {
        take(this.#callHandler());
      }).then(
        (value) => {
          if (this.close()) resolve(executed(readReturn(value)));
          else this.#recordLate("returned");
        },
        (error: unknown) => {
          if (this.close()) resolve(executed(readThrown(error)));
          else this.#recordLate("threw");
        },
      );
      this.#call.waiter = this;
      // A handler that cancels its own call and has a value to return, returns it.
      if (this.#call.cancellation !== undefined)
        void Promise.resolve().then(() => this.cancelled());
      if (this.#pauses === 0) this.#host.deadlines.add(this);
    });
  }

  #callHandler(): unknown {
    const context = new CallContext(this.#host, this.#call, this);
    const returned: unknown = toolOf(this.#call).definition.handler(this.#call.input, context);
    if (!isAsyncGenerator(returned)) return returned;
    this.#generator = returned;
    return this.#drain(returned);
  }

  /** From then on the handler is ignored. False when it was closed before. */
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
    this.#call.abort(error.message);
    this.#cutShort("timed_out", error);
  }

  cancelled(): void {
    const { cancellation } = this.#call;
    if (cancellation !== undefined) this.#cutShort(cancellation.status, cancellation.error);
  }

  /** The call's clock stands still while a person thinks (PIPE-6). */
  async waitForPerson<T>(answer: Promise<T>): Promise<T> {
    this.#pauses += 1;
    if (this.#pauses === 1) {
      this.#host.deadlines.remove(this);
      this.#remaining = this.at - this.#host.clock.monotonic();
    }
    try {
      return await this.#turn.waitForPerson(this.#call, answer);
    } finally {
      this.#pauses -= 1;
      if (this.#pauses === 0 && !this.over) this.#runClock();
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
    this.#end(this.#afterCleanUp(status, error));
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
  #recordLate(how: string): void {
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

function executed(outcome: HandlerOutcome): Ending {
  return { status: outcome.status, outcome, executed: true };
}

/** PIPE-5. The model chooses only where the tool lets it, and never above the maximum. */
function timeoutOf(host: ExecutionHost, call: Call): number {
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
