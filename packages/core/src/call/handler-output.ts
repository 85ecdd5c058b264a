// What a handler says while it runs: its progress (SCHED-7) and its output so far (PIPE-7).

import type { JsonValue } from "@soong/schema";
import type { FactData, Redactor } from "../journal/index.ts";
import { joinedPreview, MARGIN, redactedPreview } from "../result/head-tail.ts";
import type { ArtifactSink, ArtifactWriter, ContentBlock, ProgressUpdate } from "../tool/index.ts";
import { tryToRecord, type Call } from "./call.ts";

const AT_ONCE = 100;
const AFTERWARDS_EVERY_MS = 200;
const MAX_MESSAGE_CHARS = 2000;

/**
 * Recorded at once while there is little of it, merged when there is a flood, so that neither a reader waits nor a
 * generator that yields for ever fills the journal.
 */
export class Progress {
  readonly #call: Call;
  #recorded = 0;
  #lastAt = Number.NEGATIVE_INFINITY;
  #held: ProgressUpdate | undefined = undefined;
  #heldCount = 0;

  constructor(call: Call) {
    this.#call = call;
  }

  report(update: ProgressUpdate): void {
    const now = this.#call.run.clock.monotonic();
    if (this.#recorded < AT_ONCE || now - this.#lastAt >= AFTERWARDS_EVERY_MS) {
      this.#record(update, this.#heldCount, now);
    } else {
      this.#held = update;
      this.#heldCount += 1;
    }
  }

  /** Records what was held back. */
  close(): void {
    if (this.#held === undefined) return;
    this.#record(this.#held, this.#heldCount - 1, this.#call.run.clock.monotonic());
  }

  #record(update: ProgressUpdate, merged: number, now: number): void {
    this.#recorded += 1;
    this.#lastAt = now;
    this.#held = undefined;
    this.#heldCount = 0;
    const { recorder, redactor } = this.#call.run;
    const data = readUpdate(redactor, update);
    if (merged > 0) data.merged = merged;
    // Tools report from timers of their own, where an error would end the process: what a lost journal means, the run knows.
    tryToRecord(() => recorder.record("tool.progress", data, this.#call));
  }
}

/** Only what is known and sane: the update comes from a handler. */
function readUpdate(redactor: Redactor, update: ProgressUpdate): FactData<"tool.progress"> {
  const data: FactData<"tool.progress"> = {};
  const { message, progress, total } = update;
  if (typeof message === "string") {
    data.message = redactedPreview(redactor, message, MAX_MESSAGE_CHARS);
  }
  if (Number.isFinite(progress)) data.progress = progress as number;
  if (Number.isFinite(total)) data.total = total as number;
  if (update.data === undefined) return data;
  try {
    const text = JSON.stringify(update.data);
    if (text.length <= 8 * MAX_MESSAGE_CHARS) data.data = JSON.parse(text) as JsonValue;
  } catch {
    // Progress that is not JSON is of no use.
  }
  return data;
}

const MAX_INLINE_CHARS = 64 * 1024;
const END_CHARS = MAX_INLINE_CHARS / 2 + MARGIN;

/**
 * Head and tail in memory, and, once that is not all of it any more, the whole in an artifact that is written as it
 * comes. Given up when the call ends on its own.
 */
export class PartialOutput {
  readonly #redactor: Redactor;
  readonly #artifacts: () => ArtifactWriter;
  #head = "";
  #tail = "";
  #held: string[] = [];
  #chars = 0;
  #sink: ArtifactSink | undefined = undefined;
  /** One write at a time; what comes meanwhile goes together into the next. */
  #writing: Promise<void> | undefined = undefined;
  #broken = false;

  constructor(redactor: Redactor, artifacts: () => ArtifactWriter) {
    this.#redactor = redactor;
    this.#artifacts = artifacts;
  }

  push(chunk: string): void {
    if (this.#head.length < END_CHARS) this.#head += chunk.slice(0, END_CHARS - this.#head.length);
    // Cut only when it is longer than what is shown whole.
    this.#tail += chunk;
    if (this.#tail.length > 4 * END_CHARS) this.#tail = this.#tail.slice(-END_CHARS);
    this.#chars += chunk.length;
    if (this.#broken) return;
    this.#held.push(chunk);
    if (this.#chars <= MAX_INLINE_CHARS) return;
    this.#sink ??= this.#artifacts().open({ media_type: "text/plain", name: "output.txt" });
    this.#writing ??= this.#writeHeld(this.#sink);
  }

  /** The output of a call that was cut short; its artifact, if any, is finished by then. */
  async keep(): Promise<ContentBlock[]> {
    const content: ContentBlock[] = [{ type: "text", text: this.#preview() }];
    try {
      await this.#writing;
      // The preview is what is left of output that could not be kept.
      if (!this.#broken) await this.#sink?.close();
    } catch {
      // Then there is no artifact.
    }
    return content;
  }

  async discard(): Promise<void> {
    this.#held = [];
    try {
      await this.#writing;
      await this.#sink?.discard();
    } catch {
      // There is nothing left to keep, and no one to notify.
    }
  }

  #preview(): string {
    if (this.#chars <= MAX_INLINE_CHARS) return this.#redactor.text(this.#tail);
    const tail = this.#tail.slice(-END_CHARS);
    return joinedPreview(this.#redactor, this.#head, tail, MAX_INLINE_CHARS, this.#chars);
  }

  async #writeHeld(to: ArtifactSink): Promise<void> {
    try {
      while (this.#held.length > 0) {
        const text = this.#held.join("");
        this.#held = [];
        await to.write(text);
      }
    } catch {
      this.#broken = true;
      this.#held = [];
    } finally {
      this.#writing = undefined;
    }
  }
}
