// The naive reference model (SCHED-9): the rules of order and concurrency said as slowly and as plainly
// as possible. After every single thing that happens it looks at all calls again and asks each, from
// nothing, whether it may go. It shares no code and no notion of progress with the scheduler.

import type { CallClass } from "../../../packages/core/src/schedule/schedule.ts";
import type { Event, Happening, Scenario, ScriptedCall } from "./scenario.ts";

interface Call {
  readonly index: number;
  readonly plan: ScriptedCall;
  state: "expected" | "pending" | "queued" | "running" | "asking" | "waiting" | "ended";
  class: CallClass | undefined;
  /** When something happens to it on its own. */
  due: number | undefined;
  /** It has started once: when it is queued again, as what it has become, it resumes. */
  begun: boolean;
  stepsDone: number;
  /** It failed as a write: what comes after it is skipped. */
  stopsLater: boolean;
  /** A failed sibling cancelled it. */
  cancelled: boolean;
  /** Whoever runs it is ending it: it continues with nothing. */
  dying: boolean;
}

interface Due {
  readonly at: number;
  readonly happen: () => void;
}

export function playByDefinition(scenario: Scenario): readonly Happening[] {
  const calls = scenario.calls.map(expectedCall);
  const happenings: Happening[] = [];
  let now = 0;
  let stream: "open" | "ended" | "cut" = "open";
  let halted = false;

  for (let next = whatComesNext(); next !== undefined; next = whatComesNext()) {
    now = next.at;
    next.happen();
    endWhatCannotGo();
    for (let call = firstThatMayGo(); call !== undefined; call = firstThatMayGo()) go(call);
  }
  return happenings;

  /** The earliest thing that is due; calls in their order, then the stream, then the halt. */
  function whatComesNext(): Due | undefined {
    const all: Due[] = [];
    for (const call of calls) {
      if (call.due !== undefined) all.push({ at: call.due, happen: () => goOn(call) });
    }
    if (stream === "open" && scenario.streamEnds !== "never") {
      all.push({ at: scenario.streamEnds, happen: endStream });
    }
    if (!halted && scenario.halt !== undefined) all.push({ at: scenario.halt.at, happen: halt });
    const earliest = Math.min(...all.map(({ at }) => at));
    return all.find(({ at }) => at === earliest);
  }

  // Who may go.

  function firstThatMayGo(): Call | undefined {
    return calls.find((call) => isOneOf(call, "queued", "waiting") && mayGo(call));
  }

  function mayGo(call: Call): boolean {
    if (call.dying || !mayGoDuringTheStream(call)) return false;
    const before = unfinished().filter(({ index }) => index < call.index);
    const running = calls.filter(({ state }) => state === "running").length;
    // Together: all that is unfinished before it belongs to its group. Alone: nothing is.
    if (call.class === "parallel") {
      const isHeldUp = before.some((it) => it.state === "queued" && !mayGoDuringTheStream(it));
      const isGroup = before.every((it) => it.class === "parallel");
      return isGroup && !isHeldUp && running < scenario.maxParallel;
    }
    if (call.class === "spawns_agent") return before.every((it) => it.class === "spawns_agent");
    return before.length === 0 && running === 0;
  }

  function mayGoDuringTheStream(call: Call): boolean {
    const isReadonly = call.class === "parallel" || call.class === "exclusive";
    if (stream === "ended" || scenario.early === "all") return true;
    return scenario.early === "readonly" && isReadonly && call.plan.repeatable;
  }

  // Who cannot go any more.

  /** The halt ends what is queued; a failed write ends all after it that is not running now. */
  function endWhatCannotGo(): void {
    for (const call of calls) {
      if (call.dying) continue;
      const stoppedBy = calls.find((it) => it.stopsLater && it.index < call.index);
      if (halted && call.state === "queued") {
        finish(call, { what: "drop" });
      } else if (stoppedBy !== undefined && isOneOf(call, "queued", "asking", "waiting")) {
        finish(call, { what: "skip", cause: stoppedBy.index });
      }
    }
  }

  /** The calls that run beside this one, or would: nothing of another class is in between. */
  function siblings(call: Call): readonly Call[] {
    const row = unfinished();
    return row.filter((it) => {
      const [from, to] = [Math.min(it.index, call.index), Math.max(it.index, call.index)];
      const between = row.filter(({ index }) => from <= index && index <= to);
      return it !== call && between.every((neighbour) => neighbour.class === call.class);
    });
  }

  function unfinished(): readonly Call[] {
    return calls.filter((call) => !isOneOf(call, "expected", "ended"));
  }

  // What happens.

  function go(call: Call): void {
    note(call, { what: call.begun ? "resume" : "start" });
    call.begun = true;
    call.state = "running";
    call.due = now;
  }

  function goOn(call: Call): void {
    if (call.dying) return end(call, "fails");
    if (call.state === "expected") {
      note(call, { what: "arrive" });
      call.state = "pending";
      call.due = now + call.plan.judgedAfter;
    } else if (call.state === "pending") {
      judge(call);
    } else if (call.state === "asking") {
      note(call, { what: "answer" });
      call.state = "waiting";
      call.due = undefined;
    } else {
      nextStep(call);
    }
  }

  function judge(call: Call): void {
    const { verdict } = call.plan;
    if (verdict === "refused" || verdict === "refused as write") {
      call.stopsLater = verdict === "refused as write";
      return finish(call, { what: "refuse" });
    }
    become(call, verdict);
  }

  function nextStep(call: Call): void {
    const step = call.plan.script[call.stepsDone];
    call.stepsDone += 1;
    if (step === undefined) {
      end(call, call.plan.outcome);
    } else if (step.type === "work") {
      call.due = now + step.ticks;
    } else if (step.type === "ask") {
      note(call, { what: "ask" });
      call.state = "asking";
      call.due = now + step.ticks;
    } else if (step.class !== call.class) {
      become(call, step.class);
    }
  }

  function become(call: Call, kind: CallClass): void {
    note(call, { what: "become", class: kind });
    call.class = kind;
    call.state = "queued";
    call.due = undefined;
  }

  function end(call: Call, outcome: ScriptedCall["outcome"]): void {
    call.stopsLater = outcome !== "ok" && call.class === "write";
    // Nothing runs beside a call that is alone, and the failure of a starter cancels no one.
    const cancels = outcome === "fails and cancels siblings" && call.class === "parallel";
    const beside = cancels ? siblings(call) : [];
    finish(call, { what: outcome === "ok" ? "end" : "fail" });
    for (const sibling of beside) cancel(sibling, call);
  }

  function cancel(call: Call, cause: Call): void {
    if (call.cancelled) return;
    call.cancelled = true;
    const event: Event = { what: "cancel", cause: cause.index };
    if (call.state === "queued") return finish(call, event);
    note(call, event);
    if (call.state === "waiting") end(call, "fails");
    else die(call, call.plan.diesAfter);
  }

  function endStream(): void {
    stream = "ended";
  }

  function halt(): void {
    halted = true;
    const aborted = scenario.halt?.kind === "abort";
    for (const call of calls) {
      const begun = isOneOf(call, "running", "asking", "waiting");
      if (begun && (aborted || call.plan.onInterrupt === "cancel")) {
        die(call, call.state === "running" ? call.plan.diesAfter : 0);
      }
      if (aborted && call.state === "expected") call.due = undefined;
    }
    if (aborted && stream === "open") stream = "cut";
  }

  function die(call: Call, ticks: number): void {
    if (call.dying) return;
    call.dying = true;
    call.due = now + ticks;
  }

  function finish(call: Call, event: Event): void {
    note(call, event);
    call.state = "ended";
    call.due = undefined;
  }

  function note(call: Call, event: Event): void {
    happenings.push({ at: now, call: call.index, ...event });
  }
}

function expectedCall(plan: ScriptedCall, index: number): Call {
  return {
    index,
    plan,
    state: "expected",
    class: undefined,
    due: plan.arrives,
    begun: false,
    stepsDone: 0,
    stopsLater: false,
    cancelled: false,
    dying: false,
  };
}

function isOneOf(call: Call, ...states: readonly Call["state"][]): boolean {
  return states.includes(call.state);
}
