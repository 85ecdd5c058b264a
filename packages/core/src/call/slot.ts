// A call's place in its turn, and what the call may ask of the turn while it runs.

import type { ConversationNode } from "../journal/index.ts";
import type { CallClass, ScheduleEvent } from "../schedule/index.ts";
import type { ToolResult } from "../tool/index.ts";
import type { Call } from "./call.ts";
import type { Finished } from "./finish.ts";
import type { Gate } from "./gate.ts";

const NO_NODES: readonly ConversationNode[] = [];

export class Slot implements Gate {
  readonly call: Call;
  /** Ended, but its attempt may still be abandoned. */
  parked: Finished | undefined;
  result: ToolResult | undefined;
  /** What it has left in the conversation. */
  nodes: readonly ConversationNode[] = NO_NODES;
  resume: (() => void) | undefined;
  waits = 0;
  waitsSince = 0;
  readonly #turn: TurnGate;

  constructor(call: Call, turn: TurnGate) {
    this.call = call;
    this.#turn = turn;
  }

  waitForPerson<T>(answer: Promise<T>): Promise<T> {
    return this.#turn.waitForPerson(this, answer);
  }

  reclassify(to: CallClass): Promise<void> {
    const { tool_call_id: id, effects } = this.call;
    const { repeatable } = effects;
    return this.#turn.resumed(this, { type: "reclassified", id, class: to, repeatable });
  }

  stopRun(reason: string, hook: string): void {
    this.#turn.stopRun(reason, hook);
  }
}

export interface TurnGate {
  waitForPerson<T>(slot: Slot, answer: Promise<T>): Promise<T>;
  resumed(slot: Slot, event: ScheduleEvent): Promise<void>;
  stopRun(reason: string, hook: string): void;
}
