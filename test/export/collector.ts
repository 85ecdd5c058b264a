// A collector of OpenTelemetry as tests need one: a real server on this machine that keeps what it is sent, and answers as a
// test says.

import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import type { OtlpMetricsRequest, OtlpSpan, OtlpTraceRequest } from "@soong/export";
import { onTestFinished } from "vitest";

export interface Collector {
  readonly url: string;
  readonly requests: readonly CollectedRequest[];
  /** All spans, in the order of their arrival. */
  spans(): OtlpSpan[];
  metrics(): OtlpMetricsRequest[];
  /** Resolves when so many requests have come. */
  received(count: number): Promise<void>;
}

export interface CollectedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type Answer = (response: ServerResponse, request: CollectedRequest) => void;

const ACCEPT: Answer = (response) =>
  void response.setHeader("content-type", "application/json").end("{}");

/** Closed when the test ends. */
export async function openCollector(answer: Answer = ACCEPT): Promise<Collector> {
  const requests: CollectedRequest[] = [];
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const server = createServer((request, response) => void take(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    spans: () =>
      requests
        .filter(({ path }) => path.endsWith("/v1/traces"))
        .flatMap(({ body }) => listSpans([JSON.parse(body) as OtlpTraceRequest])),
    metrics: () =>
      requests
        .filter(({ path }) => path.endsWith("/v1/metrics"))
        .map(({ body }) => JSON.parse(body) as OtlpMetricsRequest),
    received: (count) =>
      new Promise((resolve) => {
        waiting.push({ count, resolve });
        tell();
      }),
  };

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += String(chunk);
    const collected = { path: request.url ?? "", headers: request.headers, body };
    requests.push(collected);
    answer(response, collected);
    tell();
  }

  function tell(): void {
    for (const { count, resolve } of waiting) if (requests.length >= count) resolve();
  }
}

/** An address where no one listens. */
export async function findClosedAddress(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return `http://127.0.0.1:${port}`;
}

export function listSpans(requests: readonly OtlpTraceRequest[]): OtlpSpan[] {
  return requests.flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
  );
}

/** The attributes of a record by their keys, numbers as numbers. */
export function readAttributes({
  attributes,
}: Pick<OtlpSpan, "attributes">): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, readValue(value)]));
}

function readValue(value: OtlpSpan["attributes"][number]["value"]): unknown {
  if ("intValue" in value) return Number(value.intValue);
  if ("arrayValue" in value) return value.arrayValue.values.map(readValue);
  return Object.values(value)[0];
}
