// One turn: calls are pushed as they arrive, the scheduler says when each may run, results come out in
// call order, exactly one for each (RESULT-1, SCHED-5…7, PIPE-4, PIPE-7).

import { JournalFailure, type ConversationNode } from "../journal/index.ts";
import { Schedule, type ScheduleAction, type ScheduleEvent } from "../schedule/index.ts";
import {
  isHandlerErrorStatus,
  messageOf,
  toolError,
  type RunContext,
  type ToolResult,
} from "../tool/index.ts";
import { acceptCall, placeOf, resolveName, type Refusal } from "./accept-call.ts";
import {
  Call,
  cancelledEnding,
  ending,
  toolOf,
  unlessCancelled,
  type Ending,
  type Finished,
  type ToolCall,
  type TurnControl,
} from "./call.ts";
import { Delivery } from "./delivery.ts";
import {
  bareResult,
  commitFinished,
  discardFinished,
  finishCall,
  unrecordedResult,
} from "./finish.ts";
import {
  cancelled,
  discardText,
  endsRunning,
  haltCancellation,
  siblingFailed,
  skippedBecause,
  type Halt,
} from "./halt.ts";
import type { CallHost } from "./host.ts";
import { runCallPipeline } from "./pipeline.ts";

export interface Turn {
  /** Takes a call whose arguments are complete; returns the id its result will have. */
  push(call: ToolCall): string;
  /** The stream that brought the calls has ended well: calls that waited for that may start. */
  end(): void;
  /** The attempt is abandoned: every call that has not ended for good ends as discarded (SCHED-6). */
  discard(reason: string): Promise<ToolResult[]>;
  abort(reason: string): Promise<ToolResult[]>;
  /** New input came in: cancellable calls end, the others finish, nothing more starts. */
  interrupt(reason: string): void;
  /** Each result as soon as it and all before it are there. Ends when the turn has ended. */
  results(): AsyncIterableIterator<ToolResult>;
  /** All results, in call order, once every call has one and the stream has ended. */
  settled(): Promise<ToolResult[]>;
  /** Set when a hook ended the run. */
  readonly stopped: { readonly reason: string; readonly hook: string } | undefined;
  readonly aborted: boolean;
  /** The node the next message hangs from. */
  readonly lastNodeId: string | undefined;
  /**
   * What this turn has added to the conversation so far, in the order of the path: results in call order,
   * each with the nodes it added.
   */
  readonly nodes: readonly ConversationNode[];
}

export interface TurnOptions {
  readonly parentNodeId?: string;
  /** Every call id of the run so far; a repeated one is replaced. */
  readonly usedIds: Set<string>;
  readonly onSettled?: (turn: Turn) => void;
}

export function createTurn(host: CallHost, options: TurnOptions): Turn {
  return new OpenTurn(host, options);
}

class OpenTurn implements Turn, TurnControl {
  stopped: Turn["stopped"] = undefined;
  lastNodeId: string | undefined;
  readonly #host: CallHost;
  readonly #usedIds: Set<string>;
  readonly #schedule: Schedule;
  readonly #calls: Call[] = [];
  readonly #byId = new Map<string, Call>();
  readonly #delivery: Delivery;
  readonly #contextAtStart: RunContext;
  #halt: Halt | undefined = undefined;
  /** Something was changed for good: then an abandoned attempt keeps its context, too. */
  #happened = false;
  #parkedCount = 0;

  constructor(host: CallHost, { parentNodeId, usedIds, onSettled }: TurnOptions) {
    const { max_concurrency: maxParallel, early_start: early } = host.config.tools;
    this.lastNodeId = parentNodeId;
    this.#host = host;
    this.#usedIds = usedIds;
    this.#schedule = new Schedule({ maxParallel, early });
    this.#delivery = new Delivery(host.recorder, this.#calls, () => onSettled?.(this));
    this.#contextAtStart = host.runContext();
  }

  get aborted(): boolean {
    return this.#halt?.kind === "abort";
  }

