// Where telemetry goes and what it holds, from the config of the user and the variables of OpenTelemetry. A variable counts
// more than the config: it is about this one start.

import { randomUUID } from "node:crypto";
import { Attributes } from "../otlp/attributes.ts";
import { SCOPE, type OtlpAttribute } from "../otlp/otlp-json.ts";
import { parseTraceParent, type TraceParent } from "../otlp/span-ids.ts";
import {
  decodePercent,
  parseHeaders,
  parsePairs,
  readVariable,
  wantsTelemetry,
} from "./telemetry-variables.ts";

export interface TelemetryOptions {
  /** The variables of OpenTelemetry are read from it. Default: none. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The address of a collector; `/v1/traces` and `/v1/metrics` are below it. */
  readonly endpoint?: string;
  /** Whether arguments, results and messages are sent. Default: false. */
  readonly content?: boolean;
  /** The variable that holds the headers, such as `authorization=Bearer%20abc`. Default: OTEL_EXPORTER_OTLP_HEADERS. */
  readonly headersEnv?: string;
  /** `service.version`, of the program that sends. Default: that of Soong. */
  readonly version?: string;
}

export interface TelemetrySettings {
  /** Undefined: spans are not sent. */
  readonly traces: OtlpTarget | undefined;
  readonly metrics: OtlpTarget | undefined;
  readonly content: boolean;
  readonly resource: readonly OtlpAttribute[];
  readonly parent: TraceParent | undefined;
  readonly scheduleMs: number;
  readonly metricIntervalMs: number;
  /** Sentences about variables that cannot be followed. They repeat no value. */
  readonly warnings: readonly string[];
}

