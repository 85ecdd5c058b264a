// What the parts of one run's loop share: the kernel's run, the conversation it adds to, its figures, and what reaches it from
// outside while it is under way.

import type {
  Clock,
  ContentBlock,
  ConversationNode,
  Fact,
  FactData,
  FactLevel,
  FactRecord,
  FactType,
  IdSource,
  Run,
  RunOptions,
  Session,
  Turn,
} from "@soong/core";
import { inTime } from "@soong/platform";
import type { ContextBook, NodePlace } from "../context/index.ts";
import type { StartRecall } from "../memory/index.ts";
import type { Cost, Model, ModelUsage } from "../model/index.ts";
import type { InstructionCache, InstructionSource } from "./instruction-cache.ts";
import type { LoopLimits } from "./limits.ts";
import type { EventLog } from "./run-events.ts";
import { addUsage, type UsageTotal } from "./usage.ts";

export interface LoopOptions {
  readonly session: Session;
  /** The first is used; the rest are the fallback chain (MODEL-4). */
  readonly models: readonly [Model, ...Model[]];
  /** Role, mode, policy, roots, parent and so on, for every run. */
  readonly run?: RunOptions;
  /** Static text; it describes and grants nothing (CTX-4). */
  readonly system?: readonly string[];
  /** Instruction files to begin with, below that text (INSTR-2): `instructionFiles(…)` of `@soong/tools`. */
  readonly instructions?: InstructionSource;
  /** What is remembered and fits the prompt, added to it (MEM-4): `startRecall(…)`. */
  readonly recall?: StartRecall | undefined;
  /** Provides tools that may be late or change: awaited before a run and each of its turns (MCP-3). */
  readonly toolProvider?: ToolProvider | undefined;
  /** Each run is added as it begins and removed as it ends. */
  readonly runRegistry?: RunRegistry | undefined;
  /** The current state, shown with each request beside the conversation. */
  readonly board?: RunBoard | undefined;
  /** Asked once a run, when the model is done. */
  readonly checkAnswer?: AnswerCheck | undefined;
  /** Called with each piece of text as it comes, before it is recorded or redacted. Must not throw. */
  readonly onText?: TextListener | undefined;
  /** For runs another run has started: whose it is to pay, and where in the journal theirs begins. */
  readonly started_by?: { readonly account: UsageTotal; readonly lastSeq: number } | undefined;
  /** The conversation so far, root first: `readHistory(reader, agent_id)` of a stored session. */
  readonly history?: readonly ConversationNode[];
  /** Those of `history` that are not on record, as `readHistory` found them. */
  readonly unrecorded?: readonly ConversationNode[];
  readonly agent_definition_id?: string | undefined;
  readonly clock?: Clock;
  readonly ids?: IdSource;
  readonly limits?: Partial<LoopLimits>;
}

/** The current state to show with each request. Undefined: there is nothing to show. */
export type RunBoard = (run: Run) => Promise<string | undefined>;

/** What the model has to fix in its last answer; undefined when the answer is accepted. */
export type AnswerCheck = (answer: string) => string | undefined;

/** `node_id`: the node that will hold the answer. */
export type TextListener = (run_id: string, node_id: string, text: string) => void;

/** Tools that come from elsewhere and may be late or change (MCP-2, MCP-3). */
export interface ToolProvider {
  /** Brings the registry up to date, within a time of its own. The signal ends the waiting. */
  ready(signal: AbortSignal): Promise<void>;
  /** Those that have not answered yet, for the model to know when it searches. */
  connecting(): readonly string[];
  /** What they want a model to know of their tools. Their words, not ours. */
  notes(): readonly SourceNote[];
}

export interface SourceNote {
  /** Such as `MCP server "github"`. */
  readonly from: string;
  readonly text: string;
}

/** So that a tool whose handler knows only the ids of its call finds the run behind them. */
export interface RunRegistry {
  /** After `run.started` and before the first request. What it throws ends the run. */
  add(active: ActiveRun): void;
  /** After the run's last fact. */
  remove(active: ActiveRun): void;
}

