// Progress of the calls of a run, by call: one watcher for all of them, as long as any runs. One for each would cost a tenth of
// what the bridge adds to a quick call.

import type { FactType } from "@soong/core";
import type { BridgeRun, Progress } from "../kernel/index.ts";

const PROGRESS = new Set<FactType>(["tool.progress"]);

export class ProgressFeed {
  readonly #run: BridgeRun;
  readonly #listeners = new Map<string, (progress: Progress) => void>();
  #stop: (() => void) | undefined;

  constructor(run: BridgeRun) {
    this.#run = run;
  }

  follow(tool_call_id: string, listener: (progress: Progress) => void): void {
    const { session, identity } = this.#run;
    this.#listeners.set(tool_call_id, listener);
    this.#stop ??= session.watch({ types: PROGRESS, run_id: identity.run_id }, (read) => {
      const fact = read();
      if (fact.type !== "tool.progress" || fact.tool_call_id === undefined) return;
      this.#listeners.get(fact.tool_call_id)?.(fact.data);
    });
  }

  unfollow(tool_call_id: string): void {
    this.#listeners.delete(tool_call_id);
    if (this.#listeners.size > 0) return;
    this.#stop?.();
    this.#stop = undefined;
  }
}
