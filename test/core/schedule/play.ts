// Plays a scenario against the scheduler: the caller's side of its contract, on a held clock. It carries
// out what the scheduler says, tells it what the calls do, and writes down both.

import {
  Schedule,
  type CallClass,
  type ScheduleAction,
  type ScheduleEvent,
} from "../../../packages/core/src/schedule/schedule.ts";
import type { Event, Happening, Scenario, ScriptedCall } from "./scenario.ts";

interface Performer {
  readonly index: number;
  readonly id: string;
  readonly plan: ScriptedCall;
  readonly remaining: ScriptedCall["script"][number][];
  phase: "queued" | "running" | "asking" | "waiting" | "over";
  class: CallClass | undefined;
  dying: "no" | "by the scheduler" | "by the caller";
}

interface Appointment {
  readonly at: number;
  /** Position inside the moment. */
  readonly order: number;
  readonly keep: () => void;
}

export function playWithScheduler(scenario: Scenario): readonly Happening[] {
  const schedule = new Schedule(scenario);
  const performers = scenario.calls.map(performerOf);
  const agenda = new Map<number, Appointment>();
  const happenings: Happening[] = [];
  const [streamSlot, haltSlot] = [performers.length, performers.length + 1];
  let now = 0;

  for (const it of performers) appoint(it.index, it.plan.arrives, () => arrive(it));
  if (scenario.streamEnds !== "never") {
    appoint(streamSlot, scenario.streamEnds, () => tell({ type: "stream_ended" }));
  }
  if (scenario.halt !== undefined) appoint(haltSlot, scenario.halt.at, halt);

  for (let next = earliest(agenda); next !== undefined; next = earliest(agenda)) {
    now = next.at;
    agenda.delete(next.order);
    next.keep();
  }
  return happenings;

  /** A call has one appointment at a time: a new one replaces the old. */
  function appoint(order: number, at: number, keep: () => void): void {
    agenda.set(order, { at, order, keep });
  }

  function tell(event: ScheduleEvent): void {
    const follow = schedule.step(event).map((action) => carryOut(action));
    for (const then of follow) then?.();
  }

  /** What the caller has to tell the scheduler in turn comes after all actions are carried out. */
  function carryOut(action: ScheduleAction): (() => void) | undefined {
    const it = performers[Number(action.id)];
    if (it === undefined) throw new Error(`An action about a call nobody made: ${action.id}`);
    switch (action.type) {
      case "start":
      case "resume":
        // A call that the caller is cancelling has no use for its slot, and gives it back by ending.
        if (it.dying === "by the caller") return undefined;
        note(it, { what: action.type });
        it.phase = "running";
        appoint(it.index, now, () => perform(it));
        return undefined;
      case "cancel":
        note(it, { what: "cancel", cause: Number(action.cause) });
        return cancelled(it);
      case "skip":
        // Nor does it end otherwise than by being cancelled.
        if (it.dying === "by the caller") return undefined;
        note(it, { what: "skip", cause: Number(action.cause) });
        return over(it);
      case "drop":
        note(it, { what: "drop" });
        return over(it);
    }
  }

  function arrive(it: Performer): void {
    note(it, { what: "arrive" });
    tell({ type: "arrived", id: it.id });
    appoint(it.index, now + it.plan.judgedAfter, () => judge(it));
  }

  function judge(it: Performer): void {
    const { verdict } = it.plan;
    if (verdict === "refused" || verdict === "refused as write") {
      note(it, { what: "refuse" });
      over(it);
      tell({ type: "refused", id: it.id, stops: verdict === "refused as write" });
    } else {
      become(it, verdict);
      tell({ type: "classified", id: it.id, class: verdict, repeatable: it.plan.repeatable });
    }
  }

  function perform(it: Performer): void {
    const step = it.remaining.shift();
    if (step === undefined) {
      const { outcome } = it.plan;
      const cancelsSiblings = outcome === "fails and cancels siblings";
      end(it, { failed: outcome !== "ok", cancelsSiblings });
    } else if (step.type === "work") {
      appoint(it.index, now + step.ticks, () => perform(it));
    } else if (step.type === "ask") {
      note(it, { what: "ask" });
      it.phase = "asking";
      appoint(it.index, now + step.ticks, () => answer(it));
      tell({ type: "asking", id: it.id });
    } else if (step.class === it.class) {
      appoint(it.index, now, () => perform(it));
    } else {
      become(it, step.class);
      it.phase = "queued";
      const { repeatable } = it.plan;
      tell({ type: "reclassified", id: it.id, class: step.class, repeatable });
    }
  }

  function become(it: Performer, kind: CallClass): void {
    note(it, { what: "become", class: kind });
    it.class = kind;
  }

  function answer(it: Performer): void {
    note(it, { what: "answer" });
    it.phase = "waiting";
    tell({ type: "answered", id: it.id });
  }

  function end(it: Performer, how: { failed: boolean; cancelsSiblings: boolean }): void {
    note(it, { what: how.failed ? "fail" : "end" });
    over(it);
    tell({ type: "ended", id: it.id, ...how });
  }

  function cancelled(it: Performer): (() => void) | undefined {
    if (it.phase === "queued") return over(it);
    if (it.phase !== "waiting") return die(it, "by the scheduler", it.plan.diesAfter);
    // It only waits for leave to continue, so it is gone as soon as it hears of this.
    it.dying = "by the scheduler";
    return () => end(it, CANCELLED);
  }

  function halt(): void {
    const aborted = scenario.halt?.kind === "abort";
    if (aborted) {
      agenda.delete(streamSlot);
      for (const it of performers) if (it.plan.arrives > now) agenda.delete(it.index);
    }
    for (const it of performers) {
      const begun = it.phase !== "queued" && it.phase !== "over";
      if (begun && (aborted || it.plan.onInterrupt === "cancel")) {
        die(it, "by the caller", it.phase === "running" ? it.plan.diesAfter : 0);
      }
    }
    tell({ type: "halted" });
  }

  function die(it: Performer, by: Exclude<Performer["dying"], "no">, ticks: number): undefined {
    if (it.dying !== "no") return;
    it.dying = by;
    appoint(it.index, now + ticks, () => end(it, CANCELLED));
  }

  function over(it: Performer): undefined {
    it.phase = "over";
    agenda.delete(it.index);
  }

  function note(it: Performer, event: Event): void {
    happenings.push({ at: now, call: it.index, ...event });
  }
}

/** A cancelled call ends as failed, but its siblings are not to pay for that. */
const CANCELLED = { failed: true, cancelsSiblings: false };

function performerOf(plan: ScriptedCall, index: number): Performer {
  const remaining = [...plan.script];
  const id = String(index);
  return { index, id, plan, remaining, phase: "queued", class: undefined, dying: "no" };
}

function earliest(agenda: ReadonlyMap<number, Appointment>): Appointment | undefined {
  let best: Appointment | undefined;
  for (const it of agenda.values()) {
    const sooner = best === undefined || it.at < best.at;
    if (sooner || (it.at === best?.at && it.order < best.order)) best = it;
  }
  return best;
}
