// Whether requests are OTLP/JSON as its specification has it: ids in hex and not zero, 64-bit numbers as text, known enums, no
// span that ends before it begins, no event outside of its span, and no parent that is missing unless it may be elsewhere.

import { isRecord } from "@soong/schema";
import { HALF_CHARACTER } from "./attributes.ts";
import { SPAN_FLAGS } from "./otlp-json.ts";

type Fields = Readonly<Record<string, unknown>>;
type Report = (path: string, message: string) => void;

/** Of all requests of one export, or of a single one that is an export: a sentence for each problem. */
export function findOtlpProblems(requests: unknown): string[] {
  const problems: string[] = [];
  const report: Report = (path, message) => problems.push(`${path} ${message}`);
  const spans = new Set<string>();
  const parents: { readonly path: string; readonly id: string }[] = [];
  const list: readonly unknown[] = Array.isArray(requests) ? requests : [requests];
  list.forEach((request, i) => {
    const path = Array.isArray(requests) ? `[${i}]` : "request";
    if (!isRecord(request)) return report(path, "is not an object");
    const isTrace = "resourceSpans" in request;
    if (isTrace === "resourceMetrics" in request) {
      return report(path, "has neither resourceSpans nor resourceMetrics, or both");
    }
    if (isTrace) checkTraces(request, path);
    else checkMetrics(request, path, report);
  });
  for (const { path, id } of parents) {
    if (!spans.has(id)) report(`${path}.parentSpanId`, "is no span of this export");
  }
  return problems;

  function checkTraces(request: Fields, path: string): void {
    eachRecord(request, "resourceSpans", path, report, (ofResource, at) => {
      checkResource(ofResource, at, report);
      eachRecord(ofResource, "scopeSpans", at, report, (ofScope, below) => {
        eachRecord(ofScope, "spans", below, report, checkOne);
      });
    });
  }

  function checkOne(span: Fields, path: string): void {
    checkSpan(span, path, report);
    const { traceId, spanId, parentSpanId, flags } = span;
    const id = `${String(traceId)}/${String(spanId)}`;
    if (spans.has(id)) report(`${path}.spanId`, "was there before");
    spans.add(id);
    // Without the flag that it is in the same program, it may be in another export.
    const isElsewhere = typeof flags === "number" && (flags & REMOTE) !== SPAN_FLAGS.parentKnown;
    if (typeof parentSpanId !== "string" || parentSpanId === "" || isElsewhere) return;
    parents.push({ path, id: `${String(traceId)}/${parentSpanId}` });
  }
}

const REMOTE = SPAN_FLAGS.parentKnown | SPAN_FLAGS.parentRemote;
const STATUS_CODES: readonly unknown[] = [0, 1, 2];
const KINDS: readonly unknown[] = [0, 1, 2, 3, 4, 5];

function checkSpan(span: Fields, path: string, report: Report): void {
  checkId(span["traceId"], 32, `${path}.traceId`, report);
  checkId(span["spanId"], 16, `${path}.spanId`, report);
  if (span["parentSpanId"] !== undefined && span["parentSpanId"] !== "") {
    checkId(span["parentSpanId"], 16, `${path}.parentSpanId`, report);
  }
  if (typeof span["name"] !== "string" || span["name"] === "") {
    report(`${path}.name`, "is not a text, or empty");
  }
  if (!KINDS.includes(span["kind"])) report(`${path}.kind`, "is not a kind of span");
  const start = checkUnsigned(span["startTimeUnixNano"], `${path}.startTimeUnixNano`, report);
  const end = checkUnsigned(span["endTimeUnixNano"], `${path}.endTimeUnixNano`, report);
  if (start !== undefined && end !== undefined && end < start) {
    report(`${path}.endTimeUnixNano`, "is before startTimeUnixNano");
  }
  checkAttributes(span, path, report);
  if (span["events"] !== undefined) {
    eachRecord(span, "events", path, report, (event, at) => {
      if (typeof event["name"] !== "string") report(`${at}.name`, "is not a text");
      const time = checkUnsigned(event["timeUnixNano"], `${at}.timeUnixNano`, report);
      if (time !== undefined && ((start ?? time) > time || (end ?? time) < time)) {
        report(`${at}.timeUnixNano`, "is outside of its span");
      }
      checkAttributes(event, at, report);
    });
  }
  const { status, flags, droppedEventsCount: dropped } = span;
  const code = isRecord(status) ? (status["code"] ?? 0) : status;
  if (status !== undefined && !STATUS_CODES.includes(code)) {
    report(`${path}.status.code`, "is not 0, 1 or 2");
  }
  if (flags !== undefined && !isUint32(flags)) report(`${path}.flags`, "is not a 32-bit number");
  if (dropped !== undefined && !isUint32(dropped)) {
    report(`${path}.droppedEventsCount`, "is not a 32-bit number");
  }
}

