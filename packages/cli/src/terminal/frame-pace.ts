// How often a screen is drawn: at once when it has rested, and no more often than a user could see.

export interface FramePace {
  /** Once for all that happens until then. */
  soon(draw: () => void): void;
  stop(): void;
}

export function createFramePace(): FramePace {
  let lastAt = Number.NEGATIVE_INFINITY;
  let cancel: (() => void) | undefined;
  return {
    soon(draw) {
      if (cancel !== undefined) return;
      const run = (): void => {
        cancel = undefined;
        lastAt = performance.now();
        draw();
      };
      const wait = lastAt + FRAME_MS - performance.now();
      if (wait > 0) {
        const timer = setTimeout(run, wait);
        cancel = () => clearTimeout(timer);
      } else {
        const immediate = setImmediate(run);
        cancel = () => clearImmediate(immediate);
      }
    },
    stop() {
      cancel?.();
      cancel = undefined;
    },
  };
}

const FRAME_MS = 16;