export interface ActiveRun {
  readonly session: Session;
  readonly run: Run;
  /** What the run was asked for with. */
  readonly options: RunOptions;
  readonly models: readonly [Model, ...Model[]];
  readonly system: readonly string[];
  readonly limits: LoopLimits;
  readonly toolProvider?: ToolProvider | undefined;
  readonly agent_definition_id?: string | undefined;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** What the run and all it started have used so far; one object for all of them, which each adds to (MODEL-4, EVENT-7). */
  readonly account: UsageTotal;
  /** The run's own part of it, with that of workers that are processes of their own: their facts are elsewhere. */
  readonly usage: UsageTotal;
  /** Everything of a run that begins now comes after it in the journal. */
  readonly lastSeq: number;
  /** The conversation as it is now, root first. An answer is on it once it has been read whole. */
  path(): readonly ConversationNode[];
  /** Tools that were found and loaded so far. */
  loadedTools(): readonly string[];
  /** What a step of a remote worker waits for, beside the progress of its call. */
  onWaiting?(message: string): void;
}

/** Lasts from run to run. */
export interface ConversationState extends Omit<
  LoopOptions,
  "run" | "history" | "instructions" | "unrecorded"
> {
  readonly system: readonly string[];
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly limits: LoopLimits;
  /** What a request may hold by estimate: as requested, or what its models take. */
  readonly contextTokens: number | undefined;
  readonly book: ContextBook;
  /** On the path and not on record: what a crash took from the history (STORE-3). The next run records it. */
  readonly unrecorded: ConversationNode[];
  readonly instructions: InstructionCache;
  /** Found and loaded so far; the next run begins with them. */
  readonly found: Set<string>;
}

export interface Running extends ConversationState, Omit<ActiveRun, "lastSeq"> {
  readonly system: readonly string[];
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly limits: LoopLimits;
  /** What was deferred at some time: loaded later, it was found by a search. */
  readonly seenDeferred: Set<string>;
  readonly control: RunControl;
  readonly log: EventLog;
  /** Of this run alone. */
  readonly usage: UsageTotal;
  lastSeq: number;
  answerChecked: boolean;
  /** On the path, and on record with the next fact. */
  readonly pending: ConversationNode[];
  /** Model requests so far. */
  requests: number;
  /** Which model of the chain answers. */
  chosen: number;
  answer: string;
  compactionFailed: boolean;
}

/** Adds a node to the conversation; it is committed with the next fact. */
export function addNode({ book, pending }: Running, node: ConversationNode): void {
  book.add(node);
  pending.push(node);
}

export function nextNodePlace({ run, ids, book }: Running): NodePlace {
  const { session_id, run_id, agent_id } = run.identity;
  const node_id = ids.next("node");
  const parent_id = book.path.at(-1)?.node_id;
  return parent_id === undefined
    ? { node_id, session_id, run_id, agent_id }
    : { node_id, session_id, run_id, agent_id, parent_id };
}

/** One fact, clean already, with the nodes that wait for one. */
export function recordFact<T extends FactType>(
  running: Running,
  type: T,
  data: FactData<T>,
  level: FactLevel = "info",
): Fact<T> {
  const { recorder } = running.run;
  const fact = recorder.draft(type, data, undefined, level);
  recorder.commit([fact as Fact], running.pending.splice(0));
  running.lastSeq = fact.seq;
  return fact;
}

/** The same for a fact that is made of a record when it is read. */
export function noteFact(running: Running, record: NodesRecord, type: FactType): void {
  const { pending } = running;
  const hasNodes = pending.length > 0;
  if (hasNodes) record.nodes = pending.splice(0);
  running.lastSeq = running.run.recorder.note(record, type, "info", hasNodes);
}

/** What is committed with a fact is set when it is noted, once. */
interface NodesRecord extends FactRecord {
  nodes: readonly ConversationNode[] | undefined;
}

/** Something went wrong, and the run continues. */
export function recordWarning(
  running: Running,
  code: string,
  message: string,
  more?: Omit<FactData<"error">, "code" | "message">,
): void {
  recordFact(running, "error", { code, message, ...more }, "warn");
}

/** Of one model request, for the run and for the account it is charged to. */
export function addSpending(
  { usage, account }: Running,
  used: ModelUsage | undefined,
  cost: Cost | null,
): void {
  addUsage(usage, used, cost);
  addUsage(account, used, cost);
}

/** The model that is asked next. */
export function getModel({ models, chosen }: Running): Model {
  return models[chosen] ?? models[0];
}

/** A model's stream that is being read. */
export interface WatchedStream {
  /** By the monotonic clock; it moves with each sign of life. */
  readonly dueAt: number;
  expire(): void;
  abort(reason: Error): void;
}

/** Input that waits for the next request. */
export interface QueuedInput {
  /** False once it is on its way to the model. */
  takeBack(): boolean;
}

