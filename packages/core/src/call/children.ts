// How many agents may be started by one run, and run at once in one session (SCHED-2).

export interface ChildSlots {
  /** False when the run has had its share. Counts what it grants. */
  grant(): boolean;
  /** A granted one that never began. */
  giveBack(): void;
  /** A place among the children of the session, now or when one is free. */
  enter(): Promise<() => void>;
}

export interface SessionChildren {
  forRun(maxPerRun: number): ChildSlots;
}

export function createSessionChildren(maxAtOnce: number): SessionChildren {
  let running = 0;
  const queue: ((leave: () => void) => void)[] = [];

  return {
    forRun(maxPerRun) {
      let granted = 0;
      return {
        grant() {
          if (granted >= maxPerRun) return false;
          granted += 1;
          return true;
        },
        giveBack() {
          granted -= 1;
        },
        enter() {
          if (running < maxAtOnce) return Promise.resolve(place());
          return new Promise((resolve) => {
            queue.push(resolve);
          });
        },
      };
    },
  };

  function place(): () => void {
    running += 1;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      running -= 1;
      const next = queue.shift();
      if (next !== undefined) next(place());
    };
  }
}
