// One turn: calls are pushed as they arrive, the scheduler says when each may run, results come out in
// call order, exactly one for each (RESULT-1, SCHED-5…7, PIPE-4, PIPE-7).

import { JournalFailure, type ConversationNode } from "../journal/index.ts";
import { Schedule, type ScheduleAction, type ScheduleEvent } from "../schedule/schedule.ts";
import {
  isHandlerErrorStatus,
  messageOf,
  type RunContext,
  type ToolResult,
} from "../tool/index.ts";
import { acceptCall, resolveName } from "./accept-call.ts";
import {
  Call,
  tryToRecord,
  unlessCancelled,
  type AcceptedCall,
  type Ending,
  type TurnControl,
} from "./call.ts";
import {
  callError,
  discardText,
  endCall,
  endCancelled,
  endsRunning,
  endWith,
  haltCancellation,
  type Halt,
} from "./endings.ts";
import { bareResult, commitCall, discardResult, finishCall, unrecordedResult } from "./finish.ts";
import type { CallRun, ToolCall, Turn, TurnOptions } from "./host.ts";
import { runCallPipeline } from "./pipeline.ts";

export class OpenTurn implements Turn, TurnControl {
  stopped: Turn["stopped"] = undefined;
  lastNodeId: string | undefined;
  readonly #run: CallRun;
  readonly #options: TurnOptions;
  readonly #schedule: Schedule;
  readonly #calls: Call[] = [];
  readonly #byId = new Map<string, Call>();
  readonly #contextAtStart: RunContext;
  #halt: Halt | undefined = undefined;
  #streamEnded = false;
  /** Something was changed for good: then an abandoned attempt keeps its context, too. */
  #happened = false;
  /** How many calls ended while their attempt could still be abandoned. */
  #parkedCount = 0;
  #delivered = 0;
  #yielded = 0;
  /** Readers that wait for the next result, and those that wait for all of them. */
  #waiting: (() => void)[] = [];
  readonly #waitingForAll: (() => void)[] = [];

  constructor(run: CallRun, options: TurnOptions) {
    const { max_concurrency: maxParallel, early_start: early } = run.config.tools;
    this.lastNodeId = options.parentNodeId;
    this.#run = run;
    this.#options = options;
    this.#schedule = new Schedule({ maxParallel, early });
    this.#contextAtStart = run.context;
  }

  get aborted(): boolean {
    return this.#halt?.kind === "abort";
  }

