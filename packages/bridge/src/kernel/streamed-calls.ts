// Calls of answers that still stream. They are one turn, and reads start at once. The rest waits until the loop has started
// every call of the answer: a loop may drop an answer, or ask its user about one of the calls, and not say so. Writes of such
// an answer must not run (SCHED-6).

import { isDeepStrictEqual } from "node:util";
import type { FactType, ToolCall } from "@soong/core";
import type { BridgeRun } from "./bridge-run.ts";
import type { BridgedTurn } from "./bridged-turn.ts";
import { followCall, type FollowedCall } from "./follow-call.ts";
import type { Gate } from "./gate.ts";

/** As the model made it, with the id that the loop has for it. */
export interface StreamedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export class StreamedCalls {
  readonly #run: BridgeRun;
  readonly #gate: Gate;
  readonly #answers = new Map<string, StreamedAnswer>();
  #isEarly: boolean;

  /** `isEarly`: calls start before the loop starts them. Not for loops that ask their user about a call after the answer. */
  constructor(run: BridgeRun, gate: Gate, { isEarly }: { readonly isEarly: boolean }) {
    this.#run = run;
    this.#gate = gate;
    this.#isEarly = isEarly;
  }

  /** For each answer that streams. */
  openAnswer(signal?: AbortSignal): StreamedAnswer {
    return new StreamedAnswer(this.#run, this.#gate, {
      answers: this.#answers,
      signal,
      isEarly: this.#isEarly,
      // What starts early would only be taken back.
      onSplit: () => {
        this.#isEarly = false;
      },
    });
  }

  /** Before each request: the loop is done with earlier answers. A call of theirs that it starts after all is a new one. */
  closeAnswers(): void {
    for (const answer of new Set(this.#answers.values())) answer.close();
  }

  /** The loop starts this call. Undefined: it has not started early, and is to be executed now. */
  async claim(call: ToolCall, signal?: AbortSignal): Promise<FollowedCall | undefined> {
    return this.#answers.get(call.id ?? "")?.claim(call, signal);
  }
}

interface AnswerOptions {
  /** By the ids of calls that the loop has not started yet. */
  readonly answers: Map<string, StreamedAnswer>;
  /** Of the request. */
  readonly signal: AbortSignal | undefined;
  readonly isEarly: boolean;
  /** The loop starts calls one by one, or changes them. */
  readonly onSplit: () => void;
}

/** How long after its first call a loop may start the last one. A loop that starts them one by one waits for a result. */
const LONGEST_START_MS = 25;

const RUN_ENDS = new Set<FactType>(["run.completed", "run.failed", "run.aborted"]);

export class StreamedAnswer {
  readonly #run: BridgeRun;
  readonly #gate: Gate;
  readonly #options: AnswerOptions;
  readonly #calls: PendingCall[] = [];
  #turn: BridgedTurn | undefined;
  #phase: "streaming" | "complete" | "decided" = "streaming";
  /** Calls that have changed nothing are executed when the loop starts them. */
  #isSplit = false;
  #timer: NodeJS.Timeout | undefined;
  #stopWatching: (() => void) | undefined;
  #settle: () => void = () => {};
  readonly #decided = new Promise<void>((resolve) => {
    this.#settle = resolve;
  });

  constructor(run: BridgeRun, gate: Gate, options: AnswerOptions) {
    this.#run = run;
    this.#gate = gate;
    this.#options = options;
  }

  /** The next call of the answer, with all its arguments. */
  push(call: StreamedCall): void {
    if (this.#phase !== "streaming") return;
    const { answers, isEarly } = this.#options;
    // Another answer on this run, or this one: it would be unclear which of them the loop means.
    if (answers.has(call.id)) return this.#split();
    const pending: PendingCall = { call, followed: undefined, isClaimed: false };
    this.#calls.push(pending);
    answers.set(call.id, this);
    if (isEarly) this.#start(pending);
  }

  /** The answer has ended well: the loop may execute it. */
  complete(): void {
    if (this.#phase !== "streaming") return;
    this.#phase = "complete";
    if (this.#options.isEarly) this.#checkClaims();
    else this.#split();
  }

  /** The same, where the end of the answer has all calls once more. What started early must be what they begin with. */
  completeWith(calls: readonly StreamedCall[]): void {
    const isSame = this.#calls.every(({ call }, at) => isDeepStrictEqual(call, calls[at]));
    if (!isSame) return this.#split();
    // Where none has started, there is nothing to gain any more.
    if (this.#calls.length > 0) for (const call of calls.slice(this.#calls.length)) this.push(call);
    this.complete();
  }

  /** The answer failed or was cut off: its calls do not run, also if the loop starts them. Does nothing once it is complete. */
  drop(reason: string): void {
    if (this.#phase !== "streaming") return;
    for (const pending of this.#calls) this.#start(pending);
    this.#decide();
    void this.#turn?.discard(reason);
  }

  close(): void {
    const isStarted = this.#calls.some(({ isClaimed }) => isClaimed);
    if (this.#phase === "complete" && !isStarted) {
      this.#decide();
      void this.#turn?.discard("the loop did not execute this answer");
    }
    if (this.#phase === "decided") this.#forget();
  }

  async claim(given: ToolCall, signal?: AbortSignal): Promise<FollowedCall | undefined> {
    const pending = this.#calls.find(({ call }) => call.id === given.id);
    if (pending === undefined) return undefined;
    this.#options.answers.delete(pending.call.id);
    pending.isClaimed = true;
    this.#turn?.abortOn(signal);
    const isSame = isSameCall(pending.call, given);
    if (isSame) this.#checkClaims();
    else this.#split();
    await this.#decided;
    const { followed } = pending;
    if (!this.#isSplit || followed === undefined) return followed;
    // What has changed something is not taken back.
    const { result } = await followed.outcome;
    return isSame && result.status !== "discarded" ? followed : undefined;
  }

  #start(pending: PendingCall): void {
    if (pending.followed !== undefined) return;
    this.#turn ??= this.#openTurn();
    const pushed = this.#turn.push(pending.call, { signal: this.#options.signal });
    pending.followed = followCall(this.#run, pushed);
  }

  #openTurn(): BridgedTurn {
    const { run_id } = this.#run.identity;
    this.#stopWatching = this.#run.session.watch({ types: RUN_ENDS, run_id }, () => {
      if (this.#phase === "streaming") this.drop("the run has ended");
      else this.close();
    });
    return this.#gate.openTurn();
  }

  #checkClaims(): void {
    if (this.#phase !== "complete") return;
    if (this.#calls.every(({ isClaimed }) => isClaimed)) {
      this.#decide();
      this.#turn?.end();
    } else if (this.#calls.some(({ isClaimed }) => isClaimed)) {
      this.#timer ??= setTimeout(() => this.#split(), LONGEST_START_MS);
    }
  }

  /** The loop does not start all calls as the model made them: so each is executed when the loop starts it. */
  #split(): void {
    if (this.#phase === "decided") return;
    this.#isSplit = true;
    this.#options.onSplit();
    this.#decide();
    void this.#turn?.discard("the loop starts the calls of this answer one by one");
  }

  #decide(): void {
    this.#phase = "decided";
    clearTimeout(this.#timer);
    this.#stopWatching?.();
    this.#settle();
  }

  #forget(): void {
    const { answers } = this.#options;
    for (const { call } of this.#calls) if (answers.get(call.id) === this) answers.delete(call.id);
  }
}

interface PendingCall {
  readonly call: StreamedCall;
  /** Once it has started. */
  followed: FollowedCall | undefined;
  /** The loop has started it. */
  isClaimed: boolean;
}

/** The loop may have parsed the arguments, and something in it may have changed them. */
function isSameCall({ name, arguments: text }: StreamedCall, given: ToolCall): boolean {
  if (given.name !== name) return false;
  return given.arguments === text || isDeepStrictEqual(given.arguments, parseJson(text));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
