// LangGraph starts the calls of one answer as tasks of their own. Here they become one turn again, in the order of the answer;
// a task that is executed again, as on a resume, gets the result that its call has.

import type { ToolCall } from "@soong/core";
import type { CallOptions, CallOutcome, Gate } from "../kernel/index.ts";
import { keepLatest } from "./answer-places.ts";

/** Where a call is in the answer it is part of. */
export interface AnswerPlace {
  /** Distinct for each answer of each thread. */
  readonly answer: string;
  readonly at: number;
  /** How many calls of the answer may arrive together. */
  readonly expected: number;
}

export interface ArrivedCall {
  readonly call: ToolCall;
  /** Undefined where the loop does not say which answer it is of: then what it starts at once is one turn. */
  readonly place?: AnswerPlace | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Rejects to pause: then the call is not executed. */
  readonly decide: () => Promise<CallApproval>;
  readonly onPushed?: (tool_call_id: string) => void;
}

export type CallApproval = Pick<CallOptions, "isApproved" | "denied">;

export interface AnswerTurns {
  execute(arrived: ArrivedCall): Promise<CallOutcome>;
}

export function createAnswerTurns(gate: Gate): AnswerTurns {
  const groups = new Map<string, CallGroup>();
  const kept = new Map<string, Promise<CallOutcome>>();

  return { execute };

  async function execute(arrived: ArrivedCall): Promise<CallOutcome> {
    const key = callKey(arrived);
    const before = key === undefined ? undefined : kept.get(key);
    if (before !== undefined) return before;
    const { call } = arrived;
    const group = joinGroup(arrived.place);
    let approval: CallApproval;
    try {
      approval = await arrived.decide();
    } catch (paused) {
      group.leave();
      throw paused;
    }
    const again = key === undefined ? undefined : kept.get(key);
    if (again !== undefined) {
      group.leave();
      return again;
    }
    if (approval.denied !== undefined) group.leave();
    const outcome =
      approval.denied === undefined
        ? group.add(arrived, approval)
        : gate.refuse(call, approval.denied.reason);
    if (key !== undefined) keepLatest(kept, key, outcome);
    return outcome;
  }

  function joinGroup(place: AnswerPlace | undefined): CallGroup {
    const answer = place?.answer ?? "";
    const group = groups.get(answer) ?? openGroup(answer, place?.expected);
    group.join();
    return group;
  }

  function openGroup(answer: string, expected: number | undefined): CallGroup {
    const group = new CallGroup(gate, expected, () => groups.delete(answer));
    groups.set(answer, group);
    return group;
  }
}

/** A call that has not arrived by then may never: another middleware has answered it, or it has its result already. */
const LONGEST_GATHERING_MS = 25;

class CallGroup {
  readonly #gate: Gate;
  readonly #expected: number | undefined;
  readonly #onClose: () => void;
  readonly #ready: ReadyCall[] = [];
  #joined = 0;
  #deciding = 0;
  #isClosed = false;
  #stopWaiting = (): void => {};

  constructor(gate: Gate, expected: number | undefined, onClose: () => void) {
    this.#gate = gate;
    this.#expected = expected;
    this.#onClose = onClose;
  }

  join(): void {
    this.#joined += 1;
    this.#deciding += 1;
    this.#stopWaiting();
    if (this.#expected === undefined) {
      const waiting = setImmediate(() => this.#close());
      this.#stopWaiting = () => clearImmediate(waiting);
    } else if (this.#joined < this.#expected) {
      const waiting = setTimeout(() => this.#close(), LONGEST_GATHERING_MS);
      this.#stopWaiting = () => clearTimeout(waiting);
    } else this.#close();
  }

  leave(): void {
    this.#deciding -= 1;
    this.#startTurn();
  }

  add(
    { call, place, signal, onPushed }: ArrivedCall,
    approval: CallApproval,
  ): Promise<CallOutcome> {
    return new Promise((resolve) => {
      this.#ready.push({
        at: place?.at ?? this.#ready.length,
        push(turn) {
          const { tool_call_id, outcome } = turn.push(call, { signal, ...approval });
          onPushed?.(tool_call_id);
          resolve(outcome);
        },
      });
      this.leave();
    });
  }

  #close(): void {
    this.#isClosed = true;
    this.#onClose();
    this.#startTurn();
  }

  #startTurn(): void {
    if (!this.#isClosed || this.#deciding > 0 || this.#ready.length === 0) return;
    const turn = this.#gate.openTurn();
    for (const ready of this.#ready.toSorted((a, b) => a.at - b.at)) ready.push(turn);
    turn.end();
  }
}

interface ReadyCall {
  readonly at: number;
  push(turn: ReturnType<Gate["openTurn"]>): void;
}

/** With the arguments: an answer that was edited and continued from is another call. */
function callKey({ place, call }: ArrivedCall): string | undefined {
  if (place === undefined) return undefined;
  return JSON.stringify([place.answer, place.at, call.id, call.name, call.arguments]);
}
