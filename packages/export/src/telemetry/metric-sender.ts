// Sends metrics at an interval, and at the end. They count from the start, so one that is lost is made good by the next.

import { createOtlpMetrics, type OtlpMetrics } from "../otlp/otlp-metrics.ts";
import type { OtlpSpan } from "../otlp/otlp-json.ts";
import { toNanos } from "../otlp/open-span.ts";
import { postOtlp } from "./post-otlp.ts";
import type { SenderPorts } from "./span-sender.ts";
import type { OtlpTarget, TelemetrySettings } from "./telemetry-settings.ts";

export interface MetricPorts extends SenderPorts {
  readonly now: () => number;
}

export class MetricSender {
  readonly #target: OtlpTarget;
  readonly #intervalMs: number;
  readonly #ports: MetricPorts;
  readonly #metrics: OtlpMetrics;
  readonly #ending = new AbortController();
  #cancelInterval: (() => void) | undefined;
  #sending: Promise<void> = Promise.resolve();
  #hasNews = false;
  /** Why the last request was not accepted; undefined where it was. */
  why: string | undefined;

  constructor(
    target: OtlpTarget,
    { metricIntervalMs, resource }: Pick<TelemetrySettings, "metricIntervalMs" | "resource">,
    ports: MetricPorts,
  ) {
    this.#target = target;
    this.#intervalMs = metricIntervalMs;
    this.#ports = ports;
    this.#metrics = createOtlpMetrics({ resource, startTimeUnixNano: toNanos(ports.now()) });
  }

  add(span: OtlpSpan): void {
    this.#metrics.add(span);
    this.#hasNews = true;
    this.#cancelInterval ??= this.#ports.background.after(this.#intervalMs, () => {
      this.#cancelInterval = undefined;
      this.#send();
    });
  }

  async close(signal: AbortSignal): Promise<void> {
    const giveUp = (): void => this.#ending.abort();
    signal.addEventListener("abort", giveUp, { once: true });
    this.#cancelInterval?.();
    if (this.#hasNews) this.#send();
    await this.#sending;
    signal.removeEventListener("abort", giveUp);
  }

  /** One at a time: an older one that comes late would count down. */
  #send(): void {
    this.#sending = this.#sending.then(async () => {
      const request = this.#metrics.collect(toNanos(this.#ports.now()));
      if (request === undefined) return;
      this.#hasNews = false;
      const body = JSON.stringify(request);
      const outcome = await postOtlp(this.#target, body, this.#ending.signal, this.#ports);
      if (outcome.kind !== "accepted") this.#hasNews = true;
      this.why = outcome.kind === "accepted" ? undefined : outcome.why;
    });
  }
}
