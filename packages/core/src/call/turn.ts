// One turn: calls are pushed as they arrive, the scheduler says when each may run, results come out in
// call order, exactly one for each (RESULT-1, SCHED-5…7, PIPE-4, PIPE-7).

import { isThenable, JournalFailure } from "../journal/index.ts";
import { createSchedule, type ScheduleAction, type ScheduleEvent } from "../schedule/index.ts";
import {
  isHandlerErrorStatus,
  messageOf,
  toolError,
  type RunContext,
  type ToolResult,
} from "../tool/index.ts";
import { arrive, placeOf, resolveName, type Arrival } from "./arrive.ts";
import {
  cancelCall,
  createCall,
  ending,
  toolOf,
  unlessCancelled,
  type Call,
  type Cancellation,
  type Ending,
  type ToolCall,
} from "./call.ts";
import { createDelivery } from "./delivery.ts";
import { commitFinished, discardFinished, finishCall, type Finished } from "./finish.ts";
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
import { OpenedTurn, type Turn } from "./opened-turn.ts";
import { conductCall } from "./pipeline.ts";
import { Slot, type TurnGate } from "./slot.ts";
import { bareResult, unrecorded } from "./unrecorded.ts";

export interface TurnOptions {
  readonly parentNodeId?: string;
  /** Every call id of the run so far; a repeated one is replaced. */
  readonly usedIds: Set<string>;
  readonly onSettled?: () => void;
}

