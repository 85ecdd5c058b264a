// The scheduler (SCHED-1…6, SCHED-9): a pure state machine, events in, actions out. It knows call
// order, classes and slots; it does not know what a call is, nor what time it is.

/** What a call is to its siblings. */
export type CallClass =
  /** Readonly and concurrency-safe: runs together with its neighbours of the same class. */
  | "together"
  /** Readonly, but alone: a barrier whose failure stops nobody. */
  | "alone"
  /** A barrier, and its failure stops what comes after it. */
  | "write"
  /** Starts an agent: runs together with its neighbours of the same class, and nothing starts it early. */
  | "starter";

export type ScheduleEvent =
  /** A call arrived. Nothing after it starts before it is classified or ended. */
  | { type: "arrived"; id: string }
  | { type: "classified"; id: string; class: CallClass; repeatable?: boolean }
  /** Refused on arrival: unknown, unavailable or invalid. `stops` when it was to be a write. */
  | { type: "refused"; id: string; stops: boolean }
  /** The stream that brings calls has ended well: what waited for that may start. */
  | { type: "stream_ended" }
  /** A running call waits for a person: it holds no slot until it is answered (PERM-13). */
  | { type: "asking"; id: string }
  | { type: "answered"; id: string }
  /** A changed input changed what the call is; a call that runs together may have to wait to be alone. */
  | { type: "reclassified"; id: string; class: CallClass; repeatable?: boolean }
  | { type: "ended"; id: string; failed: boolean; cancelsSiblings?: boolean }
  /** No call starts any more. Those that run are the caller's to cancel. */
  | { type: "halted" };

export type ScheduleAction =
  | { type: "start"; id: string }
  /** It may go on: it has a slot again, or is alone at last. */
  | { type: "resume"; id: string }
  /** It will not start, or has begun, does not run and will not go on, because of the call `cause`. */
  | { type: "skip"; id: string; cause: string }
  /** It runs, or was about to run, beside the call `cause`, which failed. */
  | { type: "cancel"; id: string; cause: string }
  /** It will not start, because the turn was halted. */
  | { type: "drop"; id: string };

export interface ScheduleOptions {
  /** How many calls of a group may run at once. */
  maxTogether: number;
  /** What may start while the stream is still open (SCHED-5). `readonly`: only what is also repeatable. */
  early: "none" | "readonly" | "all";
}

type Phase = "arrived" | "queued" | "running" | "asking" | "waiting" | "ended";

interface Entry {
  readonly id: string;
  class: CallClass | undefined;
  /** Leaves nothing behind, inside or outside: it may start before the stream has ended. */
  repeatable: boolean;
  phase: Phase;
  /** Queued once more, as what it turned out to be: it goes on instead of starting. */
  begun: boolean;
  /** A failed sibling cancelled it: it goes on with nothing until it has ended. */
  cancelled: boolean;
}

export interface Schedule {
  /** The actions are to be carried out in order. An event about an unknown or ended call is ignored. */
  step(event: ScheduleEvent): readonly ScheduleAction[];
}

const NOTHING: readonly ScheduleAction[] = [];