/** What reaches a run from outside: an abort, and input, which may interrupt it (PIPE-7). */
export class RunControl {
  /** Why, once the run is aborted. */
  aborted: string | undefined;
  /** The turn that an abort or an interrupt reaches. */
  turn: Turn | undefined;
  readonly #clock: Clock;
  /** Made for those who want a signal: Node gives each one a hidden class of its own, 1 kB and 8 µs. */
  #controller: AbortController | undefined = undefined;
  readonly #notice = new AbortNotice();
  #watched: WatchedStream | undefined = undefined;
  /** One for all streams of a run: it is set anew when it fires, and most answers end long before. */
  #timer: (() => void) | undefined = undefined;
  #firesAt = 0;
  readonly #inputs: (readonly ContentBlock[])[] = [];
  #isClosed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.aborted !== undefined) this.#controller.abort(new Error(this.aborted));
    }
    return this.#controller.signal;
  }

  abort(reason: string): void {
    if (this.aborted !== undefined || this.#isClosed) return;
    this.aborted = reason;
    const error = new Error(reason);
    this.#controller?.abort(error);
    this.#notice.abort();
    this.#watched?.abort(error);
    void this.turn?.abort(reason);
  }

  /** Undefined once the run takes no more. */
  queue(input: readonly ContentBlock[]): QueuedInput | undefined {
    if (this.#isClosed || this.aborted !== undefined) return undefined;
    // A copy: the same blocks may be queued twice.
    const queued = [...input];
    this.#inputs.push(queued);
    return {
      takeBack: () => {
        const at = this.#inputs.indexOf(queued);
        if (at >= 0) this.#inputs.splice(at, 1);
        return at >= 0;
      },
    };
  }

  /** False once the run takes no more. */
  interrupt(text: string): boolean {
    if (this.queue([{ type: "text", text }]) === undefined) return false;
    this.turn?.interrupt("new input came in");
    return true;
  }

  /** Takes what has come in. */
  takeInput(): (readonly ContentBlock[])[] {
    return this.#inputs.splice(0);
  }

  /** From now on nothing more is taken; false when input has come in that was not taken. */
  close(): boolean {
    if (this.#inputs.length > 0 && this.aborted === undefined) return false;
    this.#isClosed = true;
    return true;
  }

  /** The stream that an abort and the end of its time reach; undefined: none is read. */
  watch(stream: WatchedStream | undefined): void {
    this.#watched = stream;
    if (stream !== undefined) this.#setTimer(stream.dueAt);
  }

  /** No stream is read any more. */
  forgetTimer(): void {
    this.#timer?.();
    this.#timer = undefined;
  }

  #setTimer(dueAt: number): void {
    if (this.#timer !== undefined && this.#firesAt <= dueAt) return;
    this.#timer?.();
    this.#firesAt = dueAt;
    this.#timer = this.#clock.after(dueAt - this.#clock.monotonic(), () => {
      this.#timer = undefined;
      const stream = this.#watched;
      if (stream === undefined) return;
      if (stream.dueAt <= this.#clock.monotonic()) stream.expire();
      else this.#setTimer(stream.dueAt);
    });
  }

  /** Settles with the value, or as `aborted` once the run is. The work is then no longer waited for. */
  async unlessAborted<T>(work: Promise<T>): Promise<T | "aborted"> {
    const waited = await inTime(work, { signal: this.#notice });
    return waited.kind === "done" ? waited.value : "aborted";
  }

  /** Settles after the time, or as soon as the run is aborted. */
  async wait(ms: number): Promise<"waited" | "aborted"> {
    const waited = await inTime(NEVER, { ms, clock: this.#clock, signal: this.#notice });
    return waited.kind === "late" ? "waited" : "aborted";
  }
}

/** As much of a signal as waiting needs. */
class AbortNotice {
  aborted = false;
  readonly #listeners = new Set<() => void>();

  addEventListener(_: "abort", listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_: "abort", listener: () => void): void {
    this.#listeners.delete(listener);
  }

  abort(): void {
    this.aborted = true;
    for (const listener of this.#listeners) listener();
  }
}

const NEVER = new Promise<never>(() => {});

/** A failure costs the tools of that source and nothing else. */
export async function awaitTools(
  toolProvider: ToolProvider | undefined,
  control: RunControl,
): Promise<void> {
  if (toolProvider === undefined) return;
  const coming = Promise.resolve().then(() => toolProvider.ready(control.signal));
  await control.unlessAborted(coming.catch(() => {}));
}