export function createTurn(host: CallHost, options: TurnOptions): Turn {
  const { max_concurrency: maxTogether, early_start: early } = host.config.tools;
  const schedule = createSchedule({ maxTogether, early });
  const slots: Slot[] = [];
  const byId = new Map<string, Slot>();
  const queue: ScheduleAction[] = [];
  const contextAtStart: RunContext = host.runContext();
  let driving = false;
  let halt: Halt | undefined;
  let stopped: { reason: string; hook: string } | undefined;
  /** Something was changed for good: then an abandoned attempt has a context that stays, too. */
  let happened = false;
  let parkedCount = 0;
  let lastNodeId = options.parentNodeId;
  const delivery = createDelivery(host.recorder, slots, options.onSettled);
  const gate: TurnGate = { waitForPerson, resumed, stopRun };

  return new OpenedTurn(
    {
      push,
      end() {
        if (delivery.hasStreamEnded()) return;
        delivery.endStream();
        releaseParked();
        step({ type: "stream_ended" });
      },
      discard: (reason) => halted({ kind: "discard", reason }),
      abort: (reason) => halted({ kind: "abort", reason }),
      interrupt: (reason) => void halted({ kind: "interrupt", reason }),
      results: () => delivery.results(),
      settled: () => delivery.settled(),
    },
    {
      stopped: () => stopped,
      aborted: () => halt?.kind === "abort",
      lastNodeId: () => lastNodeId,
      nodes: () => slots.flatMap((slot) => slot.nodes),
    },
  );

  function push(given: ToolCall): string {
    const slot = admit(given);
    const { call } = slot;
    resolveName(host, call);
    step({ type: "arrived", id: call.tool_call_id });
    if (halt !== undefined) {
      endBeforeStart(slot, haltCancellation(halt, "queued"));
    } else if (delivery.hasStreamEnded()) {
      endBeforeStart(slot, cancelled("aborted", "turn_ended", "the turn has ended already"));
    } else {
      try {
        const arrival = arrive(host, call);
        if (isThenable(arrival)) {
          arrival.then(
            (done) => arrived(slot, done),
            (error: unknown) => fail(slot, error),
          );
        } else arrived(slot, arrival);
      } catch (error) {
        fail(slot, error);
      }
    }
    return call.tool_call_id;
  }

  function admit(given: ToolCall): Slot {
    const nativeId = typeof given.id === "string" && given.id !== "" ? given.id : undefined;
    const isNew = nativeId !== undefined && !options.usedIds.has(nativeId);
    const tool_call_id = isNew ? nativeId : newId();
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
    const slot = new Slot(call, gate);
    slots.push(slot);
    byId.set(tool_call_id, slot);
    delivery.expect();
    return slot;
  }

  /** A model may have sent, as its own, the very id that comes next. */
  function newId(): string {
    let id = host.ids.next("call");
    for (let i = 2; options.usedIds.has(id); i += 1) id = `${host.ids.next("call")}.${i}`;
    return id;
  }

  function arrived(slot: Slot, arrival: Arrival): void {
    const { call } = slot;
    if (call.phase === "ended") return;
    if (call.cancellation !== undefined) {
      endBeforeStart(slot, call.cancellation);
    } else if (arrival.ok) {
      call.phase = "queued";
      if (!recordQueued(slot)) return;
      const { tool_call_id: id, class: kind, effects } = call;
      step({ type: "classified", id, class: kind, repeatable: effects.repeatable });
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
    const actions = schedule.step(event);
    if (driving) {
      for (const action of actions) queue.push(action);
      return;
    }
    driving = true;
    try {
      for (const action of actions) perform(action);
      for (let i = 0; i < queue.length; i += 1) perform(queue[i] as ScheduleAction);
    } finally {
      if (queue.length > 0) queue.length = 0;
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
        endEarly(slot, skippedBecause(nameOf(action.cause)));
        return;
      case "cancel":
        endEarly(slot, siblingFailed(action.cause, nameOf(action.cause)));
        return;
      case "drop":
        if (halt !== undefined) endEarly(slot, haltCancellation(halt, "queued"));
        return;
    }
  }

  function start(slot: Slot): void {
    slot.call.phase = "running";
    try {
      const end = conductCall(host, slot.call, slot);
      if (isThenable(end)) {
        end.then(
          (settled) => conducted(slot, settled),
          (error: unknown) => fail(slot, error),
        );
      } else conducted(slot, end);
    } catch (error) {
      fail(slot, error);
    }
  }

  function conducted(slot: Slot, end: Ending): void {
    const { call } = slot;
    const failed = end.status !== "succeeded" && end.status !== "partial";
    const cancelsSiblings =
      isHandlerErrorStatus(end.status) &&
      end.executed &&
      call.class !== "starter" &&
      toolOf(call).definition.on_sibling_failure === "cancel_siblings";
    finish(slot, end, { type: "ended", id: call.tool_call_id, failed, cancelsSiblings });
  }

  function stopRun(reason: string, hook: string): void {
    stopped ??= { reason, hook };
    void halted({ kind: "stop", reason });
  }

  async function waitForPerson<T>(slot: Slot, answer: Promise<T>): Promise<T> {
    slot.waits += 1;
    if (slot.waits === 1) {
      slot.waitsSince = host.clock.monotonic();
      host.onPersonAsked?.({ tool_call_id: slot.call.tool_call_id, waits: true });
      recordWaiting(slot.call, true);
      step({ type: "asking", id: slot.call.tool_call_id });
    }
    try {
      return await answer;
    } finally {
      await answered(slot);
    }
  }

  async function answered(slot: Slot): Promise<void> {
    const { call } = slot;
    slot.waits -= 1;
    if (slot.waits > 0) return;
    host.onPersonAsked?.({ tool_call_id: call.tool_call_id, waits: false });
    // Only time after the start is part of a duration, so only that is taken off it.
    if (call.startedAt !== undefined) call.waitedMs += host.clock.monotonic() - slot.waitsSince;
    if (call.phase === "ended" || call.cancellation !== undefined) return;
    recordWaiting(call, false);
    const goesOn = resumed(slot, { type: "answered", id: call.tool_call_id });
    // A handler at work is told of a cancellation by itself; before that, nobody else would be.
    await (call.started ? goesOn : unlessCancelled(call, goesOn));
  }

  /** Before its start, what it waits for is a permission, which has facts of its own. */
  function recordWaiting(call: Call, waits: boolean): void {
    if (call.started) host.recorder.recordClean("tool.waiting", { waits }, call);
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
    try {
      const finished = finishCall(host, slot.call, end);
      if (isThenable(finished)) {
        finished.then(
          (done) => conclude(slot, done, event),
          (error: unknown) => fail(slot, error),
        );
      } else conclude(slot, finished, event);
    } catch (error) {
      fail(slot, error);
    }
  }

  function conclude(slot: Slot, finished: Finished, event: ScheduleEvent): void {
    const { call } = slot;
    if (call.phase === "ended") return;
    call.phase = "ended";
    // While the attempt can still be abandoned, what changed nothing has not ended for good.
    const provisional = !delivery.hasStreamEnded() && halt === undefined && !finished.happened;
    if (provisional) {
      const ended = { after: host.recorder.lastSeq, nth: (parkedCount += 1) };
      slot.parked = { ...finished, ended };
    } else deliver(slot, discardedIfNeeded(finished));
    step(event);
  }

  /** Whatever ends after its attempt was abandoned, and changed nothing, ends as part of that attempt. */
  function discardedIfNeeded(finished: Finished): Finished {
    const isOver = halt?.kind !== "discard" || finished.happened;
    if (isOver || finished.result.status === "discarded") return finished;
    return discardFinished(finished, discardText(halt as Halt));
  }

  function deliver(slot: Slot, finished: Finished): void {
    happened ||= finished.happened;
    let { result } = finished;
    try {
      slot.nodes = commitFinished(host, slot.call, finished);
    } catch (error) {
      result = unrecorded(result, error);
    }
    slot.parked = undefined;
    slot.result = result;
    delivery.deliver();
  }

  function releaseParked(): void {
    for (const slot of slots) if (slot.parked !== undefined) deliver(slot, slot.parked);
  }

  /** One that is under way ends by itself, once it is told to. */
  function endEarly(slot: Slot, because: Cancellation): void {
    if (slot.call.phase === "running") cancelCall(slot.call, because);
    else endBeforeStart(slot, because);
  }

  /** Ends a call that never ran. */
  function endBeforeStart(slot: Slot, because: Cancellation): void {
    const { call } = slot;
    if (call.phase === "ended") return;
    const id = call.tool_call_id;
    if (call.phase === "arrived" && call.cancellation === undefined) recordUnheard(call);
    finish(slot, ending(because.status, because.error), { type: "refused", id, stops: false });
  }

  /** A call pushed after the end never went through arrival; its request is a fact all the same. */
  function recordUnheard(call: Call): void {
    try {
      const data = { index: call.index, heard: false, ...placeOf(call) };
      host.recorder.recordClean("tool.requested", data, call);
    } catch {
      // The result says what is wrong with the journal.
    }
  }

  /** Validated, and queued at once. */
  function recordQueued(slot: Slot): boolean {
    const { recorder } = host;
    const { call } = slot;
    try {
      recorder.commit([
        recorder.draft("tool.validated", { effects: call.effects }, call),
        recorder.draft("tool.queued", { class: call.class }, call),
      ]);
      return true;
    } catch (error) {
      fail(slot, error);
      return false;
    }
  }

  /** No stage throws past the pipeline: what went wrong in ours, or in the journal, is a result too. */
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
    // Its handler may still be at work: it is told, and its deadline is taken back.
    if (call.phase === "running") cancelCall(call, { status: "aborted", error });
    call.phase = "ended";
    const result = bareResult(call, error);
    deliver(slot, { result, nodes: [], replaced: undefined, happened: true });
    const id = call.tool_call_id;
    step({ type: "ended", id, failed: true });
  }

  // ── halting ─────────────────────────────────────────────────────────────────────────────────────

  function halted(next: Halt): Promise<ToolResult[]> {
    // An abort overrules whatever milder halt there was.
    if (halt === undefined || (next.kind === "abort" && halt.kind !== "abort")) {
      halt = next;
      recordHalt(next);
      for (const slot of slots) {
        if (slot.parked !== undefined) {
          const discarded =
            next.kind === "discard" ? discardFinished(slot.parked, discardText(next)) : slot.parked;
          deliver(slot, discarded);
        } else if (slot.call.phase === "arrived") {
          cancelCall(slot.call, haltCancellation(next, "queued"));
        }
      }
      // Cancelled before the scheduler is told: nothing that is to end may be resumed by it.
      for (const { call } of slots) {
        if (call.phase !== "running" || !endsRunning(next, call)) continue;
        cancelCall(call, haltCancellation(next, call.started ? "running" : "queued"));
      }
      step({ type: "halted" });
      if (next.kind === "discard" && !happened) host.setRunContext(contextAtStart);
    }
    if (next.kind === "discard" || next.kind === "abort") {
      delivery.endStream();
      return delivery.settled();
    }
    return Promise.resolve([]);
  }

  /** Where it ends a call, or keeps one from starting. */
  function recordHalt({ kind, reason }: Halt): void {
    if (slots.every(({ result }) => result !== undefined)) return;
    try {
      const first_call_id = slots[0]?.call.tool_call_id;
      host.recorder.record("turn.halted", { kind, reason, first_call_id });
    } catch {
      // The calls end all the same, and say what is wrong with the journal.
    }
  }

  function nameOf(id: string): string {
    return `${byId.get(id)?.call.tool_name ?? "a call"} (${id})`;
  }
}