  get nodes(): readonly ConversationNode[] {
    const nodes: ConversationNode[] = [];
    for (const call of this.#calls) for (const node of call.nodes) nodes.push(node);
    return nodes;
  }

  push(given: ToolCall): string {
    const call = this.#createCall(given);
    resolveName(call);
    this.#step({ type: "arrived", id: call.tool_call_id });
    void this.#runCall(call);
    return call.tool_call_id;
  }

  end(): void {
    if (this.#streamEnded) return;
    this.#endStream();
    for (const call of this.#calls) if (isParked(call)) this.#deliver(call);
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

  // ── one call ────────────────────────────────────────────────────────────────────────────────────

  #createCall(given: ToolCall): Call {
    const { usedIds } = this.#options;
    const { ids, redactor } = this.#run;
    let id = typeof given.id === "string" ? given.id : "";
    // An id is in every record of the call, so it must hold no secret either (REDACT-1).
    if (id === "" || usedIds.has(id) || redactor.text(id) !== id) {
      id = ids.next("call");
      // A model may have sent, as its own, the very id that comes next.
      for (let i = 2; usedIds.has(id); i += 1) id = `${ids.next("call")}.${i}`;
    }
    usedIds.add(id);
    const nodeId = ids.next("node");
    const call = new Call(this.#run, id, given, this.#calls.length, nodeId, this.lastNodeId);
    this.lastNodeId = nodeId;
    this.#calls.push(call);
    this.#byId.set(id, call);
    return call;
  }

  /** From its acceptance to its result. Never rejects: a failure of ours, or of the journal, is a result too. */
  async #runCall(call: Call): Promise<void> {
    try {
      let refused = this.#refuseLate(call) ?? (await acceptCall(call));
      if (refused === undefined && call.cancellation === undefined) {
        this.#queue(call);
        if (call.phase === "queued" && call.cancellation === undefined) await untilStarted(call);
      }
      if (refused === undefined && call.cancellation !== undefined && call.phase !== "running") {
        refused = endCancelled(call);
      }
      const end = refused ?? (await runCallPipeline(call as AcceptedCall, this));
      await finishCall(call, end);
      const { tool_call_id: id } = call;
      const { stops = false } = end;
      const isRefused = refused !== undefined;
      this.#conclude(call, isRefused ? { type: "refused", id, stops } : endedEvent(call, end));
    } catch (error) {
      this.#fail(call, error);
    }
  }

  /** A call that is pushed after the end is never accepted; its request is a fact all the same. */
  #refuseLate(call: Call): Ending | undefined {
    if (this.#halt === undefined && !this.#streamEnded) return undefined;
    const { index, nodeId: node_id, parentNodeId: parent_node_id } = call;
    const data = { index, heard: false, node_id, parent_node_id };
    tryToRecord(() => this.#run.recorder.recordClean("tool.requested", data, call));
    if (this.#halt === undefined) {
      return endCall("aborted", "turn_ended", "the turn has ended already");
    }
    const { status, error } = haltCancellation(this.#halt, "queued");
    return endWith(status, error);
  }

  #queue(call: Call): void {
    const { tool_call_id: id, class: kind, effects, record } = call;
    call.phase = "queued";
    record.effects = effects;
    record.class = kind;
    this.#run.recorder.note(record, QUEUED);
    this.#step({ type: "classified", id, class: kind, repeatable: effects.repeatable });
  }

  #conclude(call: Call, event: ScheduleEvent): void {
    if (call.phase === "ended") return;
    call.phase = "ended";
    // While the attempt can still be abandoned, a call that changed nothing has not ended for good.
    if (!this.#streamEnded && this.#halt === undefined && !call.happened) {
      call.ended = { after: this.#run.recorder.lastSeq, nth: (this.#parkedCount += 1) };
    } else {
      this.#deliver(call);
    }
    this.#step(event);
  }

  #deliver(call: Call): void {
    const halt = this.#halt;
    // A call that ends after its attempt was abandoned, and changed nothing, ends as part of that attempt.
    const isAbandoned = halt?.kind === "discard" && !call.happened;
    if (isAbandoned && call.result?.status !== "discarded") discardResult(call, discardText(halt));
    this.#happened ||= call.happened;
    const result = call.result as ToolResult;
    try {
      commitCall(call, result);
    } catch (error) {
      call.result = unrecordedResult(result, error);
    }
    call.delivered = true;
    this.#delivered += 1;
    this.#announce();
  }

  #fail(call: Call, thrown: unknown): void {
    if (call.delivered) return;
    const message = messageOf(thrown);
    const error =
      thrown instanceof JournalFailure
        ? callError("journal_unavailable", message)
        : callError("internal_error", `Soong itself failed on this call: ${message}`);
    // Its handler may still be at work: it is cancelled, and its deadline removed.
    if (call.phase === "running") call.cancel({ status: "aborted", error });
    call.phase = "ended";
    call.result = bareResult(call, error);
    call.added = [];
    call.replaced = undefined;
    call.happened = true;
    this.#deliver(call);
    this.#step({ type: "ended", id: call.tool_call_id, failed: true });
  }

  // ── results, in call order (SCHED-7) ────────────────────────────────────────────────────────────

  async settled(): Promise<ToolResult[]> {
    if (!this.#isSettled) await waitOn(this.#waitingForAll);
    await this.#flush();
    this.#recordYields(this.#calls.slice(this.#yielded));
    return this.#calls.map(({ result }) => result as ToolResult);
  }

  async *results(): AsyncGenerator<ToolResult, undefined> {
    for (let i = 0; ;) {
      const next = this.#calls[i];
      if (next?.delivered === true) {
        await this.#flush();
        if (i === this.#yielded) this.#recordYields([next]);
        yield next.result as ToolResult;
        i += 1;
      } else if (next === undefined && this.#streamEnded) {
        return undefined;
      } else {
        await waitOn(this.#waiting);
      }
    }
  }

  get #isSettled(): boolean {
    return this.#streamEnded && this.#delivered === this.#calls.length;
  }

  #endStream(): void {
    this.#streamEnded = true;
    this.#announce();
  }

  #announce(): void {
    if (this.#isSettled) {
      this.#run.deadlines.rest();
      this.#options.onSettled?.(this);
      for (const wake of this.#waitingForAll) wake();
    }
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  /** What the model receives must be on record first. Where it cannot be, results stay what they are. */
  #flush(): Promise<void> {
    return this.#run.recorder.flush().catch(() => {});
  }

  /** In call order, each once, however many read. */
  #recordYields(calls: readonly Call[]): void {
    if (calls.length === 0) return;
    this.#yielded += calls.length;
    const records = calls.map(({ record }) => record);
    tryToRecord(() => this.#run.recorder.noteEach(records, "tool.yielded"));
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
      case "skip": {
        const message = `Not run, because ${this.#describe(action.cause)} did not succeed and this call came after it.`;
        const error = callError("skipped_after_failure", message);
        return call.cancel({ status: "skipped", error });
      }
      case "cancel": {
        const { cause } = action;
        const message = `Cancelled, because ${this.#describe(cause)}, which ran beside it, failed.`;
        const error = callError("sibling_failed", message);
        return call.cancel({ status: "cancelled", error, cause });
      }
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

  async waitForUser<T>(call: Call, answer: Promise<T>): Promise<T> {
    call.waits += 1;
    if (call.waits === 1) {
      call.waitsSince = this.#run.clock.monotonic();
      this.#run.onUserAsked?.({ tool_call_id: call.tool_call_id, waits: true });
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
    this.#run.onUserAsked?.({ tool_call_id: id, waits: false });
    // Only time after the start is part of a duration, so only that is taken off it.
    if (startedAt !== undefined) call.waitedMs += this.#run.clock.monotonic() - call.waitsSince;
    if (call.phase === "ended" || call.cancellation !== undefined) return;
    this.#recordWaiting(call, false);
    const resumed = this.#resumed(call, { type: "answered", id });
    // A handler at work is notified of a cancellation itself; before that, nothing else would be.
    await (call.started ? resumed : unlessCancelled(call, resumed));
  }

  /** Before its start, it waits for a permission, which has facts of its own. */
  #recordWaiting(call: Call, waits: boolean): void {
    if (call.started) this.#run.recorder.recordClean("tool.waiting", { waits }, call);
  }

  /** Settles when the scheduler, given the event, lets the call continue. */
  #resumed(call: Call, event: ScheduleEvent): Promise<void> {
    return new Promise((resolve) => {
      call.resume = resolve;
      this.#step(event);
    });
  }

  // ── halting ─────────────────────────────────────────────────────────────────────────────────────

  #endWith(halt: Halt): Promise<ToolResult[]> {
    this.#haltWith(halt);
    this.#endStream();
    return this.settled();
  }

  #haltWith(next: Halt): void {
    // An abort overrules any milder halt.
    const isStronger = next.kind === "abort" && this.#halt?.kind !== "abort";
    if (this.#halt !== undefined && !isStronger) return;
    this.#halt = next;
    this.#recordHalt(next);
    for (const call of this.#calls) {
      if (isParked(call)) this.#deliver(call);
      else if (call.phase === "arrived") call.cancel(haltCancellation(next, "queued"));
    }
    // Cancelled before the scheduler is notified: no call that is to end may be resumed by it.
    for (const call of this.#calls) {
      if (call.phase !== "running" || !endsRunning(next, call)) continue;
      call.cancel(haltCancellation(next, call.started ? "running" : "queued"));
    }
    this.#step({ type: "halted" });
    if (next.kind === "discard" && !this.#happened) {
      this.#run.context = this.#contextAtStart;
    }
  }

  /** Where it ends a call, or keeps one from starting. */
  #recordHalt({ kind, reason }: Halt): void {
    if (this.#calls.every(({ delivered }) => delivered)) return;
    const first_call_id = this.#calls[0]?.tool_call_id;
    tryToRecord(() => this.#run.recorder.record("turn.halted", { kind, reason, first_call_id }));
  }
}

const QUEUED = ["tool.validated", "tool.queued"] as const;

/** Settles when the scheduler starts the call, or the call is cancelled in the queue. */
function untilStarted(call: Call): Promise<void> {
  return new Promise((resolve) => {
    call.start = resolve;
    call.waiter = { cancelled: resolve };
  });
}

/** Ended, but its attempt may still be abandoned. */
function isParked({ phase, delivered, ended }: Call): boolean {
  return phase === "ended" && !delivered && ended !== undefined;
}

/** Settles when the owner of the list wakes those on it. */
function waitOn(list: (() => void)[]): Promise<void> {
  return new Promise((resolve) => {
    list.push(resolve);
  });
}

function endedEvent(call: Call, { status, executed }: Ending): ScheduleEvent {
  const failed = status !== "succeeded" && status !== "partial";
  const cancelsSiblings =
    executed &&
    isHandlerErrorStatus(status) &&
    call.class !== "spawns_agent" &&
    call.tool?.definition.on_sibling_failure === "cancel_siblings";
  return { type: "ended", id: call.tool_call_id, failed, cancelsSiblings };
}