export interface OtlpTarget {
  readonly url: string;
  /** The part of the address that may be shown. */
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** Undefined: nothing is to be sent. */
export function readTelemetrySettings(options: TelemetryOptions): TelemetrySettings | undefined {
  const { env = {}, endpoint } = options;
  if (!wantsTelemetry(env, endpoint)) return undefined;
  const warnings: string[] = [];
  const read = (name: string): string | undefined => readVariable(env, name);
  if (!/^(?:true|false)$/i.test(read("OTEL_SDK_DISABLED") ?? "false")) {
    warnings.push("OTEL_SDK_DISABLED is neither true nor false: telemetry is on.");
  }
  const parent = parseTraceParent(read("TRACEPARENT"));
  // The default sampler of OpenTelemetry: a trace that is not recorded has no spans here either.
  const traces = parent?.isSampled === false ? undefined : readTarget("TRACES", "v1/traces");
  const metrics = readTarget("METRICS", "v1/metrics");
  if (traces !== undefined || metrics !== undefined) warnAboutProtocol();
  return {
    traces,
    metrics,
    content: readContent(read("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT")),
    resource: readResource(),
    parent,
    scheduleMs: readMilliseconds("OTEL_BSP_SCHEDULE_DELAY") ?? 5000,
    metricIntervalMs: readMilliseconds("OTEL_METRIC_EXPORT_INTERVAL") ?? 60_000,
    warnings,
  };

  function readTarget(signal: "TRACES" | "METRICS", path: string): OtlpTarget | undefined {
    const exporters = read(`OTEL_${signal}_EXPORTER`)?.split(",") ?? ["otlp"];
    if (!exporters.some((one) => one.trim() === "otlp")) {
      if (exporters.join().trim() !== "none") {
        warnings.push(`OTEL_${signal}_EXPORTER names no exporter that Soong has: otlp or none.`);
      }
      return undefined;
    }
    const own = `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`;
    const common = "OTEL_EXPORTER_OTLP_ENDPOINT";
    const given = read(own) ?? read(common) ?? endpoint;
    if (given === undefined) return undefined;
    const url = parseAddress(given);
    if (url === undefined) {
      const name = read(own) !== undefined ? own : read(common) !== undefined ? common : "endpoint";
      warnOnce(`${name} is not a valid http:// or https:// address: nothing is sent there.`);
      return undefined;
    }
    const headers = readHeaders(signal);
    if (url.username !== "" || url.password !== "") {
      const login = `${decodePercent(url.username)}:${decodePercent(url.password)}`;
      headers["authorization"] ??= `Basic ${Buffer.from(login).toString("base64")}`;
      url.username = "";
      url.password = "";
    }
    if (read(own) === undefined) url.pathname = `${url.pathname.replace(/\/$/, "")}/${path}`;
    const timeoutMs =
      readMilliseconds(`OTEL_EXPORTER_OTLP_${signal}_TIMEOUT`) ??
      readMilliseconds("OTEL_EXPORTER_OTLP_TIMEOUT") ??
      10_000;
    return { url: url.href, origin: url.origin, headers, timeoutMs };
  }

  function readHeaders(signal: string): Record<string, string> {
    const common = "OTEL_EXPORTER_OTLP_HEADERS";
    const own = `OTEL_EXPORTER_OTLP_${signal}_HEADERS`;
    const named = options.headersEnv ?? common;
    if (options.headersEnv !== undefined && read(named) === undefined) {
      warnOnce(`${named} is not set, and headers_env names it: no header of it is sent.`);
    }
    const found: Record<string, string> = {};
    for (const name of new Set([named, common, own])) {
      const { headers, nameless } = parseHeaders(read(name));
      if (nameless.length > 0) {
        warnOnce(`${name} has a part that is not name=value, which is omitted.`);
      }
      for (const { key, value } of headers) {
        const header = key.toLowerCase();
        if (OWN_HEADERS.has(header)) {
          warnOnce(`${name} has the header ${header}, which cannot be set: it is omitted.`);
        } else if (isHeader(header, value)) found[header] = value;
        else warnOnce(`${name} has a header that is not valid, which is omitted.`);
      }
    }
    return found;
  }

  function warnOnce(warning: string): void {
    if (!warnings.includes(warning)) warnings.push(warning);
  }

  function readContent(text: string | undefined): boolean {
    if (text === undefined) return options.content === true;
    return /^(?:true|span_only|span_and_event)$/i.test(text);
  }

  function readMilliseconds(name: string): number | undefined {
    const text = read(name);
    if (text === undefined) return undefined;
    if (/^\d{1,9}$/.test(text) && Number(text) > 0) return Number(text);
    warnOnce(`${name} is not a number of milliseconds: the default counts.`);
    return undefined;
  }

  function readResource(): readonly OtlpAttribute[] {
    const named = new Map(
      parsePairs(read("OTEL_RESOURCE_ATTRIBUTES")).map(({ key, value }) => [key, value]),
    );
    const own = new Map([
      ["service.name", read("OTEL_SERVICE_NAME") ?? named.get("service.name") ?? "soong"],
      // Metrics of two processes at a time are two series.
      ["service.instance.id", named.get("service.instance.id") ?? randomUUID()],
      ["service.version", named.get("service.version") ?? options.version ?? SCOPE.version],
      ["telemetry.sdk.name", "soong"],
      ["telemetry.sdk.language", "nodejs"],
      ["telemetry.sdk.version", SCOPE.version],
    ]);
    const attributes = new Attributes();
    for (const [key, value] of [...own, ...[...named].filter(([key]) => !own.has(key))]) {
      attributes.text(key, value);
    }
    return attributes.list;
  }

  function warnAboutProtocol(): void {
    const names = ["", "TRACES_", "METRICS_"].map((of) => `OTEL_EXPORTER_OTLP_${of}PROTOCOL`);
    const other = names.find((name) => (read(name) ?? "http/json") !== "http/json");
    if (other !== undefined) {
      warnings.push(`${other} asks for another protocol: Soong sends http/json.`);
    }
  }
}

function parseAddress(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === "http:" || url?.protocol === "https:" ? url : undefined;
}

/** Of the body and the connection. With some of them no request could be sent at all. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

function isHeader(key: string, value: string): boolean {
  try {
    return new Headers([[key, value]]).has(key);
  } catch {
    return false;
  }
}
