// What a run says while it is under way and how it ends (LOOP-1), as its caller receives it. The journal has all of it too; the
// events have the text as it comes.

import type { Fact, SurfaceProblem, ToolResult } from "@soong/core";
import type { UsageTotal } from "./usage.ts";

export type EndReason =
  | "completed"
  | "max_turns"
  | "aborted_streaming"
  | "aborted_tools"
  | "prompt_too_long"
  | "max_output_tokens"
  | "failed";

export interface RunEnd {
  readonly reason: EndReason;
  /** The text of the model's last answer and nothing else (LOOP-4). */
  readonly answer: string;
  /** Absent when the run has completed. */
  readonly error?: LoopError;
  /** With that of the runs it started. */
  readonly usage: UsageTotal;
  /** Model requests. */
  readonly turns: number;
  /** Input that came in too late for any request: send it again. */
  readonly unheard?: readonly string[];
}

export interface LoopError {
  /** The kind of the model's error, or ours: `journal_unavailable`, `prompt_blocked`, `stopped_by_hook` … */
  readonly code: string;
  /** For the user: what happened and what to do. */
  readonly message: string;
  /** What a run was refused for, one by one. */
  readonly problems?: readonly SurfaceProblem[];
}

/** An end on its way, before the run's figures are added. */
export type Ending = Pick<RunEnd, "reason" | "error">;

export function endWith(reason: EndReason, code: string, message: string): Ending {
  return { reason, error: { code, message } };
}

/** The fact that ends the run. */
export function toEndFact(reason: EndReason): "completed" | "failed" | "aborted" {
  if (reason === "completed") return "completed";
  return reason === "aborted_streaming" || reason === "aborted_tools" ? "aborted" : "failed";
}

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
      /** There was text of the answer, or a call; otherwise nothing is lost. */
      readonly had_begun: boolean;
      readonly model: string;
      readonly wait_ms: number;
      /** Absent where another model is asked. */
      readonly retry?: { readonly count: number; readonly of: number };
    }
  /** What was queued first is on its way to the model, or a hook blocked it. */
  | { readonly type: "input"; readonly text: string; readonly blocked: string | undefined }
  | { readonly type: "compacted"; readonly tokens_before: number; readonly tokens_after: number }
  | { readonly type: "end"; readonly end: RunEnd };

/** Events are kept until they are read, late, slowly or never, by any number of readers. */
export class EventLog {
  /** Facts are made when they are read. */
  readonly #events: (LoopEvent | (() => LoopEvent))[] = [];
  readonly #waiting: (() => void)[] = [];
  /** How many events were read: text is only appended to an event that was not. */
  #taken = 0;

  add(event: LoopEvent): void {
    const last = this.#events.at(-1);
    const isUnread = this.#taken < this.#events.length;
    const isMore = typeof last === "object" && last.type === "text_delta" && isUnread;
    if (event.type === "text_delta" && isMore) {
      this.#events[this.#events.length - 1] = { type: "text_delta", text: last.text + event.text };
    } else this.#push(event);
  }

  addFact(fact: () => Fact): void {
    this.#push(() => ({ type: "fact", fact: fact() }));
  }

  /** From the first event; ends after `end`. */
  async *read(): AsyncGenerator<LoopEvent, undefined> {
    for (let at = 0; ;) {
      const held = this.#events[at];
      if (held === undefined) {
        await new Promise<void>((resolve) => {
          this.#waiting.push(resolve);
        });
        continue;
      }
      const event = typeof held === "function" ? held() : held;
      at += 1;
      this.#taken = Math.max(this.#taken, at);
      yield event;
      if (event.type === "end") return undefined;
    }
  }

  #push(event: LoopEvent | (() => LoopEvent)): void {
    this.#events.push(event);
    if (this.#waiting.length > 0) for (const wake of this.#waiting.splice(0)) wake();
  }
}
