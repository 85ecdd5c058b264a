// Metrics of spans that have ended, as histograms since the start (cumulative), with the buckets that the conventions name.

import { Attributes, findInt, findText } from "./attributes.ts";
import {
  CUMULATIVE,
  SCHEMA_URL,
  SCOPE,
  type OtlpAttribute,
  type OtlpMetric,
  type OtlpMetricsRequest,
  type OtlpSpan,
} from "./otlp-json.ts";
import { DEFAULT_RESOURCE } from "./otlp-projection.ts";

export interface OtlpMetrics {
  /** Counts a span that has ended; one whose end is not known is not counted. */
  add(span: OtlpSpan): void;
  /** All of it until now; undefined where nothing was counted. */
  collect(timeUnixNano: string): OtlpMetricsRequest | undefined;
}

export interface OtlpMetricsOptions {
  readonly resource?: readonly OtlpAttribute[];
  /** When counting began. */
  readonly startTimeUnixNano: string;
}

const SECONDS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];
const TOKENS = [
  1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216,
  67_108_864,
];

const METRICS = {
  toolDuration: {
    name: "gen_ai.execute_tool.duration",
    description: "Duration of tool executions.",
    unit: "s",
    bounds: SECONDS,
  },
  operationDuration: {
    name: "gen_ai.client.operation.duration",
    description: "GenAI operation duration.",
    unit: "s",
    bounds: SECONDS,
  },
  tokenUsage: {
    name: "gen_ai.client.token.usage",
    description: "Number of input and output tokens used.",
    unit: "{token}",
    bounds: TOKENS,
  },
} as const;

/** Histograms of the durations of calls and model requests, and of their tokens, by the GenAI conventions. */
export function createOtlpMetrics(options: OtlpMetricsOptions): OtlpMetrics {
  const { resource = DEFAULT_RESOURCE, startTimeUnixNano } = options;
  const tools = new Histogram(METRICS.toolDuration);
  const operations = new Histogram(METRICS.operationDuration);
  const tokens = new Histogram(METRICS.tokenUsage);

  return {
    add(span) {
      if (hasKey(span, "soong.unended")) return;
      switch (findText(span.attributes, "gen_ai.operation.name")) {
        case "execute_tool":
          return countCall(span);
        case "chat":
          return countRequest(span);
        default:
      }
    },
    collect(timeUnixNano) {
      const metrics = [tools, operations, tokens].flatMap((histogram) =>
        histogram.collect(startTimeUnixNano, timeUnixNano),
      );
      if (metrics.length === 0) return undefined;
      return {
        resourceMetrics: [
          {
            resource: { attributes: resource },
            scopeMetrics: [{ scope: SCOPE, schemaUrl: SCHEMA_URL, metrics }],
          },
        ],
      };
    },
  };

  /** Calls that never began took no time. */
  function countCall(span: OtlpSpan): void {
    const isStarted = ({ key, value }: OtlpAttribute): boolean =>
      key === "soong.tool.started" && "boolValue" in value && value.boolValue;
    if (!span.attributes.some(isStarted)) return;
    tools.record(measure(span), pick(span, TOOL_KEYS));
  }

  function countRequest(span: OtlpSpan): void {
    operations.record(measure(span), pick(span, REQUEST_KEYS));
    for (const type of ["input", "output"] as const) {
      const count = findInt(span.attributes, `gen_ai.usage.${type}_tokens`);
      if (count === undefined) continue;
      const attributes = new Attributes();
      for (const key of TOKEN_KEYS) attributes.text(key, findText(span.attributes, key));
      tokens.record(count, attributes.text("gen_ai.token.type", type));
    }
  }
}

const TOOL_KEYS = ["gen_ai.operation.name", "gen_ai.tool.name", "gen_ai.tool.type", "error.type"];
const TOKEN_KEYS = ["gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model"];
const REQUEST_KEYS = [...TOKEN_KEYS, "error.type"];

function pick(span: OtlpSpan, keys: readonly string[]): Attributes {
  const attributes = new Attributes();
  for (const key of keys) attributes.text(key, findText(span.attributes, key));
  return attributes;
}

function hasKey({ attributes }: OtlpSpan, wanted: string): boolean {
  return attributes.some(({ key }) => key === wanted);
}

/** In seconds; the difference is small enough for a number. */
function measure({ startTimeUnixNano, endTimeUnixNano }: OtlpSpan): number {
  return Number(BigInt(endTimeUnixNano) - BigInt(startTimeUnixNano)) / 1e9;
}

/** More sets of attributes than this share one, as OpenTelemetry has it: a server may offer tools under ever new names. */
const MOST_SETS = 2000;
const OVERFLOW = new Attributes().flag("otel.metric.overflow", true);

interface Point {
  readonly attributes: readonly OtlpAttribute[];
  readonly buckets: number[];
  count: number;
  sum: number;
  min: number;
  max: number;
}

type Instrument = (typeof METRICS)[keyof typeof METRICS];

class Histogram {
  readonly #instrument: Instrument;
  readonly #points = new Map<string, Point>();

  constructor(instrument: Instrument) {
    this.#instrument = instrument;
  }

  record(value: number, attributes: Attributes): void {
    const { bounds } = this.#instrument;
    const point = this.#findPoint(attributes);
    // A bound belongs to the bucket below it.
    const at = bounds.findIndex((bound) => value <= bound);
    const bucket = at === -1 ? bounds.length : at;
    point.buckets[bucket] = (point.buckets[bucket] ?? 0) + 1;
    point.count += 1;
    point.sum += value;
    point.min = Math.min(point.min, value);
    point.max = Math.max(point.max, value);
  }

  collect(startTimeUnixNano: string, timeUnixNano: string): OtlpMetric[] {
    if (this.#points.size === 0) return [];
    const { name, description, unit, bounds } = this.#instrument;
    const dataPoints = Array.from(this.#points.values(), (point) => ({
      attributes: point.attributes,
      startTimeUnixNano,
      timeUnixNano,
      count: String(point.count),
      sum: point.sum,
      min: point.min,
      max: point.max,
      bucketCounts: point.buckets.map(String),
      explicitBounds: bounds,
    }));
    const histogram = { aggregationTemporality: CUMULATIVE, dataPoints } as const;
    return [{ name, description, unit, histogram }];
  }

  #findPoint({ list }: Attributes): Point {
    const key = JSON.stringify(list);
    const known = this.#points.get(key);
    if (known !== undefined) return known;
    if (this.#points.size >= MOST_SETS && list !== OVERFLOW.list) return this.#findPoint(OVERFLOW);
    const point: Point = {
      attributes: list,
      buckets: Array.from({ length: this.#instrument.bounds.length + 1 }, () => 0),
      count: 0,
      sum: 0,
      min: Number.POSITIVE_INFINITY,
      max: Number.NEGATIVE_INFINITY,
    };
    this.#points.set(key, point);
    return point;
  }
}
