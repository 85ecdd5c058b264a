// How many agents may run at once in one session (SCHED-2).

export class ChildPlaces {
  readonly #most: number;
  readonly #queue: ((leave: () => void) => void)[] = [];
  #running = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** A place among the children of the session, now or when one is free; the answer gives it back. */
  enter(): Promise<() => void> {
    if (this.#running < this.#most) return Promise.resolve(this.#take());
    return new Promise((resolve) => {
      this.#queue.push(resolve);
    });
  }

  #take(): () => void {
    this.#running += 1;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#running -= 1;
      this.#queue.shift()?.(this.#take());
    };
  }
}
