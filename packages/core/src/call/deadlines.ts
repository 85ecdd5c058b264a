// The deadlines of the calls that run at the moment, on one timer: there are few of them at a time, and a timer each
// would cost more than the calls.

import type { Clock } from "../journal/index.ts";

export /** Due at a moment of the clock. */
interface Deadline {
  readonly at: number;
  expired(): void;
}

export class Deadlines {
  readonly #clock: Clock;
  readonly #running = new Set<Deadline>();
  #armedFor = Number.POSITIVE_INFINITY;
  #disarm: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(deadline: Deadline): void {
    this.#running.add(deadline);
    if (deadline.at < this.#armedFor) this.#arm(deadline.at);
  }

  remove(deadline: Deadline): void {
    // Left armed for the others: it finds nothing due then, and arms itself for what is next.
    if (this.#running.delete(deadline) && this.#running.size === 0) this.#rest();
  }

  #arm(at: number): void {
    this.#disarm?.();
    this.#armedFor = at;
    this.#disarm = this.#clock.after(at - this.#clock.monotonic(), () => this.#fire());
  }

  #rest(): void {
    this.#disarm?.();
    this.#disarm = undefined;
    this.#armedFor = Number.POSITIVE_INFINITY;
  }

  #fire(): void {
    this.#rest();
    const now = this.#clock.monotonic();
    for (const deadline of this.#running) {
      if (deadline.at > now) continue;
      this.#running.delete(deadline);
      deadline.expired();
    }
    let next = Number.POSITIVE_INFINITY;
    for (const { at } of this.#running) next = Math.min(next, at);
    if (next < this.#armedFor) this.#arm(next);
  }
}
