// Live telemetry: the facts of sessions become spans and metrics as they happen, and go to a collector by OTLP over HTTP.
// It follows sessions; no session waits for it, and none fails because of it.

import { systemClock, type Clock, type Session } from "@soong/core";
import type { OtlpSpan } from "../otlp/otlp-json.ts";
import { createSpanProjection, listSpanFacts } from "../otlp/span-projection.ts";
import { MetricSender } from "./metric-sender.ts";
import { SpanSender } from "./span-sender.ts";
import {
  readTelemetrySettings,
  type TelemetryOptions,
  type TelemetrySettings,
} from "./telemetry-settings.ts";

export interface Telemetry {
  /** Sends what happens in this session from now on; returns how to stop, once it is closed. */
  follow(session: Pick<Session, "watch">): () => void;
  /** Sends what is there, for two seconds at most. May be called twice. */
  close(): Promise<TelemetryReport>;
}

export interface TelemetryReport {
  readonly spans_sent: number;
  readonly spans_lost: number;
  /** A sentence for the user where something was not sent. */
  readonly problem?: string;
}

export interface TelemetryPorts {
  /** Default: the system's. */
  readonly clock?: Clock;
  /** For waiting that must not keep the process alive. Default: the system's, or `clock`. */
  readonly background?: Clock;
  readonly fetch?: typeof fetch;
}

const FLUSH_MS = 2000;

/** One sender for any number of sessions. */
export function openTelemetry(settings: TelemetrySettings, given: TelemetryPorts = {}): Telemetry {
  const clock = given.clock ?? systemClock();
  const ports = {
    clock,
    background: given.background ?? given.clock ?? backgroundClock(),
    fetch: given.fetch ?? fetch,
    now: () => clock.now(),
  };
  const { traces, metrics, content, parent } = settings;
  const spans = traces && new SpanSender(traces, settings, ports);
  const counts = metrics && new MetricSender(metrics, settings, ports);
  const wanted = { types: listSpanFacts({ content }) };
  const following = new Set<() => void>();
  let closing: Promise<TelemetryReport> | undefined;

  return {
    follow(session) {
      const projection = createSpanProjection({ content, parent });
      const stopWatching = session.watch(wanted, (fact) => {
        try {
          send(projection.push(fact()));
        } catch {
          // A fact that cannot be read costs its span, and never the run.
        }
      });
      const stop = (): void => {
        if (!following.delete(stop)) return;
        stopWatching();
        send(projection.end());
      };
      following.add(stop);
      return stop;
    },
    close: () => (closing ??= flush()),
  };

  function send(ended: readonly OtlpSpan[]): void {
    for (const span of ended) {
      spans?.add(span);
      counts?.add(span);
    }
  }

  async function flush(): Promise<TelemetryReport> {
    for (const stop of following) stop();
    const enough = new AbortController();
    const forget = clock.after(FLUSH_MS, () => enough.abort());
    await Promise.all([spans?.close(enough.signal), counts?.close(enough.signal)]);
    forget();
    const problem = describeProblem();
    return {
      spans_sent: spans?.sent ?? 0,
      spans_lost: spans?.lost ?? 0,
      ...(problem === undefined ? undefined : { problem }),
    };
  }

  function describeProblem(): string | undefined {
    const { lost = 0, sent = 0, why = "the collector was too slow" } = spans ?? {};
    if (lost > 0) {
      return `Telemetry: ${lost} of ${lost + sent} spans were not sent to ${traces?.origin}: ${why}.`;
    }
    if (counts?.why === undefined) return undefined;
    return `Telemetry: metrics were not sent to ${metrics?.origin}: ${counts.why}.`;
  }
}

/**
 * Sends the spans and metrics of one session to the collector that the options or the variables of OpenTelemetry name.
 * Undefined: none is named. Close it after the session.
 */
export function exportTelemetry(
  session: Pick<Session, "watch">,
  options: TelemetryOptions,
  ports?: TelemetryPorts,
): Telemetry | undefined {
  const settings = readTelemetrySettings(options);
  if (settings === undefined) return undefined;
  const telemetry = openTelemetry(settings, ports);
  telemetry.follow(session);
  return telemetry;
}

/** Its timers do not keep the process alive. */
function backgroundClock(): Clock {
  return {
    ...systemClock(),
    after(ms, callback) {
      const timer = setTimeout(callback, ms).unref();
      return () => clearTimeout(timer);
    },
  };
}
