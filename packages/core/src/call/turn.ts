// One turn: calls are pushed as they arrive, the scheduler says when each may run, results come out in
// call order, exactly one for each (RESULT-1, SCHED-5…7, PIPE-4, PIPE-7).

import { isThenable, JournalFailure } from "../journal/index.ts";
import { createSchedule, type ScheduleAction, type ScheduleEvent } from "../schedule/index.ts";
import { messageOf, toolError, type RunContext, type ToolResult } from "../tool/index.ts";
import { arrive, type Arrival } from "./arrive.ts";
import {
  cancelCall,
  createCall,
  ending,
  toolOf,
  type Call,
  type Cancellation,
  type Ending,
  type ToolCall,
} from "./call.ts";
import { commitFinished, discardFinished, finishCall, type Finished } from "./finish.ts";
import type { Gate } from "./gate.ts";
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
import { conductCall } from "./pipeline.ts";
import { bareResult, unrecorded } from "./unrecorded.ts";

export interface Turn {
  /** Takes a call whose arguments are complete; returns the id its result will have. */
  push(call: ToolCall): string;
  /** The stream that brought the calls has ended well: what waited for that may start. */
  end(): void;
  /** The attempt is abandoned: whatever has not ended for good ends as discarded (SCHED-6). */
  discard(reason: string): Promise<ToolResult[]>;
  abort(reason: string): Promise<ToolResult[]>;
  /** New input came in: cancellable calls end, the others finish, nothing more starts. */
  interrupt(reason: string): void;
  /** Each result as soon as it and all before it are there. Ends when the turn has ended. */
  results(): AsyncIterableIterator<ToolResult>;
  /** All results, in call order, once every call has one and the stream has ended. */
  settled(): Promise<ToolResult[]>;
  /** Set when a hook asked for the run to end. */
  readonly stopped: { readonly reason: string; readonly hook: string } | undefined;
  readonly aborted: boolean;
  /** The node the next message hangs from. */
  readonly lastNodeId: string | undefined;
}

export interface TurnOptions {
  readonly parentNodeId?: string;
  /** Every call id of the run so far; a repeated one is replaced. */
  readonly usedIds: Set<string>;
  readonly onSettled?: () => void;
}

interface Slot {
  readonly call: Call;
  /** Ended, but its attempt may still be abandoned. */
  parked: Finished | undefined;
  result: ToolResult | undefined;
  resume: (() => void) | undefined;
  waits: number;
}

