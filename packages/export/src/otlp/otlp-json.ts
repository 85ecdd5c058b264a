// The part of OTLP/JSON that Soong writes: requests of spans and metrics, with 64-bit numbers as text and ids in hex.

export interface OtlpTraceRequest {
  readonly resourceSpans: readonly {
    readonly resource: OtlpResource;
    readonly scopeSpans: readonly {
      readonly scope: OtlpScope;
      readonly schemaUrl?: string;
      readonly spans: readonly OtlpSpan[];
    }[];
  }[];
}

export interface OtlpMetricsRequest {
  readonly resourceMetrics: readonly {
    readonly resource: OtlpResource;
    readonly scopeMetrics: readonly {
      readonly scope: OtlpScope;
      readonly schemaUrl?: string;
      readonly metrics: readonly OtlpMetric[];
    }[];
  }[];
}

export interface OtlpResource {
  readonly attributes: readonly OtlpAttribute[];
}

export interface OtlpScope {
  readonly name: string;
  readonly version?: string;
}

export interface OtlpAttribute {
  readonly key: string;
  readonly value: OtlpValue;
}

export type OtlpValue =
  | { readonly stringValue: string }
  | { readonly boolValue: boolean }
  | { readonly intValue: string }
  | { readonly doubleValue: number }
  | { readonly arrayValue: { readonly values: readonly OtlpValue[] } };

export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly flags: number;
  readonly name: string;
  readonly kind: OtlpSpanKind;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly OtlpAttribute[];
  readonly events?: readonly OtlpEvent[];
  readonly droppedEventsCount?: number;
  readonly status: OtlpStatus;
}

export interface OtlpEvent {
  readonly timeUnixNano: string;
  readonly name: string;
  readonly attributes: readonly OtlpAttribute[];
}

/** 2 is an error; success is not stated. */
export type OtlpStatus = { readonly code: 0 } | { readonly code: 2; readonly message?: string };

export const SPAN_KIND = { internal: 1, client: 3 } as const;
export type OtlpSpanKind = (typeof SPAN_KIND)[keyof typeof SPAN_KIND];

/** Bits of `flags`: the W3C sampled flag, whether it is known where the parent is from, and that it is from elsewhere. */
export const SPAN_FLAGS = { sampled: 0x001, parentKnown: 0x100, parentRemote: 0x200 } as const;

export const CUMULATIVE = 2;

export interface OtlpMetric {
  readonly name: string;
  readonly description: string;
  readonly unit: string;
  readonly histogram: {
    readonly aggregationTemporality: typeof CUMULATIVE;
    readonly dataPoints: readonly OtlpHistogramPoint[];
  };
}

export interface OtlpHistogramPoint {
  readonly attributes: readonly OtlpAttribute[];
  readonly startTimeUnixNano: string;
  readonly timeUnixNano: string;
  readonly count: string;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
  readonly bucketCounts: readonly string[];
  readonly explicitBounds: readonly number[];
}

/** Which code made the records. The version is that of the package, kept equal by a test. */
export const SCOPE = { name: "soong", version: "0.1.0" } as const satisfies OtlpScope;

/** Of the GenAI conventions, by their own manifest: they have no release yet. */
export const SCHEMA_URL = "https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev";
