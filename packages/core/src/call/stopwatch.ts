// The time of one call: it runs out once, and stands still while a person thinks (PIPE-5, PIPE-6).

import type { Clock } from "../journal/index.ts";
import type { Deadline, Deadlines } from "./deadlines.ts";
import type { Gate } from "./gate.ts";

export interface StopwatchPorts {
  readonly clock: Clock;
  readonly deadlines: Deadlines;
}

export class Stopwatch implements Deadline {
  readonly limit: number;
  at = Number.POSITIVE_INFINITY;
  readonly #ports: StopwatchPorts;
  readonly #gate: Pick<Gate, "waitForPerson">;
  #remaining: number;
  #pauses = 0;
  #onOver: (() => void) | undefined;

  constructor(ports: StopwatchPorts, limit: number, gate: Pick<Gate, "waitForPerson">) {
    this.#ports = ports;
    this.#gate = gate;
    this.limit = limit;
    this.#remaining = limit;
  }

  start(onOver: () => void): void {
    this.#onOver = onOver;
    if (this.#pauses === 0) this.#run();
  }

  stop(): void {
    this.#onOver = undefined;
    this.#ports.deadlines.remove(this);
  }

  expired(): void {
    this.#onOver?.();
  }

  /** Waits without time passing. */
  async waitForPerson<T>(answer: Promise<T>): Promise<T> {
    this.#pauses += 1;
    if (this.#pauses === 1 && this.#onOver !== undefined) {
      this.#ports.deadlines.remove(this);
      this.#remaining = this.at - this.#ports.clock.now();
    }
    try {
      return await this.#gate.waitForPerson(answer);
    } finally {
      this.#pauses -= 1;
      if (this.#pauses === 0 && this.#onOver !== undefined) this.#run();
    }
  }

  #run(): void {
    this.at = this.#ports.clock.now() + this.#remaining;
    this.#ports.deadlines.add(this);
  }
}
