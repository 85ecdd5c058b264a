// A child while it works: the progress that its caller's user interface shows (AGENT-5), how long it may take, and the
// approvals it waits for, during which its clock and that of the call that started it are paused (PIPE-6).

import type { ArtifactRef, Clock, OnUserAsked, ToolContext } from "@soong/core";
import type { LoopEvent, LoopRun } from "../loop/index.ts";

const MOST_LINES = 20;
const MOST_LINE_CHARS = 400;
/** Of an unfinished line: what is reported, and white space around it. */
const MOST_KEPT_CHARS = 4 * MOST_LINE_CHARS;
const MOST_ARTIFACTS = 100;

/** What a child says and does, as progress of the call that started it, with who it is. */
export class ChildProgress {
  /** The last things it did, the newest last. */
  readonly lines: string[] = [];
  /** What it had said of an answer that was not finished. */
  unfinishedText = "";
  /** What of it is not reported yet. */
  #unreported = "";
  readonly #artifacts = new Map<string, ArtifactRef>();
  readonly #context: ToolContext;
  readonly #waits: ChildWaits;
  readonly #origin: { readonly agent_definition_id: string };

  constructor(
    context: ToolContext,
    waits: ChildWaits,
    origin: { readonly agent_definition_id: string },
  ) {
    this.#context = context;
    this.#waits = waits;
    this.#origin = origin;
  }

  /** Settles when there is no more to report. */
  async follow(run: LoopRun): Promise<void> {
    try {
      for await (const event of run.events()) this.#handle(event);
    } catch {
      // What is not shown is on record all the same.
    } finally {
      this.#waits.close();
    }
  }

  /** All its calls have left, each once. */
  get artifacts(): readonly ArtifactRef[] {
    return [...this.#artifacts.values()].slice(0, MOST_ARTIFACTS);
  }

  #handle(event: LoopEvent): void {
    if (event.type === "text_delta") this.#handleText(event.text);
    else if (event.type === "call") {
      this.#flush();
      this.unfinishedText = "";
      this.#report("call", `${event.name} ${event.arguments}`);
    } else if (event.type === "result") {
      const { tool_call_id, tool_name, status, summary, artifacts } = event.result;
      for (const ref of artifacts) this.#artifacts.set(ref.artifact_id, ref);
      this.#waits.ended(tool_call_id);
      this.#report("result", `${tool_name} ${status}: ${summary}`);
    } else if (event.type === "fact") {
      const { type, tool_name = "", data } = event.fact;
      if (type === "permission.requested") {
        this.#report("permission", `${tool_name} requires approval`);
      } else if (type === "tool.progress" && typeof data.message === "string") {
        this.#report("progress", `${tool_name}: ${data.message}`);
      }
    } else if (event.type === "abandoned") {
      this.#unreported = "";
      this.unfinishedText = "";
      this.#report("retry", event.reason);
    } else if (event.type === "end") this.#flush();
  }

  #handleText(text: string): void {
    this.unfinishedText += text;
    // All that is left of a call that is cut short.
    this.#context.output(text);
    const lines = (this.#unreported + text).split("\n");
    // A line is reported in short, so no more of it is kept: each piece of an endless one would cost all before it.
    this.#unreported = (lines.pop() ?? "").slice(0, MOST_KEPT_CHARS);
    for (const line of lines) this.#report("text", line);
  }

  #flush(): void {
    const rest = this.#unreported;
    this.#unreported = "";
    this.#report("text", rest);
  }

  #report(kind: string, said: string): void {
    // Whole, before it is cut: half a secret is not recognised (REDACT-1).
    const line = this.#context.redact(said).trim();
    if (line === "") return;
    const short = line.length <= MOST_LINE_CHARS ? line : `${line.slice(0, MOST_LINE_CHARS)}…`;
    this.lines.push(short);
    if (this.lines.length > MOST_LINES) this.lines.shift();
    const origin = this.#origin;
    this.#context.progress({
      message: `${origin.agent_definition_id}: ${short}`,
      data: { kind, origin },
    });
  }
}

export type ChildDeadline = ReturnType<typeof createChildDeadline>;

export function createChildDeadline(clock: Clock, limitMs: number, expired: () => void) {
  let counted = 0;
  let since: number | undefined;
  let forget = (): void => {};
  resume();
  return { elapsed, pause, resume, stop: pause };

  /** So far, without the time it was paused. */
  function elapsed(): number {
    return counted + (since === undefined ? 0 : clock.monotonic() - since);
  }

  function pause(): void {
    counted = elapsed();
    since = undefined;
    forget();
  }

  function resume(): void {
    if (since !== undefined) return;
    since = clock.monotonic();
    forget = clock.after(Math.max(0, limitMs - counted), expired);
  }
}

export type ChildWaits = ReturnType<typeof createChildWaits>;

export function createChildWaits(context: ToolContext, deadline: ChildDeadline) {
  const open = new Set<string>();
  let answered = (): void => {};
  return { open, onUserAsked, ended, close: () => answered() };

  /** For the child's run. `open` has its calls that wait for an answer. */
  function onUserAsked({ tool_call_id, waits }: Parameters<OnUserAsked>[0]): void {
    if (!waits) return ended(tool_call_id);
    const isFirst = open.size === 0;
    open.add(tool_call_id);
    if (!isFirst) return;
    deadline.pause();
    const answer = new Promise<void>((resolve) => {
      answered = resolve;
    });
    context.waitForUser(answer).catch(() => {});
  }

  /** A call that has ended no longer waits, even if its handler still runs. */
  function ended(tool_call_id: string): void {
    if (!open.delete(tool_call_id) || open.size > 0) return;
    deadline.resume();
    answered();
  }
}
