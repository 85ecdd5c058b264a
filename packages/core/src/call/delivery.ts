// Results out of a turn, in call order (SCHED-7): one by one as soon as all before are there, or all at once.

import { isThenable, type Recorder } from "../journal/index.ts";
import type { ToolResult } from "../tool/index.ts";
import type { Call } from "./call.ts";

export interface Deliverable {
  readonly call: Call;
  readonly result: ToolResult | undefined;
}

export interface Delivery {
  hasStreamEnded(): boolean;
  endStream(): void;
  /** One more call was taken; its result will come. */
  expect(): void;
  /** The result of one of them is there. */
  deliver(): void;
  results(): AsyncGenerator<ToolResult, undefined>;
  settled(): Promise<ToolResult[]>;
}

/** `calls` grows as calls are pushed. */
export function createDelivery(
  recorder: Recorder,
  calls: readonly Deliverable[],
  onSettled: (() => void) | undefined,
): Delivery {
  /** Readers of single results; whoever waits for all of them waits for `allEnded`. */
  const waiting = new Set<() => void>();
  let allEnded: Promise<void> | undefined;
  let announceEnd: (() => void) | undefined;
  let streamEnded = false;
  let open = 0;
  let yielded = 0;

  return {
    hasStreamEnded: () => streamEnded,
    endStream() {
      streamEnded = true;
      announce();
    },
    expect() {
      open += 1;
    },
    deliver() {
      open -= 1;
      announce();
    },
    results,
    settled,
  };

  function announce(): void {
    if (isOver()) {
      onSettled?.();
      announceEnd?.();
    }
    if (waiting.size === 0) return;
    for (const wake of waiting) wake();
    waiting.clear();
  }

  function isOver(): boolean {
    return streamEnded && open === 0;
  }

  async function settled(): Promise<ToolResult[]> {
    if (!isOver()) {
      allEnded ??= new Promise((resolve) => {
        announceEnd = resolve;
      });
      await allEnded;
    }
    await flushed();
    recordYields(calls.slice(yielded));
    return calls.map(({ result }) => result as ToolResult);
  }

  async function* results(): AsyncGenerator<ToolResult, undefined> {
    for (let i = 0; ;) {
      const next = calls[i];
      if (next?.result !== undefined) {
        await flushed();
        if (i === yielded) recordYields([next]);
        yield next.result;
        i += 1;
      } else if (next === undefined && streamEnded) {
        return undefined;
      } else {
        await news();
      }
    }
  }

  /** Settles when something has ended. */
  function news(): Promise<void> {
    return new Promise((resolve) => {
      waiting.add(resolve);
    });
  }

  /** What the model is told must be on record first. */
  async function flushed(): Promise<void> {
    try {
      const pending = recorder.flush();
      if (isThenable(pending)) await pending;
    } catch {
      // Every later call and record says so; the results stay what they are.
    }
  }

  /** In call order, each once, however many read. */
  function recordYields(delivered: readonly Deliverable[]): void {
    if (delivered.length === 0) return;
    yielded += delivered.length;
    try {
      recorder.commit(
        delivered.map(({ call, result }) =>
          recorder.draft("tool.yielded", { status: result?.status }, call),
        ),
      );
    } catch {
      // As above.
    }
  }
}
