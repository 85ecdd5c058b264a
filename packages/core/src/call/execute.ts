// Runs a handler (DEF-7, PIPE-5…7): with its own time, its progress, a way to be cancelled, and an end in
// every case. A handler that blocks the thread for ever is beyond anything in the same thread.

import { beginWaiting, within, type Clock, type GivenUp, type Waited } from "../journal/index.ts";
import { readReturn, readThrown } from "../result/read-return.ts";
import {
  isPromise,
  type ArtifactRef,
  type ContentBlock,
  type ElicitationAnswer,
  type ElicitationRequest,
  type ToolContext,
  type ToolError,
  type ToolStatus,
} from "../tool/index.ts";
import { tryToRecord, type AcceptedCall, type Ending, type TurnControl } from "./call.ts";
import { HandlerContext, type HandlerTraces } from "./context.ts";
import { elicit } from "./elicit.ts";
import { callError } from "./endings.ts";
import type { PartialOutput, Progress } from "./handler-output.ts";
import type { Deadline } from "./host.ts";

/** After this many yields without a pause, other work gets its turn: a generator may yield for ever. */
const YIELDS_IN_A_ROW = 64;

/** One handler at work. It ends with whichever comes first: its own end, its time, a cancellation. */
export class Execution implements HandlerTraces, Deadline {
  over = false;
  progress: Progress | undefined = undefined;
  partial: PartialOutput | undefined = undefined;
  artifacts: ArtifactRef[] | undefined = undefined;
  at = Number.POSITIVE_INFINITY;
  readonly #call: AcceptedCall;
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

  constructor(call: AcceptedCall, turn: TurnControl) {
    this.#call = call;
    this.#turn = turn;
    this.#limit = findTimeout(call);
    this.#remaining = this.#limit;
  }

