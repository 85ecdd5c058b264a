// What the variables of OpenTelemetry and the settings of the user come to.

import { listTelemetrySecrets, readTelemetrySettings, type TelemetrySettings } from "@soong/export";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import { readAttributes } from "./collector.ts";

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };

function read(env: Record<string, string>, config: object = {}): TelemetrySettings {
  const settings = readTelemetrySettings({ env, ...config });
  if (settings === undefined) throw new Error("telemetry is off");
  return settings;
}

test("an endpoint switches it on: of the config, of all signals, or of one", () => {
  verifies("EXPORT-1");
  expect(readTelemetrySettings({ env: {} })).toBeUndefined();
  expect(readTelemetrySettings({ env: { OTEL_EXPORTER_OTLP_HEADERS: "a=b" } })).toBeUndefined();
  const urls = ({ traces, metrics }: TelemetrySettings) => [traces?.url, metrics?.url];
  expect(urls(read({}, { endpoint: "http://a:1/otlp" }))).toEqual([
    "http://a:1/otlp/v1/traces",
    "http://a:1/otlp/v1/metrics",
  ]);
  expect(urls(read(ENDPOINT, { endpoint: "http://a:1" }))).toEqual([
    "http://127.0.0.1:4318/v1/traces",
    "http://127.0.0.1:4318/v1/metrics",
  ]);
  // As it is: nothing is added to it.
  const one = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://b/x?key=1" };
  expect(urls(read(one))).toEqual(["https://b/x?key=1", undefined]);
  expect(urls(read({ ...ENDPOINT, OTEL_TRACES_EXPORTER: "none" }))[0]).toBeUndefined();
  expect(urls(read({ ...ENDPOINT, OTEL_METRICS_EXPORTER: "console,otlp" }))[1]).toBeDefined();
});

test("what cannot be followed is a warning that repeats no value, and the rest counts", () => {
  verifies("EXPORT-1");
  const settings = read({
    ...ENDPOINT,
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "ftp://user:s3cr3t@host",
    OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
    OTEL_EXPORTER_OTLP_TIMEOUT: "s3cr3t",
    OTEL_BSP_SCHEDULE_DELAY: "-1",
    OTEL_EXPORTER_OTLP_HEADERS: "bad name=s3cr3t,good=1,content-type=s3cr3t",
  });
  expect(settings.warnings).toEqual([
    "OTEL_EXPORTER_OTLP_HEADERS has a header that cannot be sent.",
    "OTEL_EXPORTER_OTLP_TIMEOUT is not a number of milliseconds: the default counts.",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT is not an http:// or https:// address: nothing is sent there.",
    "OTEL_EXPORTER_OTLP_PROTOCOL asks for another protocol: Soong sends http/json.",
    "OTEL_BSP_SCHEDULE_DELAY is not a number of milliseconds: the default counts.",
  ]);
  expect(settings.traces).toMatchObject({ timeoutMs: 10_000, headers: { good: "1" } });
  expect(settings).toMatchObject({ metrics: undefined, scheduleMs: 5000 });
  expect(read({ ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" }).warnings).toEqual([]);
  expect(read({ ...ENDPOINT, OTEL_TRACES_EXPORTER: "zipkin" }).warnings).toHaveLength(1);
});

test("headers of one signal count more than those of all, and those more than the variable of the config", () => {
  verifies("EXPORT-1");
  const env = {
    ...ENDPOINT,
    MINE: "a=mine,b=mine,C=mine",
    OTEL_EXPORTER_OTLP_HEADERS: "b=all,c=all",
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: "c=traces",
  };
  const { traces, metrics } = read(env, { headersEnv: "MINE" });
  expect(traces?.headers).toEqual({ a: "mine", b: "all", c: "traces" });
  expect(metrics?.headers).toEqual({ a: "mine", b: "all", c: "all" });
});

test("content is sent where the user says so, and the variable counts more", () => {
  verifies("EXPORT-1");
  const content = (value: string | undefined, config: object = {}) =>
    read(
      value === undefined
        ? ENDPOINT
        : { ...ENDPOINT, OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: value },
      config,
    ).content;
  expect(content(undefined)).toBe(false);
  expect(content(undefined, { content: true })).toBe(true);
  expect(["true", "SPAN_ONLY", "false", "no_content", "1"].map((value) => content(value))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
  expect(content("false", { content: true })).toBe(false);
});

test("the resource says which service it is, and whatever else the user wants", () => {
  verifies("EXPORT-1");
  const attributes = (env: object) =>
    readAttributes({ attributes: read({ ...ENDPOINT, ...env }).resource });
  expect(attributes({})).toMatchObject({ "service.name": "soong" });
  expect(attributes({})["service.instance.id"]).not.toBe(attributes({})["service.instance.id"]);
  const named = { OTEL_RESOURCE_ATTRIBUTES: "service.name=a,team=b%20c,,=x, d = e " };
  expect(attributes(named)).toMatchObject({ "service.name": "a", team: "b c", d: "e" });
  expect(attributes({ ...named, OTEL_SERVICE_NAME: "z" })).toMatchObject({ "service.name": "z" });
});

test("the span that started the program is the parent, if it is one", () => {
  verifies("EXPORT-1");
  const id = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const parent = (TRACEPARENT: string) => read({ ...ENDPOINT, TRACEPARENT }).parent;
  expect(parent(id)).toMatchObject({
    traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
    spanId: "00f067aa0ba902b7",
  });
  const none = [
    "x",
    id.slice(1),
    `${id}-more`,
    id.replace("00-", "ff-"),
    id.replace("00f067aa0ba902b7", "0".repeat(16)),
    id.replace("4bf92f3577b34da6a3ce929d0e0e4736", "0".repeat(32)),
    id.toUpperCase(),
  ];
  expect(none.map(parent)).toEqual(none.map(() => undefined));
  // A trace that is not recorded has no spans, and metrics all the same.
  const unrecorded = read({ ...ENDPOINT, TRACEPARENT: id.replace(/01$/, "00") });
  expect([unrecorded.traces, unrecorded.metrics?.url]).toEqual([
    undefined,
    "http://127.0.0.1:4318/v1/metrics",
  ]);
  // A later version may have more.
  expect(parent(`${id.replace("00-", "01-")}-more`)).toBeDefined();
});

test("what authorizes the sender is known as a secret", () => {
  verifies("REDACT-3");
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: "https://me:p%40ss@host/",
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20abc123,api-key=k3y",
    MINE: "x=y",
  };
  const values = listTelemetrySecrets(env, "MINE").map(({ value }) => value);
  expect(values).toEqual(
    expect.arrayContaining(["Bearer abc123", "abc123", "k3y", "y", "p@ss", "p%40ss"]),
  );
  expect(listTelemetrySecrets({ OTEL_EXPORTER_OTLP_ENDPOINT: "not a url" })).toEqual([]);
});