  get nodes(): readonly ConversationNode[] {
    return this.#calls.flatMap((call) => call.nodes);
  }

  push(given: ToolCall): string {
    const call = this.#createCall(given);
    resolveName(this.#host, call);
    this.#step({ type: "arrived", id: call.tool_call_id });
    void this.#runCall(call);
    return call.tool_call_id;
  }

  end(): void {
    if (this.#delivery.streamEnded) return;
    this.#delivery.endStream();
    for (const call of this.#calls) if (call.parked !== undefined) this.#deliver(call, call.parked);
    this.#step({ type: "stream_ended" });
  }

  discard(reason: string): Promise<ToolResult[]> {
    return this.#endWith({ kind: "discard", reason });
  }

  abort(reason: string): Promise<ToolResult[]> {
    return this.#endWith({ kind: "abort", reason });
  }

  interrupt(reason: string): void {
    this.#haltWith({ kind: "interrupt", reason });
  }

  results(): AsyncIterableIterator<ToolResult> {
    return this.#delivery.results();
  }

  settled(): Promise<ToolResult[]> {
    return this.#delivery.settled();
  }

  // ── one call ────────────────────────────────────────────────────────────────────────────────────

  #createCall(given: ToolCall): Call {
    const nativeId = typeof given.id === "string" && given.id !== "" ? given.id : undefined;
    const isNew = nativeId !== undefined && !this.#usedIds.has(nativeId);
    const id = isNew ? nativeId : this.#newId();
    this.#usedIds.add(id);
    const nodeId = this.#host.ids.next("node");
    const call = new Call(id, this.#calls.length, given, nativeId, nodeId, this.lastNodeId);
    this.lastNodeId = nodeId;
    this.#calls.push(call);
    this.#byId.set(id, call);
    return call;
  }

  /** A model may have sent, as its own, the very id that comes next. */
  #newId(): string {
    let id = this.#host.ids.next("call");
    for (let i = 2; this.#usedIds.has(id); i += 1) id = `${this.#host.ids.next("call")}.${i}`;
    return id;
  }

  /** From its acceptance to its result. Never rejects: a failure of ours, or of the journal, is a result too. */
  async #runCall(call: Call): Promise<void> {
    try {
      let refused = this.#refuseLate(call) ?? (await acceptCall(this.#host, call));
      if (refused === undefined && call.cancellation === undefined) {
        this.#queue(call);
        if (call.phase === "queued" && call.cancellation === undefined) await untilStarted(call);
      }
      if (refused === undefined && call.cancellation !== undefined && call.phase !== "running") {
        refused = { ending: cancelledEnding(call), stops: false };
      }
      const end = refused?.ending ?? (await runCallPipeline(this.#host, call, this));
      const finished = await finishCall(this.#host, call, end);
      this.#conclude(
        call,
        finished,
        refused === undefined ? endedEvent(call, end) : refusedEvent(call, refused),
      );
    } catch (error) {
      this.#fail(call, error);
    }
  }

  /** A call that is pushed after the end is never accepted; its request is a fact all the same. */
  #refuseLate(call: Call): Refusal | undefined {
    if (this.#halt === undefined && !this.#delivery.streamEnded) return undefined;
    const { status, error } =
      this.#halt === undefined
        ? cancelled("aborted", "turn_ended", "the turn has ended already")
        : haltCancellation(this.#halt, "queued");
    this.#recordUnheard(call);
    return { ending: ending(status, error), stops: false };
  }

  #recordUnheard(call: Call): void {
    try {
      const data = { index: call.index, heard: false, ...placeOf(call) };
      this.#host.recorder.recordClean("tool.requested", data, call);
    } catch {
      // The result says what is wrong with the journal.
    }
  }

  #queue(call: Call): void {
    const { recorder } = this.#host;
    const { tool_call_id: id, class: kind, effects } = call;
    call.phase = "queued";
    recorder.commit([
      recorder.draft("tool.validated", { effects }, call),
      recorder.draft("tool.queued", { class: kind }, call),
    ]);
    this.#step({ type: "classified", id, class: kind, repeatable: effects.repeatable });
  }

  #conclude(call: Call, finished: Finished, event: ScheduleEvent): void {
    if (call.phase === "ended") return;
    call.phase = "ended";
    // While the attempt can still be abandoned, a call that changed nothing has not ended for good.
    const isProvisional =
      !this.#delivery.streamEnded && this.#halt === undefined && !finished.happened;
    if (isProvisional) {
      const ended = { after: this.#host.recorder.lastSeq, nth: (this.#parkedCount += 1) };
      call.parked = { ...finished, ended };
    } else {
      this.#deliver(call, this.#discardIfAbandoned(finished));
    }
    this.#step(event);
  }

  /** A call that ends after its attempt was abandoned, and changed nothing, ends as part of that attempt. */
  #discardIfAbandoned(finished: Finished): Finished {
    const halt = this.#halt;
    if (halt?.kind !== "discard" || finished.happened) return finished;
    if (finished.result.status === "discarded") return finished;
    return discardFinished(finished, discardText(halt));
  }

  #deliver(call: Call, finished: Finished): void {
    this.#happened ||= finished.happened;
    let { result } = finished;
    try {
      call.nodes = commitFinished(this.#host, call, finished);
    } catch (error) {
      result = unrecordedResult(result, error);
    }
    call.parked = undefined;
    call.result = result;
    this.#delivery.deliver();
  }

  #fail(call: Call, thrown: unknown): void {
    if (call.result !== undefined) return;
    const isJournal = thrown instanceof JournalFailure;
    const error = toolError({
      code: isJournal ? "journal_unavailable" : "internal_error",
      error_class: isJournal ? "dependency_unavailable" : "execution_failed",
      message: isJournal
        ? messageOf(thrown)
        : `Soong itself failed on this call: ${messageOf(thrown)}`,
      recovery: "ask_the_user",
    });
    // Its handler may still be at work: it is cancelled, and its deadline removed.
    if (call.phase === "running") call.cancel({ status: "aborted", error });
    call.phase = "ended";
    const result = bareResult(call, error);
    this.#deliver(call, { result, nodes: [], replaced: undefined, happened: true });
    this.#step({ type: "ended", id: call.tool_call_id, failed: true });
  }

  // ── the scheduler's side ────────────────────────────────────────────────────────────────────────

  #step(event: ScheduleEvent): void {
    for (const action of this.#schedule.step(event)) this.#perform(action);
  }

  /** Runs nothing itself: it lets calls continue that wait for it. */
  #perform(action: ScheduleAction): void {
    const call = this.#byId.get(action.id);
    if (call === undefined || call.phase === "ended") return;
    switch (action.type) {
      case "start":
        // A signal's listener may have halted the turn between two actions.
        if (this.#halt !== undefined) return call.cancel(haltCancellation(this.#halt, "queued"));
        call.phase = "running";
        call.start?.();
        return;
      case "resume":
        call.resume?.();
        call.resume = undefined;
        return;
      case "skip":
        return call.cancel(skippedBecause(this.#describe(action.cause)));
      case "cancel":
        return call.cancel(siblingFailed(action.cause, this.#describe(action.cause)));
      case "drop":
        if (this.#halt !== undefined) call.cancel(haltCancellation(this.#halt, "queued"));
        return;
    }
  }

  #describe(id: string): string {
    return `${this.#byId.get(id)?.tool_name ?? "a call"} (${id})`;
  }

  // ── what a call may do to its turn ──────────────────────────────────────────────────────────────

  stopRun(reason: string, hook: string): void {
    this.stopped ??= { reason, hook };
    this.#haltWith({ kind: "stop", reason });
  }

  reclassify(call: Call): Promise<void> {
    const { tool_call_id: id, class: kind, effects } = call;
    const { repeatable } = effects;
    return this.#resumed(call, { type: "reclassified", id, class: kind, repeatable });
  }

  async waitForPerson<T>(call: Call, answer: Promise<T>): Promise<T> {
    call.waits += 1;
    if (call.waits === 1) {
      call.waitsSince = this.#host.clock.monotonic();
      this.#host.onPersonAsked?.({ tool_call_id: call.tool_call_id, waits: true });
      this.#recordWaiting(call, true);
      this.#step({ type: "asking", id: call.tool_call_id });
    }
    try {
      return await answer;
    } finally {
      call.waits -= 1;
      if (call.waits === 0) await this.#continueAnswered(call);
    }
  }

  async #continueAnswered(call: Call): Promise<void> {
    const { tool_call_id: id, startedAt } = call;
    this.#host.onPersonAsked?.({ tool_call_id: id, waits: false });
    // Only time after the start is part of a duration, so only that is taken off it.
    if (startedAt !== undefined) call.waitedMs += this.#host.clock.monotonic() - call.waitsSince;
    if (call.phase === "ended" || call.cancellation !== undefined) return;
    this.#recordWaiting(call, false);
    const resumed = this.#resumed(call, { type: "answered", id });
    // A handler at work is notified of a cancellation itself; before that, nothing else would be.
    await (call.started ? resumed : unlessCancelled(call, resumed));
  }

  /** Before its start, it waits for a permission, which has facts of its own. */
  #recordWaiting(call: Call, waits: boolean): void {
    if (call.started) this.#host.recorder.recordClean("tool.waiting", { waits }, call);
  }

  /** Settles when the scheduler, told of the event, lets the call continue. */
  #resumed(call: Call, event: ScheduleEvent): Promise<void> {
    return new Promise((resolve) => {
      call.resume = resolve;
      this.#step(event);
    });
  }

  // ── halting ─────────────────────────────────────────────────────────────────────────────────────

  #endWith(halt: Halt): Promise<ToolResult[]> {
    this.#haltWith(halt);
    this.#delivery.endStream();
    return this.#delivery.settled();
  }

  #haltWith(next: Halt): void {
    // An abort overrules any milder halt.
    const isStronger = next.kind === "abort" && this.#halt?.kind !== "abort";
    if (this.#halt !== undefined && !isStronger) return;
    this.#halt = next;
    this.#recordHalt(next);
    for (const call of this.#calls) {
      if (call.parked !== undefined) this.#deliver(call, this.#discardIfAbandoned(call.parked));
      else if (call.phase === "arrived") call.cancel(haltCancellation(next, "queued"));
    }
    // Cancelled before the scheduler is told: no call that is to end may be resumed by it.
    for (const call of this.#calls) {
      if (call.phase !== "running" || !endsRunning(next, call)) continue;
      call.cancel(haltCancellation(next, call.started ? "running" : "queued"));
    }
    this.#step({ type: "halted" });
    if (next.kind === "discard" && !this.#happened) {
      this.#host.setRunContext(this.#contextAtStart);
    }
  }

  /** Where it ends a call, or keeps one from starting. */
  #recordHalt({ kind, reason }: Halt): void {
    if (this.#calls.every(({ result }) => result !== undefined)) return;
    try {
      const first_call_id = this.#calls[0]?.tool_call_id;
      this.#host.recorder.record("turn.halted", { kind, reason, first_call_id });
    } catch {
      // The calls end all the same, and say what is wrong with the journal.
    }
  }
}

/** Settles when the scheduler starts the call, or the call is cancelled in the queue. */
function untilStarted(call: Call): Promise<void> {
  return new Promise((resolve) => {
    call.start = resolve;
    call.waiter = { cancelled: resolve };
  });
}

function refusedEvent({ tool_call_id: id }: Call, { stops }: Refusal): ScheduleEvent {
  return { type: "refused", id, stops };
}

function endedEvent(call: Call, { status, executed }: Ending): ScheduleEvent {
  const failed = status !== "succeeded" && status !== "partial";
  const cancelsSiblings =
    executed &&
    isHandlerErrorStatus(status) &&
    call.class !== "spawns_agent" &&
    toolOf(call).definition.on_sibling_failure === "cancel_siblings";
  return { type: "ended", id: call.tool_call_id, failed, cancelsSiblings };
}
