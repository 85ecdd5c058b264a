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
    "OTEL_EXPORTER_OTLP_HEADERS has a header that is not valid, which is omitted.",
    "OTEL_EXPORTER_OTLP_HEADERS has the header content-type, which cannot be set: it is omitted.",
    "OTEL_EXPORTER_OTLP_TIMEOUT is not a number of milliseconds: the default counts.",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT is not a valid http:// or https:// address: nothing is sent there.",
    "OTEL_EXPORTER_OTLP_PROTOCOL asks for another protocol: Soong sends http/json.",
    "OTEL_BSP_SCHEDULE_DELAY is not a number of milliseconds: the default counts.",
  ]);
  expect(settings.traces).toMatchObject({ timeoutMs: 10_000, headers: { good: "1" } });
  expect(settings).toMatchObject({ metrics: undefined, scheduleMs: 5000 });
  expect(read({ ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" }).warnings).toEqual([]);
  expect(read({ ...ENDPOINT, OTEL_TRACES_EXPORTER: "zipkin" }).warnings).toHaveLength(1);
});

test("each mistake is named once, and in words that say what to change", () => {
  verifies("EXPORT-1");
  const warn = (env: Record<string, string>, config: object = {}) =>
    read({ ...ENDPOINT, ...env }, config).warnings;
  for (const address of ["nonsense", "ftp://host", "http://127.0.0.1:99999"]) {
    expect(warn({ OTEL_EXPORTER_OTLP_ENDPOINT: address })).toEqual([
      "OTEL_EXPORTER_OTLP_ENDPOINT is not a valid http:// or https:// address: nothing is sent there.",
    ]);
  }
  for (const token of ["s3cr3t-token", "czNjcjN0==", "czNjcjN0=", "=s3cr3t", "a=b, s3cr3t"]) {
    expect(warn({ OTEL_EXPORTER_OTLP_HEADERS: token })).toEqual([
      "OTEL_EXPORTER_OTLP_HEADERS has a part that is not name=value, which is omitted.",
    ]);
  }
  expect(warn({ OTEL_EXPORTER_OTLP_HEADERS: "a=b, ,c=d," })).toEqual([]);
  expect(warn({}, { headersEnv: "MINE" })).toEqual([
    "MINE is not set, and headers_env names it: no header of it is sent.",
  ]);
  expect(warn({ MINE: "a=b" }, { headersEnv: "MINE" })).toEqual([]);
  expect(warn({ OTEL_SDK_DISABLED: "yes" })).toEqual([
    "OTEL_SDK_DISABLED is neither true nor false: telemetry is on.",
  ]);
  expect(warn({ OTEL_SDK_DISABLED: "False" })).toEqual([]);
});

test("headers of the connection are omitted, and the others sent", () => {
  verifies("EXPORT-1");
  const own =
    "Host,Content-Length,content-encoding,transfer-encoding,connection,keep-alive,upgrade,expect".split(
      ",",
    );
  for (const name of own) {
    const { traces, warnings } = read({
      ...ENDPOINT,
      OTEL_EXPORTER_OTLP_HEADERS: `a=b,${name}=close`,
    });
    expect(traces?.headers).toEqual({ a: "b" });
    expect(warnings).toEqual([
      `OTEL_EXPORTER_OTLP_HEADERS has the header ${name.toLowerCase()}, which cannot be set: it is omitted.`,
    ]);
  }
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
  const { resource } = read(ENDPOINT, { version: "1.2.3" });
  expect(readAttributes({ attributes: resource })).toMatchObject({ "service.version": "1.2.3" });
  expect(attributes({})["service.instance.id"]).not.toBe(attributes({})["service.instance.id"]);
  const named = { OTEL_RESOURCE_ATTRIBUTES: "service.name=a,team=b%20c,,=x, d = e " };
  expect(attributes(named)).toMatchObject({ "service.name": "a", team: "b c", d: "e" });
  const own = { OTEL_RESOURCE_ATTRIBUTES: "service.version=3" };
  expect(attributes(own)).toMatchObject({ "service.version": "3" });
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
    MINE: "x-token=mine",
  };
  const values = listTelemetrySecrets(env, "MINE").map(({ value }) => value);
  expect(values).toEqual(
    expect.arrayContaining(["Bearer abc123", "abc123", "k3y", "mine", "p@ss", "p%40ss"]),
  );
  expect(listTelemetrySecrets({ OTEL_EXPORTER_OTLP_ENDPOINT: "not a url" })).toEqual([]);
});

test("a header or a query value that may be a key is a secret, a plain word is not", () => {
  verifies("REDACT-3");
  const list = (env: Record<string, string>) =>
    new Set(listTelemetrySecrets(env).map(({ value }) => value));
  const headers = (OTEL_EXPORTER_OTLP_HEADERS: string) => list({ OTEL_EXPORTER_OTLP_HEADERS });
  const plain = "x-scope-orgid=production,x-region=eu-west,x-tier=t1,user-agent=my%20collector";
  expect(headers(plain)).toEqual(new Set());
  // Collectors have keys in headers that are not named like one.
  expect(headers("x-honeycomb-team=abc45678")).toEqual(new Set(["abc45678"]));
  expect(headers("cookie=production")).toEqual(new Set(["production"]));
  // A key alone, without the name of a header.
  expect(headers("Bearer abcdefgh")).toEqual(new Set(["Bearer abcdefgh", "abcdefgh"]));
  expect(headers("YWJjZA==")).toEqual(new Set(["YWJjZA=="]));
  expect(headers("a=b,abcdef")).toEqual(new Set(["a=b,abcdef", "abcdef"]));
  const endpoint = (OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: string) =>
    list({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT });
  expect(endpoint("https://host/v1?api_key=a%2Bb&team=mine&x=abc45678&t0ken-alone")).toEqual(
    new Set(["a%2Bb", "a+b", "abc45678", "t0ken-alone"]),
  );
  // It cannot be read, and holds a password.
  expect(endpoint("http://me:s3cr3t@host:99999")).toEqual(new Set(["http://me:s3cr3t@host:99999"]));
});