export function createSchedule(options: ScheduleOptions): Schedule {
  const entries: Entry[] = [];
  const byId = new Map<string, number>();
  /** What the step under way has led to so far: mostly nothing or one thing. */
  let actions: ScheduleAction[] | undefined;
  /** Every entry before `front` has ended. */
  let front = 0;
  /** No entry of the front group before `cursor` waits to start or resume. */
  let cursor = 0;
  let active = 0;
  let streaming = true;
  let halted = false;
  let stop: { index: number; cause: string } | undefined;

  return { step };

  function step(event: ScheduleEvent): readonly ScheduleAction[] {
    if (event.type === "stream_ended") {
      streaming = false;
    } else if (event.type === "halted") {
      halted = true;
      entries.forEach(drop);
    } else if (event.type === "arrived") {
      if (byId.has(event.id)) return NOTHING;
      byId.set(event.id, entries.length);
      entries.push({
        id: event.id,
        class: undefined,
        repeatable: false,
        phase: "arrived",
        begun: false,
        cancelled: false,
      });
      return NOTHING;
    } else {
      const index = byId.get(event.id);
      const entry = index === undefined ? undefined : entries[index];
      if (index === undefined || entry === undefined || entry.phase === "ended") return NOTHING;
      apply(event, entry, index);
      if (stop !== undefined && index > stop.index) skip(entry);
    }
    advance();
    const due = actions ?? NOTHING;
    actions = undefined;
    return due;
  }

  function apply(
    event: Exclude<ScheduleEvent, { type: "stream_ended" | "halted" | "arrived" }>,
    entry: Entry,
    index: number,
  ): void {
    switch (event.type) {
      case "classified":
        if (entry.phase !== "arrived") return;
        classify(entry, event);
        entry.phase = "queued";
        if (halted) drop(entry);
        return;
      case "refused":
        end(entry);
        if (event.stops) stopAfter(index, entry.id);
        return;
      case "asking":
        if (entry.phase === "running") leaveSlot(entry, "asking");
        return;
      case "answered":
        if (entry.phase === "asking") leaveSlot(entry, "waiting");
        cursor = Math.min(cursor, index);
        return;
      case "reclassified":
        if (entry.class === event.class || entry.cancelled) return;
        classify(entry, event);
        if (entry.phase !== "running") return;
        // Its neighbours may be running already: it goes on when a call of its new class could start.
        leaveSlot(entry, "queued");
        entry.begun = true;
        cursor = Math.min(cursor, index);
        if (halted) drop(entry);
        return;
      case "ended":
        if (event.failed && event.cancelsSiblings === true && !entry.cancelled) {
          cancelSiblings(index);
        }
        end(entry);
        if (event.failed && entry.class === "write") stopAfter(index, entry.id);
        return;
    }
  }

  function classify(
    entry: Entry,
    { class: kind, repeatable }: { class: CallClass; repeatable?: boolean },
  ): void {
    entry.class = kind;
    entry.repeatable = (kind === "together" || kind === "alone") && repeatable !== false;
  }

  function emit(action: ScheduleAction): void {
    if (actions === undefined) actions = [action];
    else actions.push(action);
  }

  /** Starts whatever the first unfinished call and its group allow. */
  function advance(): void {
    while (entries[front]?.phase === "ended") front += 1;
    const first = entries[front];
    if (first?.class === undefined) return;
    cursor = Math.max(cursor, front);
    if (first.class === "alone" || first.class === "write") {
      if (active === 0) begin(first);
      return;
    }
    const limit = first.class === "together" ? options.maxTogether : Number.POSITIVE_INFINITY;
    for (; active < limit; cursor += 1) {
      const entry = entries[cursor];
      if (entry === undefined) return;
      if (entry.phase === "ended") continue;
      if (entry.class !== first.class || !begin(entry)) return;
    }
  }

  /** False when the call has to wait for the stream to end. */
  function begin(entry: Entry): boolean {
    if (entry.phase === "queued") {
      if (!mayStart(entry)) return false;
      emit({ type: entry.begun ? "resume" : "start", id: entry.id });
    } else if (entry.phase === "waiting" && !entry.cancelled) {
      emit({ type: "resume", id: entry.id });
    } else {
      return true;
    }
    entry.phase = "running";
    active += 1;
    return true;
  }

  function mayStart(entry: Entry): boolean {
    if (!streaming || options.early === "all") return true;
    return options.early === "readonly" && entry.repeatable;
  }

  function leaveSlot(entry: Entry, phase: Phase): void {
    if (entry.phase === "running") active -= 1;
    entry.phase = phase;
  }

  function end(entry: Entry): void {
    leaveSlot(entry, "ended");
  }

  function stopAfter(index: number, cause: string): void {
    if (stop !== undefined && stop.index <= index) return;
    stop = { index, cause };
    for (const entry of entries.slice(index + 1)) skip(entry);
  }

  function skip(entry: Entry): void {
    // One that has begun but holds no slot needs leave to go on, and does not get it.
    const idle = entry.phase === "queued" || entry.phase === "asking" || entry.phase === "waiting";
    if (!idle || entry.cancelled || stop === undefined) return;
    end(entry);
    emit({ type: "skip", id: entry.id, cause: stop.cause });
  }

  function drop(entry: Entry): void {
    if (entry.phase !== "queued") return;
    end(entry);
    emit({ type: "drop", id: entry.id });
  }

  /** The group of a call: its neighbours of the same class, with only ended calls in between. */
  function cancelSiblings(index: number): void {
    const { id: cause, class: kind } = entries[index] as Entry;
    // Nothing runs beside a call that is alone, and a starter's failure cancels nobody.
    if (kind !== "together") return;
    for (const direction of [-1, 1]) {
      for (let i = index + direction; ; i += direction) {
        const entry = entries[i];
        if (entry === undefined || (entry.phase !== "ended" && entry.class !== kind)) break;
        if (entry.phase === "ended" || entry.cancelled) continue;
        // One that is queued ends here; one that runs, asks or waits is ended by whoever runs it.
        if (entry.phase === "queued") end(entry);
        else entry.cancelled = true;
        emit({ type: "cancel", id: entry.id, cause });
      }
    }
  }
}
