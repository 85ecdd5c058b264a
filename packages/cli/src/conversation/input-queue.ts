// What was typed during a turn and waits for its next request. It is shown above the line until it is on its way, and
// can be taken back until then.

import type { LoopRun, QueuedInput } from "@soong/agent";
import type { ContentBlock } from "@soong/core";
import { visibleLine } from "../output/index.ts";

export interface WaitingInput {
  /** As it was typed. */
  readonly text: string;
  readonly blocks: readonly ContentBlock[];
}

interface Entry extends WaitingInput {
  /** Undefined until the turn has a run. */
  queued: QueuedInput | undefined;
}

const MOST_SHOWN = 5;

/** `changed` is called after each change. */
export function createInputQueue(changed: () => void) {
  let entries: Entry[] = [];
  let run: LoopRun | undefined;

  return {
    get length() {
      return entries.length;
    },
    /** False where the run takes no more. */
    add(input: WaitingInput): boolean {
      const queued = run?.queue(input.blocks);
      if (run !== undefined && queued === undefined) return false;
      entries.push({ ...input, queued });
      changed();
      return true;
    },
    /** The run whose requests are waited for; it may have begun after something was typed. */
    follow(next: LoopRun): void {
      run = next;
      for (const entry of entries) entry.queued ??= next.queue(entry.blocks);
    },
    /** The first is on its way. */
    shift(): WaitingInput | undefined {
      const first = entries.shift();
      changed();
      return first;
    },
    /** The last, as it was typed. Undefined: there is none, or it is on its way. */
    takeBack(): string | undefined {
      const last = entries.at(-1);
      if (last === undefined || last.queued?.takeBack() === false) return undefined;
      entries.pop();
      changed();
      return last.text;
    },
    /** The run is over: what no request has held. */
    drain(): readonly WaitingInput[] {
      run = undefined;
      const left = entries;
      entries = [];
      changed();
      return left;
    },
    /** For the screen, a line each. */
    lines(): string[] {
      const more = entries.length - MOST_SHOWN;
      return [
        ...(more > 0 ? [`  … ${more} more`] : []),
        ...entries.slice(-MOST_SHOWN).map((entry) => {
          const hint = entry === entries.at(-1) ? " · Up takes it back" : "";
          return `  queued: ${visibleLine(entry.text)}${hint}`;
        }),
      ];
    },
  };
}
