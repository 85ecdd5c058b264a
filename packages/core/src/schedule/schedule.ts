// The scheduler (SCHED-1…6, SCHED-9): a pure state machine, events in, actions out. It knows call
// order, classes and slots; it does not know what a call is, nor what time it is.

/** What a call is to its siblings. */
export type CallClass =
  /** Readonly and concurrency-safe: runs beside its neighbours of the same class. */
  | "parallel"
  /** Readonly, and nothing runs beside it: a barrier whose failure stops no other call. */
  | "exclusive"
  /** A barrier, and its failure stops the calls after it. */
  | "write"
  /** Starts an agent: runs beside its neighbours of the same class, and never starts early. */
  | "spawns_agent";

/** A class as facts have it: earlier versions wrote other names. */
export type RecordedCallClass = CallClass | keyof typeof EARLIER_NAMES;

const EARLIER_NAMES = {
  together: "parallel",
  alone: "exclusive",
  starter: "spawns_agent",
} as const satisfies Record<string, CallClass>;

export function readCallClass(recorded: RecordedCallClass): CallClass {
  return Object.hasOwn(EARLIER_NAMES, recorded)
    ? EARLIER_NAMES[recorded as keyof typeof EARLIER_NAMES]
    : (recorded as CallClass);
}

export type ScheduleEvent =
  /** A call arrived. Nothing after it starts before it is classified or ended. */
  | { type: "arrived"; id: string }
  | { type: "classified"; id: string; class: CallClass; repeatable?: boolean }
  /** Refused on arrival: unknown, unavailable or invalid. `stops` when it was to be a write. */
  | { type: "refused"; id: string; stops: boolean }
  /** The stream that brings calls has ended well: what waited for that may start. */
  | { type: "stream_ended" }
  /** A running call waits for the user: it holds no slot until it is answered (PERM-13). */
  | { type: "asking"; id: string }
  | { type: "answered"; id: string }
  /** A changed input changed what the call is; a parallel call may have to wait until nothing else runs. */
  | { type: "reclassified"; id: string; class: CallClass; repeatable?: boolean }
  | { type: "ended"; id: string; failed: boolean; cancelsSiblings?: boolean }
  /** No call starts any more. Those that run are the caller's to cancel. */
  | { type: "halted" };

export type ScheduleAction =
  | { type: "start"; id: string }
  /** It may continue: it has a slot again, or nothing else runs any more. */
  | { type: "resume"; id: string }
  /** It will not start, or has begun, does not run and will not continue, because of the call `cause`. */
  | { type: "skip"; id: string; cause: string }
  /** It runs, or was about to run, beside the call `cause`, which failed. */
  | { type: "cancel"; id: string; cause: string }
  /** It will not start, because the turn was halted. */
  | { type: "drop"; id: string };

export interface ScheduleOptions {
  /** How many calls of a group may run at once. */
  maxParallel: number;
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
  /** Queued once more, as what it turned out to be: it resumes instead of starting. */
  begun: boolean;
  /** A failed sibling cancelled it: it does not resume before it has ended. */
  cancelled: boolean;
}

const NOTHING: readonly ScheduleAction[] = [];

export class Schedule {
  readonly #options: ScheduleOptions;
  readonly #entries: Entry[] = [];
  readonly #byId = new Map<string, number>();
  /** The actions of the current step: mostly none or one. */
  #actions: ScheduleAction[] | undefined = undefined;
  /** Every entry before `#front` has ended. */
  #front = 0;
  /** No entry of the front group before `#cursor` waits to start or resume. */
  #cursor = 0;
  #active = 0;
  #streaming = true;
  #halted = false;
  #stop: { index: number; cause: string } | undefined = undefined;

  constructor(options: ScheduleOptions) {
    this.#options = options;
  }