export function createTurn(host: CallHost, options: TurnOptions): Turn {
  const { max_concurrency: maxTogether, early_start: early } = host.config.tools;
  const schedule = createSchedule({ maxTogether, early });
  const slots: Slot[] = [];
  const byId = new Map<string, Slot>();
  const queue: ScheduleAction[] = [];
  const contextAtStart: RunContext = host.runContext();
  let driving = false;
  let streamEnded = false;
  let halt: Halt | undefined;
  let stopped: { reason: string; hook: string } | undefined;
  let open = 0;
  let yielded = 0;
  let lastNodeId = options.parentNodeId;
  const waiting = new Set<() => void>();

  return {
    push,
    end() {
      if (streamEnded) return;
      streamEnded = true;
      releaseParked();
      step({ type: "stream_ended" });
      announce();
    },
    discard: (reason) => halted({ kind: "discard", reason }),
    abort: (reason) => halted({ kind: "abort", reason }),
    interrupt: (reason) => void halted({ kind: "interrupt", reason }),
    results,
    settled,
    get stopped() {
      return stopped;
    },
    get aborted() {
      return halt?.kind === "abort";
    },
    get lastNodeId() {
      return lastNodeId;
    },
  };

  function push(given: ToolCall): string {
    const slot = admit(given);
    const { call } = slot;
    step({ type: "arrived", id: call.tool_call_id });
    if (streamEnded) {
      endBeforeStart(slot, cancelled("aborted", "turn_ended", "the turn has ended already"));
    } else if (halt !== undefined) {
      endBeforeStart(slot, haltCancellation(halt, "queued"));
    } else {
      guarded(slot, () => {
        const arrival = arrive(host, call);
        if (isThenable(arrival)) {
          arrival.then(
            (done) => guarded(slot, () => arrived(slot, done)),
            (error: unknown) => fail(slot, error),
          );
        } else arrived(slot, arrival);
      });
    }
    return call.tool_call_id;
  }

  function admit(given: ToolCall): Slot {
    const nativeId = typeof given.id === "string" && given.id !== "" ? given.id : undefined;
    const isNew = nativeId !== undefined && !options.usedIds.has(nativeId);
    const tool_call_id = isNew ? nativeId : host.ids.next("call");
    options.usedIds.add(tool_call_id);
    const nodeId = host.ids.next("node");
    const call = createCall({
      tool_call_id,
      index: slots.length,
      given,
      nativeId,
      nodeId,
      parentNodeId: lastNodeId,
    });
    lastNodeId = nodeId;
    const slot: Slot = { call, parked: undefined, result: undefined, resume: undefined, waits: 0 };
    slots.push(slot);
    byId.set(tool_call_id, slot);
    open += 1;
    return slot;
  }

  function arrived(slot: Slot, arrival: Arrival): void {
    const { call } = slot;
    if (call.phase === "ended") return;
    if (arrival.ok) {
      call.phase = "queued";
      host.recorder.record("tool.queued", { class: call.class }, call);
      step({ type: "classified", id: call.tool_call_id, class: call.class });
    } else {
      finish(slot, arrival.ending, {
        type: "refused",
        id: call.tool_call_id,
        stops: arrival.stops,
      });
    }
  }

  // ── the scheduler's side ────────────────────────────────────────────────────────────────────────

  /** Actions lead to events that lead to actions: a queue, so that the stack stays flat. */
  function step(event: ScheduleEvent): void {
    for (const action of schedule.step(event)) queue.push(action);
    if (driving) return;
    driving = true;
    try {
      for (let i = 0; i < queue.length; i += 1) perform(queue[i] as ScheduleAction);
    } finally {
      queue.length = 0;
      driving = false;
    }
  }

  function perform(action: ScheduleAction): void {
    const slot = byId.get(action.id);
    if (slot === undefined || slot.call.phase === "ended") return;
    switch (action.type) {
      case "start":
        start(slot);
        return;
      case "resume":
        slot.resume?.();
        slot.resume = undefined;
        return;
      case "skip":
        endBeforeStart(slot, skippedBecause(nameOf(action.cause)));
        return;
      case "cancel": {
        const because = siblingFailed(nameOf(action.cause));
        if (slot.call.phase === "running") cancelCall(slot.call, because);
        else endBeforeStart(slot, because);
        return;
      }
      case "drop":
        if (halt !== undefined) endBeforeStart(slot, haltCancellation(halt, "queued"));
        return;
    }
  }

  function start(slot: Slot): void {
    const { call } = slot;
    call.phase = "running";
    guarded(slot, () => {
      const end = conductCall(host, call, gateOf(slot));
      if (!isThenable(end)) {
        conducted(slot, end);
        return;
      }
      end.then(
        (settled) => guarded(slot, () => conducted(slot, settled)),
        (error: unknown) => fail(slot, error),
      );
    });
  }

  function conducted(slot: Slot, end: Ending): void {
    const { call } = slot;
    const failed = end.status !== "succeeded" && end.status !== "partial";
    const cancelsSiblings =
      (end.status === "failed" || end.status === "timed_out") &&
      end.executed &&
      toolOf(call).definition.on_sibling_failure === "cancel_siblings";
    finish(slot, end, { type: "ended", id: call.tool_call_id, failed, cancelsSiblings });
  }

  /** What a call may ask of the turn while it runs; made only for calls that get there. */
  function gateOf(slot: Slot): Gate {
    return {
      waitForPerson: (answer) => waitForPerson(slot, answer),
      reclassify: (to) =>
        resumed(slot, { type: "reclassified", id: slot.call.tool_call_id, class: to }),
      stopRun(reason, hook) {
        stopped ??= { reason, hook };
        void halted({ kind: "stop", reason });
      },
    };
  }

  async function waitForPerson<T>(slot: Slot, answer: Promise<T>): Promise<T> {
    const { call } = slot;
    const id = call.tool_call_id;
    const began = host.clock.now();
    slot.waits += 1;
    if (slot.waits === 1) step({ type: "asking", id });
    try {
      return await answer;
    } finally {
      slot.waits -= 1;
      if (slot.waits === 0) {
        // Only time after the start is part of a duration, so only that is taken off it.
        if (call.startedAt !== undefined) call.waitedMs += host.clock.now() - began;
        if (call.phase !== "ended") await resumed(slot, { type: "answered", id });
      }
    }
  }

  function resumed(slot: Slot, event: ScheduleEvent): Promise<void> {
    return new Promise((resolve) => {
      slot.resume = resolve;
      step(event);
    });
  }

  // ── endings ─────────────────────────────────────────────────────────────────────────────────────

  function finish(slot: Slot, end: Ending, event: ScheduleEvent): void {
    if (slot.call.phase === "ended") return;
    const finished = finishCall(host, slot.call, end);
    if (!isThenable(finished)) {
      conclude(slot, finished, event);
      return;
    }
    finished.then(
      (done) => guarded(slot, () => conclude(slot, done, event)),
      (error: unknown) => fail(slot, error),
    );
  }

  function conclude(slot: Slot, finished: Finished, event: ScheduleEvent): void {
    const { call } = slot;
    if (call.phase === "ended") return;
    call.phase = "ended";
    // While the attempt can still be abandoned, what only read something has not ended for good.
    const provisional = !streamEnded && halt === undefined && call.effects.read_only;
    if (provisional) slot.parked = finished;
    else deliver(slot, finished);
    step(event);
  }

  function deliver(slot: Slot, finished: Finished): void {
    let { result } = finished;
    try {
      commitFinished(host, slot.call, finished);
    } catch (error) {
      result = unrecorded(result, error);
    }
    slot.parked = undefined;
    slot.result = result;
    open -= 1;
    announce();
  }

  function releaseParked(): void {
    for (const slot of slots) if (slot.parked !== undefined) deliver(slot, slot.parked);
  }

  /** Ends a call that never ran. */
  function endBeforeStart(slot: Slot, because: Cancellation): void {
    const { call } = slot;
    if (call.phase === "ended") return;
    const id = call.tool_call_id;
    if (call.phase === "arrived" && call.tool === undefined) recordUnheard(call);
    guarded(slot, () =>
      finish(slot, ending(because.status, because.error), { type: "refused", id, stops: false }),
    );
  }

  /** A call pushed after the end never went through arrival; its request is a fact all the same. */
  function recordUnheard(call: Call): void {
    try {
      host.recorder.record("tool.requested", { index: call.index, heard: false }, call);
    } catch {
      // The result says what is wrong with the journal.
    }
  }

  /** No stage throws past the pipeline: what went wrong in ours, or in the journal, is a result too. */
  function guarded(slot: Slot, work: () => void): void {
    try {
      work();
    } catch (error) {
      fail(slot, error);
    }
  }

  function fail(slot: Slot, thrown: unknown): void {
    const { call } = slot;
    if (slot.result !== undefined) return;
    const isJournal = thrown instanceof JournalFailure;
    const error = toolError({
      code: isJournal ? "journal_unavailable" : "internal_error",
      error_class: isJournal ? "dependency_unavailable" : "execution_failed",
      message: isJournal
        ? messageOf(thrown)
        : `Soong itself failed on this call: ${messageOf(thrown)}`,
      recovery: "ask_the_user",
    });
    call.phase = "ended";
    deliver(slot, { result: bareResult(call, error), nodes: [] });
    const id = call.tool_call_id;
    step({ type: "ended", id, failed: true });
  }

  // ── halting ─────────────────────────────────────────────────────────────────────────────────────

  function halted(next: Halt): Promise<ToolResult[]> {
    // An abort overrules whatever milder halt there was.
    if (halt === undefined || (next.kind === "abort" && halt.kind !== "abort")) {
      halt = next;
      for (const slot of slots) {
        if (slot.parked !== undefined) {
          const discarded =
            next.kind === "discard" ? discardFinished(slot.parked, discardText(next)) : slot.parked;
          deliver(slot, discarded);
        } else if (slot.call.phase === "arrived") {
          endBeforeStart(slot, haltCancellation(next, "queued"));
        }
      }
      step({ type: "halted" });
      for (const { call } of slots) {
        if (call.phase !== "running" || !endsRunning(next, call)) continue;
        cancelCall(call, haltCancellation(next, "running"));
      }
      if (next.kind === "discard") host.setRunContext(contextAtStart);
    }
    if (next.kind === "discard" || next.kind === "abort") {
      streamEnded = true;
      announce();
      return settled();
    }
    return Promise.resolve([]);
  }

  // ── delivery ────────────────────────────────────────────────────────────────────────────────────

  function announce(): void {
    if (isOver()) options.onSettled?.();
    for (const wake of waiting) wake();
    waiting.clear();
  }

  async function settled(): Promise<ToolResult[]> {
    while (!isOver()) await news();
    await flushed();
    return slots.map((slot) => yieldResult(slot));
  }

  async function* results(): AsyncGenerator<ToolResult, undefined> {
    for (let i = 0; ;) {
      const slot = slots[i];
      if (slot?.result !== undefined) {
        await flushed();
        yield yieldResult(slot);
        i += 1;
      } else if (slot === undefined && streamEnded) {
        return undefined;
      } else {
        await news();
      }
    }
  }

  function isOver(): boolean {
    return streamEnded && open === 0;
  }

  /** Settles when something has ended. */
  function news(): Promise<void> {
    return new Promise((resolve) => {
      waiting.add(resolve);
    });
  }

  /** What the model is told must be on record first. */
  async function flushed(): Promise<void> {
    try {
      const pending = host.recorder.flush();
      if (isThenable(pending)) await pending;
    } catch {
      // Every later call and record says so; the results stay what they are.
    }
  }

  function yieldResult(slot: Slot): ToolResult {
    const result = slot.result as ToolResult;
    if (slot.call.index >= yielded) {
      yielded = slot.call.index + 1;
      try {
        host.recorder.record("tool.yielded", { status: result.status }, slot.call);
      } catch {
        // As above.
      }
    }
    return result;
  }

  function nameOf(id: string): string {
    return `${byId.get(id)?.call.tool_name ?? "a call"} (${id})`;
  }
}