  run(): Promise<Ending> {
    return new Promise((resolve) => {
      this.#end = resolve;
      this.at = (this.#call.startedAt ?? this.#call.run.clock.monotonic()) + this.#limit;
      void this.#work();
      this.#call.waiter = this;
      // A handler that cancels its own call and has a value to return, returns it.
      if (this.#call.cancellation !== undefined) {
        void Promise.resolve().then(() => this.cancelled());
      }
      if (this.#pauses === 0 && !this.over) this.#call.run.deadlines.add(this);
    });
  }

  async #work(): Promise<void> {
    let value: unknown;
    let hasThrown = false;
    try {
      value = await toPromise(this.#callHandler());
    } catch (error) {
      value = error;
      hasThrown = true;
    }
    if (this.#close()) this.#end(endExecuted(hasThrown ? readThrown(value) : readReturn(value)));
    else this.#recordLate(hasThrown ? "threw" : "returned");
  }

  #callHandler(): unknown {
    const { tool, input } = this.#call;
    const returned: unknown = tool.definition.handler(input, new HandlerContext(this.#call, this));
    if (!isAsyncGenerator(returned)) return returned;
    this.#generator = returned;
    return this.#drain(returned);
  }

  /** From then on the handler is ignored. False when it was closed before. */
  #close(): boolean {
    if (this.over) return false;
    this.over = true;
    this.#call.run.deadlines.remove(this);
    this.progress?.close();
    this.#questions?.forEach((giveUp) => giveUp());
    if (!this.#isCutShort) void this.partial?.discard();
    return true;
  }

  elicit(request: ElicitationRequest): Promise<ElicitationAnswer> {
    return elicit(this.#call, request, this);
  }

  /** Runs it at once when the call has been cut short already. */
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
    const { done, giveUp } = beginWaiting(this.#call.run.clock, ms, work);
    const questions = (this.#questions ??= new Set());
    questions.add(giveUp);
    try {
      return await done;
    } finally {
      questions.delete(giveUp);
    }
  }

  expired(): void {
    const message = `${this.#call.tool_name} did not end within ${this.#limit} ms and was stopped.`;
    const error = callError("timed_out", message);
    this.#call.abort(error.message);
    this.#cutShort("timed_out", error);
  }

  cancelled(): void {
    const { cancellation } = this.#call;
    if (cancellation !== undefined) this.#cutShort(cancellation.status, cancellation.error);
  }

  /** The call's time is paused while the user thinks (PIPE-6). */
  async waitForUser<T>(answer: Promise<T>): Promise<T> {
    this.#pauses += 1;
    if (this.#pauses === 1) {
      this.#call.run.deadlines.remove(this);
      this.#remaining = this.at - this.#call.run.clock.monotonic();
    }
    try {
      return await this.#turn.waitForUser(this.#call, answer);
    } finally {
      this.#pauses -= 1;
      if (this.#pauses === 0 && !this.over) {
        this.at = this.#call.run.clock.monotonic() + this.#remaining;
        this.#call.run.deadlines.add(this);
      }
    }
  }

  #cutShort(status: ToolStatus, error: ToolError): void {
    if (this.over) return;
    this.#isCutShort = true;
    this.#close();
    if (this.#generator !== undefined) void giveUp(this.#generator);
    this.#end(this.#afterCleanUp(status, error));
  }

  /** Its own clean-up (a process tree, a connection), bounded: the call ends either way. */
  async #afterCleanUp(status: ToolStatus, error: ToolError): Promise<Ending> {
    const cleanups = this.#cleanups;
    if (cleanups !== undefined) {
      await within(this.#call.run.clock, this.#call.run.config.tools.cancel_grace_ms, () =>
        Promise.allSettled(cleanups.map(async (cleanup) => cleanup())),
      );
    }
    const content = (await this.partial?.keep()) ?? [];
    const artifacts = this.artifacts ?? [];
    content.push(...artifacts.map(artifactBlock));
    return { status, executed: true, outcome: { status: "failed", content, artifacts, error } };
  }

  async #drain(generator: AsyncGenerator<unknown, unknown>): Promise<unknown> {
    const { progress } = new HandlerContext(this.#call, this);
    for (let count = 1; ; count += 1) {
      const step = await generator.next();
      if (step.done === true) return step.value;
      if (this.over) return undefined;
      progress(readProgress(step.value));
      if (count % YIELDS_IN_A_ROW === 0) {
        await new Promise<void>((go) => {
          this.#call.run.clock.after(0, go);
        });
      }
    }
  }

  /** Too late to count: the call has ended without it (PIPE-5). */
  #recordLate(how: string): void {
    const { recorder } = this.#call.run;
    tryToRecord(() => recorder.record("tool.late", { how }, this.#call, "warn"));
  }
}

export function artifactBlock({ sha256: _hash, ...ref }: ArtifactRef): ContentBlock {
  return { type: "artifact_ref", ...ref };
}

function endExecuted(outcome: Ending["outcome"]): Ending {
  return { status: outcome.status, outcome, executed: true };
}

/** PIPE-5. The model chooses only where the tool lets it, and never above the maximum. */
function findTimeout({ run, tool, input }: AcceptedCall): number {
  const { definition, source } = tool;
  if (definition.starts_agent === true && source.kind === "agent") {
    return run.config.agents.child_timeout_ms;
  }
  const { default_timeout_ms, max_timeout_ms } = run.config.tools;
  let asked: unknown;
  try {
    asked = definition.timeoutFor?.(input);
  } catch {
    asked = undefined;
  }
  if (isPromise(asked)) asked = undefined;
  const chosen = typeof asked === "number" && asked > 0 ? asked : definition.timeout_ms;
  return Math.min(chosen ?? default_timeout_ms, max_timeout_ms);
}

/**
 * Any value a handler returned, to be awaited: a foreign `then` may call back twice or throw, and `await` passes over one
 * that a promise has of its own.
 */
function toPromise(value: unknown): Promise<unknown> {
  try {
    if (value instanceof Promise && value.then === Promise.prototype.then) return value;
  } catch {
    // A proxy that hides what it is.
  }
  return new Promise((take) => {
    take(value);
  });
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
    // It was asked to stop; what it says about that is of no use.
  }
}

function readProgress(given: unknown): Parameters<ToolContext["progress"]>[0] {
  if (typeof given === "string") return { message: given };
  return typeof given === "object" && given !== null ? given : {};
}

/**
 * The deadlines of the calls that run at the moment, on one timer: there are few of them at a time, and a timer each
 * would cost more than the calls.
 */
export class Deadlines {
  readonly #clock: Clock;
  readonly #running = new Set<Deadline>();
  #armedFor = Number.POSITIVE_INFINITY;
  #disarm: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(deadline: Deadline): void {
    this.#running.add(deadline);
    if (deadline.at < this.#armedFor) this.#arm(deadline.at);
  }

  /** Leaves the timer armed, for the others and for the next call: it finds nothing due then, and arms itself for what is next. */
  remove(deadline: Deadline): void {
    this.#running.delete(deadline);
  }

  /** At the end of a turn: a timer for each call that runs alone would cost 0.5 µs. */
  rest(): void {
    if (this.#running.size === 0) this.#disarmTimer();
  }

  #arm(at: number): void {
    this.#disarm?.();
    this.#armedFor = at;
    this.#disarm = this.#clock.after(at - this.#clock.monotonic(), () => this.#fire());
  }

  #disarmTimer(): void {
    this.#disarm?.();
    this.#disarm = undefined;
    this.#armedFor = Number.POSITIVE_INFINITY;
  }

  #fire(): void {
    this.#disarmTimer();
    const now = this.#clock.monotonic();
    for (const deadline of this.#running) {
      if (deadline.at > now) continue;
      this.#running.delete(deadline);
      deadline.expired();
    }
    let next = Number.POSITIVE_INFINITY;
    for (const { at } of this.#running) next = Math.min(next, at);
    if (next < this.#armedFor) this.#arm(next);
  }
}