function checkMetrics(request: Fields, path: string, report: Report): void {
  eachRecord(request, "resourceMetrics", path, report, (ofResource, at) => {
    checkResource(ofResource, at, report);
    eachRecord(ofResource, "scopeMetrics", at, report, (ofScope, below) => {
      eachRecord(ofScope, "metrics", below, report, (metric, place) => {
        if (typeof metric["name"] !== "string") report(`${place}.name`, "is not a text");
        const { histogram } = metric;
        if (!isRecord(histogram)) return report(`${place}.histogram`, "is not there");
        const { aggregationTemporality: temporality } = histogram;
        if (temporality !== 1 && temporality !== 2) {
          report(`${place}.histogram.aggregationTemporality`, "is not 1 or 2");
        }
        eachRecord(histogram, "dataPoints", `${place}.histogram`, report, (point, where) =>
          checkPoint(point, where, report),
        );
      });
    });
  });
}

function checkPoint(point: Fields, path: string, report: Report): void {
  checkAttributes(point, path, report);
  checkUnsigned(point["startTimeUnixNano"], `${path}.startTimeUnixNano`, report);
  checkUnsigned(point["timeUnixNano"], `${path}.timeUnixNano`, report);
  const count = checkUnsigned(point["count"], `${path}.count`, report);
  const { bucketCounts: counts, explicitBounds: bounds } = point;
  if (!Array.isArray(counts) || !Array.isArray(bounds)) {
    return report(path, "has no bucketCounts or no explicitBounds");
  }
  if (counts.length !== bounds.length + 1) {
    report(`${path}.bucketCounts`, "has not one more than explicitBounds");
  }
  let sum = 0n;
  counts.forEach(
    (one, i) => (sum += checkUnsigned(one, `${path}.bucketCounts[${i}]`, report) ?? 0n),
  );
  if (count !== undefined && sum !== count)
    report(`${path}.count`, "is not the sum of its buckets");
}

function checkResource(of: Fields, path: string, report: Report): void {
  const { resource } = of;
  if (resource === undefined) return;
  if (!isRecord(resource)) return report(`${path}.resource`, "is not an object");
  checkAttributes(resource, `${path}.resource`, report);
}

function checkAttributes(of: Fields, path: string, report: Report): void {
  if (of["attributes"] === undefined) return;
  const keys = new Set<unknown>();
  eachRecord(of, "attributes", path, report, ({ key, value }, at) => {
    if (typeof key !== "string" || key === "") report(`${at}.key`, "is not a text, or empty");
    if (keys.has(key)) report(`${at}.key`, `was there before: ${String(key)}`);
    keys.add(key);
    checkValue(value, `${at}.value`, report);
  });
}

function checkValue(value: unknown, path: string, report: Report): void {
  if (!isRecord(value)) return report(path, "is not an object");
  const [kind, ...more] = Object.keys(value);
  if (kind === undefined) return;
  if (more.length > 0) return report(path, "has more than one kind of value");
  const held = value[kind];
  switch (kind) {
    case "stringValue":
      if (typeof held !== "string") report(path, "has a stringValue that is not a text");
      else if (held.search(HALF_CHARACTER) !== -1)
        report(path, "has a stringValue with half a character");
      return;
    case "boolValue":
      if (typeof held !== "boolean") report(path, "has a boolValue that is neither true nor false");
      return;
    case "intValue":
      if (typeof held !== "string" || !/^-?\d+$/.test(held)) {
        report(path, "has an intValue that is not a whole number as text");
      }
      return;
    case "doubleValue":
      if (typeof held !== "number") report(path, "has a doubleValue that is not a number");
      return;
    case "arrayValue":
      if (!isRecord(held)) return report(path, "has an arrayValue without values");
      if (!Array.isArray(held["values"])) return report(path, "has an arrayValue without values");
      held["values"].forEach((one, i) => checkValue(one, `${path}.values[${i}]`, report));
      return;
    default:
      report(path, `has the unknown kind ${kind}`);
  }
}

function checkId(id: unknown, digits: number, path: string, report: Report): void {
  if (typeof id !== "string" || id.length !== digits || !/^[0-9a-f]+$/i.test(id)) {
    report(path, `is not ${digits} hex digits`);
  } else if (/^0+$/.test(id)) report(path, "is zero");
}

function checkUnsigned(value: unknown, path: string, report: Report): bigint | undefined {
  if (typeof value === "string" && /^\d{1,20}$/.test(value)) {
    const number = BigInt(value);
    if (number < 1n << 64n) return number;
  }
  report(path, "is not an unsigned 64-bit number as text");
  return undefined;
}

function isUint32(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 0xffff_ffff;
}

function eachRecord(
  of: Fields,
  key: string,
  path: string,
  report: Report,
  check: (record: Fields, path: string) => void,
): void {
  const list = of[key];
  if (!Array.isArray(list)) return report(`${path}.${key}`, "is not a list");
  list.forEach((record: unknown, i) => {
    const at = `${path}.${key}[${i}]`;
    if (isRecord(record)) check(record, at);
    else report(at, "is not an object");
  });
}
