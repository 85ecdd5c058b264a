import { expect, test } from "vitest";
import { verifies } from "#laws";
import { findOtlpProblems } from "./find-otlp-problems.ts";

const SPAN = {
  traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
  spanId: "00f067aa0ba902b7",
  name: "chat",
  kind: 3,
  startTimeUnixNano: "1",
  endTimeUnixNano: "2",
  attributes: [{ key: "a", value: { intValue: "1" } }],
  status: { code: 0 },
};

function findIn(change: object): string[] {
  const spans = [{ ...SPAN, ...change }];
  return findOtlpProblems({ resourceSpans: [{ scopeSpans: [{ spans }] }] }).map((problem) =>
    problem.replace("request.resourceSpans[0].scopeSpans[0].spans[0]", "span"),
  );
}

test("a sound span has no problem", () => {
  verifies("EXPORT-1");
  expect(findIn({})).toEqual([]);
  // Its parent is in another program, or may be in another export.
  expect(findIn({ parentSpanId: "00f067aa0ba902b8", flags: 0x300 })).toEqual([]);
  expect(findIn({ parentSpanId: "00f067aa0ba902b8", flags: 0x001 })).toEqual([]);
  expect(
    findIn({
      events: [
        { name: "a", timeUnixNano: "1" },
        { name: "b", timeUnixNano: "2" },
      ],
    }),
  ).toEqual([]);
});

test("each mistake is reported with its place", () => {
  verifies("EXPORT-1");
  const value = (held: unknown) => ({ attributes: [{ key: "a", value: held }] });
  const mistakes: [change: object, problem: string][] = [
    [{ traceId: "4bf9" }, "span.traceId is not 32 hex digits"],
    [{ spanId: "0".repeat(16) }, "span.spanId is zero"],
    [{ parentSpanId: "00f067aa0ba902b8" }, "span.parentSpanId is no span of this export"],
    [
      { parentSpanId: "00f067aa0ba902b8", flags: 0x101 },
      "span.parentSpanId is no span of this export",
    ],
    [{ parentSpanId: "x" }, "span.parentSpanId is not 16 hex digits"],
    [{ name: "" }, "span.name is not a text, or empty"],
    [{ kind: 9 }, "span.kind is not a kind of span"],
    [{ endTimeUnixNano: "0" }, "span.endTimeUnixNano is before startTimeUnixNano"],
    [{ startTimeUnixNano: 1 }, "span.startTimeUnixNano is not an unsigned 64-bit number as text"],
    [
      { endTimeUnixNano: "99999999999999999999" },
      "span.endTimeUnixNano is not an unsigned 64-bit number as text",
    ],
    [{ status: { code: 7 } }, "span.status.code is not 0, 1 or 2"],
    [{ flags: -1 }, "span.flags is not a 32-bit number"],
    [{ events: [{ name: 1, timeUnixNano: "1" }] }, "span.events[0].name is not a text"],
    [
      { events: [{ name: "a", timeUnixNano: "0" }] },
      "span.events[0].timeUnixNano is outside of its span",
    ],
    [
      { events: [{ name: "a", timeUnixNano: "3" }] },
      "span.events[0].timeUnixNano is outside of its span",
    ],
    [
      { attributes: [...SPAN.attributes, ...SPAN.attributes] },
      "span.attributes[1].key was there before: a",
    ],
    [
      value({ intValue: 1 }),
      "span.attributes[0].value has an intValue that is not a whole number as text",
    ],
    [
      value({ stringValue: "\uD800" }),
      "span.attributes[0].value has a stringValue with half a character",
    ],
    [
      value({ boolValue: "true" }),
      "span.attributes[0].value has a boolValue that is neither true nor false",
    ],
    [
      value({ doubleValue: "1" }),
      "span.attributes[0].value has a doubleValue that is not a number",
    ],
    [value({ arrayValue: [] }), "span.attributes[0].value has an arrayValue without values"],
    [
      value({ stringValue: "", boolValue: true }),
      "span.attributes[0].value has more than one kind of value",
    ],
    [value({ dateValue: "" }), "span.attributes[0].value has the unknown kind dateValue"],
  ];
  for (const [change, problem] of mistakes) expect(findIn(change)).toContain(problem);
});

test("what is no request at all is reported", () => {
  verifies("EXPORT-1");
  for (const nothing of [
    undefined,
    null,
    1,
    {},
    [1],
    { resourceSpans: 1 },
    { resourceSpans: [1] },
  ]) {
    expect(findOtlpProblems(nothing)).toHaveLength(1);
  }
  expect(findOtlpProblems([])).toEqual([]);
  const both = { resourceSpans: [], resourceMetrics: [] };
  expect(findOtlpProblems(both)).toHaveLength(1);
});

test("a parent in another request of the same export is there, and no id comes twice", () => {
  verifies("EXPORT-1");
  const request = (...spans: object[]) => ({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
  const child = { ...SPAN, spanId: "00f067aa0ba902b8", parentSpanId: SPAN.spanId };
  expect(findOtlpProblems([request(child), request(SPAN)])).toEqual([]);
  expect(findOtlpProblems([request(SPAN, SPAN)])).toEqual([
    "[0].resourceSpans[0].scopeSpans[0].spans[1].spanId was there before",
  ]);
});

test("a histogram has one more bucket than bounds, and the count of its buckets", () => {
  verifies("EXPORT-1");
  const point = {
    startTimeUnixNano: "1",
    timeUnixNano: "2",
    count: "3",
    bucketCounts: ["1", "2"],
    explicitBounds: [5],
  };
  const findInPoint = (change: object, temporality = 2): string[] => {
    const histogram = {
      aggregationTemporality: temporality,
      dataPoints: [{ ...point, ...change }],
    };
    const metrics = [{ name: "m", histogram }];
    return findOtlpProblems({ resourceMetrics: [{ scopeMetrics: [{ metrics }] }] });
  };
  expect(findInPoint({})).toEqual([]);
  for (const change of [
    { count: "4" },
    { count: 3 },
    { explicitBounds: [] },
    { bucketCounts: 1 },
  ]) {
    expect(findInPoint(change)).toHaveLength(1);
  }
  expect(findInPoint({}, 0)).toHaveLength(1);
});