  /** The actions are to be carried out in order. An event about an unknown or ended call is ignored. */
  step(event: ScheduleEvent): readonly ScheduleAction[] {
    if (event.type === "stream_ended") {
      this.#streaming = false;
    } else if (event.type === "halted") {
      this.#halted = true;
      for (const entry of this.#entries) this.#drop(entry);
    } else if (event.type === "arrived") {
      if (this.#byId.has(event.id)) return NOTHING;
      this.#byId.set(event.id, this.#entries.length);
      this.#entries.push({
        id: event.id,
        class: undefined,
        repeatable: false,
        phase: "arrived",
        begun: false,
        cancelled: false,
      });
      return NOTHING;
    } else {
      const index = this.#byId.get(event.id);
      const entry = index === undefined ? undefined : this.#entries[index];
      if (index === undefined || entry === undefined || entry.phase === "ended") return NOTHING;
      this.#apply(event, entry, index);
      if (this.#stop !== undefined && index > this.#stop.index) this.#skip(entry);
    }
    this.#advance();
    const due = this.#actions ?? NOTHING;
    this.#actions = undefined;
    return due;
  }

  #apply(
    event: Exclude<ScheduleEvent, { type: "stream_ended" | "halted" | "arrived" }>,
    entry: Entry,
    index: number,
  ): void {
    switch (event.type) {
      case "classified":
        if (entry.phase !== "arrived") return;
        this.#classify(entry, event);
        entry.phase = "queued";
        if (this.#halted) this.#drop(entry);
        return;
      case "refused":
        this.#end(entry);
        if (event.stops) this.#stopAfter(index, entry.id);
        return;
      case "asking":
        if (entry.phase === "running") this.#leaveSlot(entry, "asking");
        return;
      case "answered":
        if (entry.phase === "asking") this.#leaveSlot(entry, "waiting");
        this.#cursor = Math.min(this.#cursor, index);
        return;
      case "reclassified":
        if (entry.class === event.class || entry.cancelled) return;
        this.#classify(entry, event);
        if (entry.phase !== "running") return;
        // Its neighbours may be running already: it continues when a call of its new class could start.
        this.#leaveSlot(entry, "queued");
        entry.begun = true;
        this.#cursor = Math.min(this.#cursor, index);
        if (this.#halted) this.#drop(entry);
        return;
      case "ended":
        if (event.failed && event.cancelsSiblings === true && !entry.cancelled) {
          this.#cancelSiblings(index);
        }
        this.#end(entry);
        if (event.failed && entry.class === "write") this.#stopAfter(index, entry.id);
        return;
    }
  }

  #classify(
    entry: Entry,
    { class: kind, repeatable }: { class: CallClass; repeatable?: boolean },
  ): void {
    entry.class = kind;
    entry.repeatable = (kind === "parallel" || kind === "exclusive") && repeatable !== false;
  }

  #emit(action: ScheduleAction): void {
    if (this.#actions === undefined) this.#actions = [action];
    else this.#actions.push(action);
  }

  /** Starts what the first unfinished call and its group allow. */
  #advance(): void {
    while (this.#entries[this.#front]?.phase === "ended") this.#front += 1;
    const first = this.#entries[this.#front];
    if (first?.class === undefined) return;
    this.#cursor = Math.max(this.#cursor, this.#front);
    if (first.class === "exclusive" || first.class === "write") {
      if (this.#active === 0) this.#begin(first);
      return;
    }
    const limit = first.class === "parallel" ? this.#options.maxParallel : Number.POSITIVE_INFINITY;
    for (; this.#active < limit; this.#cursor += 1) {
      const entry = this.#entries[this.#cursor];
      if (entry === undefined) return;
      if (entry.phase === "ended") continue;
      if (entry.class !== first.class || !this.#begin(entry)) return;
    }
  }

  /** False when the call has to wait for the stream to end. */
  #begin(entry: Entry): boolean {
    if (entry.phase === "queued") {
      if (!this.#mayStart(entry)) return false;
      this.#emit({ type: entry.begun ? "resume" : "start", id: entry.id });
    } else if (entry.phase === "waiting" && !entry.cancelled) {
      this.#emit({ type: "resume", id: entry.id });
    } else {
      return true;
    }
    entry.phase = "running";
    this.#active += 1;
    return true;
  }

  #mayStart(entry: Entry): boolean {
    if (!this.#streaming || this.#options.early === "all") return true;
    return this.#options.early === "readonly" && entry.repeatable;
  }

  #leaveSlot(entry: Entry, phase: Phase): void {
    if (entry.phase === "running") this.#active -= 1;
    entry.phase = phase;
  }

  #end(entry: Entry): void {
    this.#leaveSlot(entry, "ended");
  }

  #stopAfter(index: number, cause: string): void {
    if (this.#stop !== undefined && this.#stop.index <= index) return;
    this.#stop = { index, cause };
    for (const entry of this.#entries.slice(index + 1)) this.#skip(entry);
  }

  #skip(entry: Entry): void {
    // One that has begun but holds no slot needs leave to continue, and does not get it.
    const idle = entry.phase === "queued" || entry.phase === "asking" || entry.phase === "waiting";
    if (!idle || entry.cancelled || this.#stop === undefined) return;
    this.#end(entry);
    this.#emit({ type: "skip", id: entry.id, cause: this.#stop.cause });
  }

  #drop(entry: Entry): void {
    if (entry.phase !== "queued") return;
    this.#end(entry);
    this.#emit({ type: "drop", id: entry.id });
  }

  /** The group of a call: its neighbours of the same class, with only ended calls in between. */
  #cancelSiblings(index: number): void {
    const { id: cause, class: kind } = this.#entries[index] as Entry;
    // Nothing runs beside an exclusive call, and a call that starts an agent cancels no other.
    if (kind !== "parallel") return;
    for (const direction of [-1, 1]) {
      for (let i = index + direction; ; i += direction) {
        const entry = this.#entries[i];
        if (entry === undefined || (entry.phase !== "ended" && entry.class !== kind)) break;
        if (entry.phase === "ended" || entry.cancelled) continue;
        // One that is queued ends here; one that runs, asks or waits is ended by its turn.
        if (entry.phase === "queued") this.#end(entry);
        else entry.cancelled = true;
        this.#emit({ type: "cancel", id: entry.id, cause });
      }
    }
  }
}
