// Facts as requests of OTLP/JSON, one a line of a file of traces (EXPORT-1).

import type { Fact } from "@soong/core";
import type { Projection } from "../projection/projection.ts";
import {
  SCHEMA_URL,
  SCOPE,
  type OtlpAttribute,
  type OtlpSpan,
  type OtlpTraceRequest,
} from "./otlp-json.ts";
import { Attributes } from "./attributes.ts";
import { createSpanProjection, type SpanOptions } from "./span-projection.ts";

export interface OtlpOptions extends SpanOptions {
  /** What the spans are of. Default: `service.name` is `soong`. */
  readonly resource?: readonly OtlpAttribute[];
  /** How many spans a request has at most. Default: 128. */
  readonly spansPerRequest?: number;
}

export const DEFAULT_RESOURCE: readonly OtlpAttribute[] = new Attributes().text(
  "service.name",
  "soong",
).list;

/**
 * Runs, model requests and calls as spans by the GenAI conventions of OpenTelemetry. A request is given out when it is
 * full, and the last at the end.
 */
export function createOtlpProjection(options: OtlpOptions = {}): Projection<OtlpTraceRequest> {
  const { resource = DEFAULT_RESOURCE, spansPerRequest = 128 } = options;
  const spans = createSpanProjection(options);
  let waiting: OtlpSpan[] = [];
  return {
    push: (fact: Fact) => collect(spans.push(fact), spansPerRequest),
    end: () => collect(spans.end(), 1),
  };

  /** `least`: a request of fewer spans waits for more. */
  function collect(ended: readonly OtlpSpan[], least: number): readonly OtlpTraceRequest[] {
    if (ended.length === 0 && waiting.length < least) return NO_REQUESTS;
    waiting.push(...ended);
    if (waiting.length < least) return NO_REQUESTS;
    const requests: OtlpTraceRequest[] = [];
    for (let at = 0; at < waiting.length; at += spansPerRequest) {
      requests.push(createTraceRequest(waiting.slice(at, at + spansPerRequest), resource));
    }
    waiting = [];
    return requests;
  }
}

const NO_REQUESTS: readonly OtlpTraceRequest[] = [];

/** One request with these spans: the body of a POST to a collector, or one line of a file. */
export function createTraceRequest(
  spans: readonly OtlpSpan[],
  resource: readonly OtlpAttribute[] = DEFAULT_RESOURCE,
): OtlpTraceRequest {
  return {
    resourceSpans: [
      {
        resource: { attributes: resource },
        scopeSpans: [{ scope: SCOPE, schemaUrl: SCHEMA_URL, spans }],
      },
    ],
  };
}
