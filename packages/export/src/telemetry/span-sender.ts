// Sends spans in batches, in the background. What a collector does or does not do costs the program nothing: the queue is
// bounded, a batch is tried a few times, and what is lost is counted.

import type { Clock } from "@soong/core";
import type { OtlpSpan } from "../otlp/otlp-json.ts";
import { createTraceRequest } from "../otlp/otlp-projection.ts";
import { postOtlp, type PostOutcome, type PostPorts } from "./post-otlp.ts";
import { SpanQueue } from "./span-queue.ts";
import type { OtlpTarget, TelemetrySettings } from "./telemetry-settings.ts";

export interface SenderPorts extends PostPorts {
  /** For waiting that must not keep the process alive. */
  readonly background: Pick<Clock, "after">;
}

const SPANS_PER_BATCH = 512;
const CHARS_PER_BATCH = 1024 * 1024;
const MOST_ATTEMPTS = 5;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;

export class SpanSender {
  readonly #target: OtlpTarget;
  readonly #scheduleMs: number;
  readonly #ports: SenderPorts;
  readonly #queue = new SpanQueue();
  readonly #ending = new AbortController();
  readonly #frame: readonly [string, string];
  #sending: Promise<void> | undefined;
  #cancelSchedule: (() => void) | undefined;
  #endPause: (() => void) | undefined;
  #isClosing = false;
  #unsent = 0;
  sent = 0;
  /** Of the last batch that was not accepted. */
  why: string | undefined;

  constructor(
    target: OtlpTarget,
    { scheduleMs, resource }: Pick<TelemetrySettings, "scheduleMs" | "resource">,
    ports: SenderPorts,
  ) {
    this.#target = target;
    this.#scheduleMs = scheduleMs;
    this.#ports = ports;
    // The request around the spans is always the same.
    const [before = "", after = ""] = JSON.stringify(createTraceRequest([], resource)).split(
      '"spans":[]',
    );
    this.#frame = [`${before}"spans":[`, `]${after}`];
  }

  get lost(): number {
    return this.#unsent + this.#queue.dropped;
  }

  add(span: OtlpSpan): void {
    this.#queue.add(JSON.stringify(span));
    if (this.#queue.size >= SPANS_PER_BATCH) this.#send();
    else
      this.#cancelSchedule ??= this.#ports.background.after(this.#scheduleMs, () => this.#send());
  }

  /** Sends what is there; when `signal` fires, the rest is lost. */
  async close(signal: AbortSignal): Promise<void> {
    this.#isClosing = true;
    const giveUp = (): void => {
      this.#ending.abort();
      this.#endPause?.();
    };
    signal.addEventListener("abort", giveUp, { once: true });
    // A batch that waits for its next attempt has it now.
    this.#endPause?.();
    this.#send();
    await this.#sending;
    this.#cancelSchedule?.();
    signal.removeEventListener("abort", giveUp);
  }

  #send(): void {
    this.#cancelSchedule?.();
    this.#cancelSchedule = undefined;
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
  }

  async #sendAll(): Promise<void> {
    while (this.#queue.size > 0) {
      const batch = this.#queue.take(SPANS_PER_BATCH, CHARS_PER_BATCH);
      const outcome = await this.#sendBatch(batch);
      if (outcome.kind === "accepted") {
        const rejected = Math.min(outcome.rejected, batch.length);
        this.sent += batch.length - rejected;
        this.#unsent += rejected;
        if (rejected > 0) this.why = "the collector rejected them";
        continue;
      }
      this.why = outcome.why;
      this.#unsent += batch.length;
      // The program is about to end, and no one is there.
      if (this.#isClosing && outcome.kind === "unreachable") this.#unsent += this.#queue.clear();
    }
  }

  async #sendBatch(batch: readonly string[]): Promise<PostOutcome> {
    const body = this.#frame.join(batch.join(","));
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await postOtlp(this.#target, body, this.#ending.signal, this.#ports);
      const isFinal = outcome.kind === "accepted" || outcome.kind === "refused";
      if (isFinal || attempt === MOST_ATTEMPTS || this.#ending.signal.aborted) return outcome;
      if (this.#isClosing && outcome.kind === "unreachable") return outcome;
      const wished = outcome.kind === "later" ? outcome.afterMs : undefined;
      await this.#pause(Math.min(wished ?? FIRST_PAUSE_MS * 2 ** (attempt - 1), LONGEST_PAUSE_MS));
      if (this.#ending.signal.aborted) return outcome;
    }
  }

  /** Until then, or until `close` wants to be done. */
  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const clock = this.#isClosing ? this.#ports.clock : this.#ports.background;
      const forget = clock.after(ms, resolve);
      this.#endPause = () => {
        forget();
        resolve();
      };
    });
  }
}
