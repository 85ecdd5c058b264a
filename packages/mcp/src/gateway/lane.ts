// How many calls of one client run at once. The rest wait in the order they came; a call that waits for a
// user gives its place away meanwhile.

export interface Place {
  /** Gives it to the next in line, until `again`. */
  leave(): void;
  again(): Promise<void>;
  /** For good: one about to come back does not. */
  end(): void;
}

export function createLane(size: number) {
  let free = size;
  const waiting = new Set<() => void>();

  return {
    /** Resolves with the place once there is one, at once when the signal says not to wait. */
    async enter(signal: AbortSignal): Promise<Place> {
      let inside = await take(signal);
      let isOver = false;
      let returning: Promise<void> | undefined;
      const leave = (): void => {
        if (inside) give();
        inside = false;
      };
      return {
        leave,
        async again() {
          if (inside || isOver) return;
          returning ??= comeBack();
          await returning;
        },
        end() {
          isOver = true;
          leave();
        },
      };

      async function comeBack(): Promise<void> {
        inside = await take(signal);
        returning = undefined;
        if (isOver) leave();
      }
    },
  };

  /** False for one that gave up waiting: there is no place to give back then. */
  function take(signal: AbortSignal): Promise<boolean> | boolean {
    if (signal.aborted) return false;
    if (free > 0) {
      free -= 1;
      return true;
    }
    return new Promise((resolve) => {
      const enter = (): void => settle(true);
      const giveUp = (): void => settle(false);
      const settle = (entered: boolean): void => {
        waiting.delete(enter);
        signal.removeEventListener("abort", giveUp);
        resolve(entered);
      };
      waiting.add(enter);
      signal.addEventListener("abort", giveUp);
    });
  }

  function give(): void {
    const [next] = waiting;
    if (next === undefined) free += 1;
    else next();
  }
}
