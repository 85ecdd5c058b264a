// The events of a run for a user interface: kept here until they are read, late, slowly or never, by any number of readers. The
// journal has all of it too; this has the text as it comes.

import type { Fact, ToolResult } from "@soong/core";
import type { RunEnd } from "./run-end.ts";

export type LoopEvent =
  /** Other runs of the session are before this one. */
  | { readonly type: "queued"; readonly ahead: number }
  | { readonly type: "started"; readonly run_id: string }
  | { readonly type: "text_delta"; readonly text: string }
  /** Its arguments are complete, and shown without secrets; `name` is the canonical one where the tool is known. */
  | {
      readonly type: "call";
      readonly tool_call_id: string;
      readonly name: string;
      readonly arguments: string;
    }
  /** `tool.started`, `tool.progress`, `permission.requested`, `permission.resolved` or `permission.failed`, as recorded. */
  | { readonly type: "fact"; readonly fact: Fact }
  | { readonly type: "result"; readonly result: ToolResult }
  /** Text and calls since the last request do not count: it is made again, of `model`, after a wait. */
  | {
      readonly type: "abandoned";
      readonly reason: string;
      readonly model: string;
      readonly wait_ms: number;
    }
  | { readonly type: "compacted"; readonly tokens_before: number; readonly tokens_after: number }
  | { readonly type: "end"; readonly end: RunEnd };

export interface EventLog {
  add(event: LoopEvent): void;
  /** From the first event; ends after `end`. */
  read(): AsyncIterable<LoopEvent>;
}

export function createEventLog(): EventLog {
  const events: LoopEvent[] = [];
  let wake: (() => void)[] = [];
  /** How many events were read: text is only appended to an event that was not. */
  let taken = 0;

  return {
    add(event) {
      const last = events.at(-1);
      if (event.type === "text_delta" && last?.type === "text_delta" && taken < events.length) {
        events[events.length - 1] = { type: "text_delta", text: last.text + event.text };
      } else events.push(event);
      for (const call of wake.splice(0)) call();
      wake = [];
    },
    read: () => ({ [Symbol.asyncIterator]: reader }),
  };

  async function* reader(): AsyncGenerator<LoopEvent, undefined> {
    for (let at = 0; ;) {
      const event = events[at];
      if (event === undefined) {
        await new Promise<void>((resolve) => {
          wake.push(resolve);
        });
        continue;
      }
      at += 1;
      taken = Math.max(taken, at);
      yield event;
      if (event.type === "end") return undefined;
    }
  }
}
