// A call on the kernel as the SDK waits for it: progress since its start, then its output.

import type { CallOutcome, Progress, PushedCall } from "../kernel/index.ts";
import { createOutput, createProgressOutput, type BridgedOutput } from "./bridged-output.ts";
import type { ProgressFeed } from "./progress-feed.ts";

/** A call may start long before the SDK waits for it: of what it reports until then, the latest is kept. */
const MAX_KEPT = 32;

export class FollowedCall {
  readonly outcome: Promise<CallOutcome>;
  readonly #progress: Progress[] = [];
  #ended = false;
  #wake: (() => void) | undefined;

  constructor(feed: ProgressFeed, { tool_call_id, outcome }: PushedCall) {
    feed.follow(tool_call_id, (progress) => {
      this.#progress.push(progress);
      if (this.#progress.length > MAX_KEPT) this.#progress.shift();
      this.#wake?.();
    });
    this.outcome = outcome;
    void outcome.then(() => {
      feed.unfollow(tool_call_id);
      this.#ended = true;
      this.#wake?.();
    });
  }

  /** The SDK shows everything that is yielded, so a call that has ended without progress is only awaited. */
  read(): AsyncIterable<BridgedOutput> | Promise<BridgedOutput> {
    return this.#ended && this.#progress.length === 0
      ? this.outcome.then(createOutput)
      : this.#follow();
  }

  async *#follow(): AsyncGenerator<BridgedOutput> {
    for (;;) {
      const progress = this.#progress.shift();
      if (progress !== undefined) yield createProgressOutput(progress);
      else if (this.#ended) break;
      else await this.#news();
    }
    yield createOutput(await this.outcome);
  }

  #news(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
