import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { writtenFact } from "../../../../test/facts.ts";
import type { Fact } from "@soong/core";
import { eventLine, errorLine, toolLine } from "./log-lines.ts";

import type { CommittedFact } from "./line-file.ts";

const LONG = "x".repeat(4097);

test("a line without a long string is the journal's line, byte for byte", () => {
  verifies("EVENT-5");
  const { fact } = of({
    type: "error",
    data: { text: "x".repeat(4096), list: Array(2000).fill("é") },
  });
  // Not how we would write it: a line that was taken apart and put together again would differ.
  const line = JSON.stringify(fact, null, 1).replaceAll("\n", " ");
  expect(eventLine({ fact, line })).toBe(line);
  // And a short one is not even looked at.
  expect(eventLine({ fact, line: "any text" })).toBe("any text");
});

test("a long string anywhere in the data is a reference with its beginning", () => {
  verifies("EVENT-5");
  const data = {
    a: { "b/c~d": [1, LONG, { e: LONG }], short: "x".repeat(4096) },
    ["__proto__x"]: null,
    "": LONG,
  };
  const reference = (pointer: string) => ({
    $ref: `journal:s/7#/data${pointer}`,
    chars: 4097,
    head: "x".repeat(256),
  });
  const whole = of({ seq: 7, data, tool_name: "t" });
  expect(JSON.parse(eventLine(whole))).toEqual({
    ...whole.fact,
    data: {
      a: {
        "b/c~d": [1, reference("/a/b~1c~0d/1"), { e: reference("/a/b~1c~0d/2/e") }],
        short: "x".repeat(4096),
      },
      ["__proto__x"]: null,
      "": reference("/"),
    },
  });
});

test("a key named __proto__ is a key like any other", () => {
  const line = `{"seq":1,"session_id":"s","data":{"__proto__":"${LONG}","z":{"__proto__":{"y":"${LONG}"}}}}`;
  const { fact } = of({});
  const written = eventLine({ fact, line });
  expect(written.length).toBeLessThan(1500);
  expect(written).toContain(`"__proto__":{"$ref":"journal:s/1#/data/__proto__"`);
  expect(written).toContain(`"y":{"$ref":"journal:s/1#/data/z/__proto__/y"`);
});

test("data nested as deep as a journal can hold is no trouble", () => {
  const depth = 3000;
  const line = `{"data":${'{"a":'.repeat(depth)}"${LONG}"${"}".repeat(depth)}}`;
  const written = eventLine({ fact: of({}).fact, line });
  expect(written).toContain(`"chars":4097`);
});

test("a beginning never ends in half a character", () => {
  fc.assert(
    fc.property(fc.nat(3), (shift) => {
      const emoji = "a".repeat(shift) + "😀".repeat(3000);
      const whole = of({
        type: "tool.failed",
        level: "error",
        data: {
          text: emoji,
          result: { summary: emoji, is_error: true, error: { message: emoji } },
        },
      });
      for (const line of [eventLine(whole), toolLine(whole), errorLine(whole)]) {
        expect(line).not.toMatch(/\\ud[89a-f]/);
      }
    }),
  );
});

test("a summary is one line of at most 500 characters", () => {
  verifies("EVENT-5");
  expect(summaryOf(" one\r\n\ttwo\u2028three\u0000\u001b[31m ")).toBe("one two three [31m");
  expect(summaryOf("x".repeat(500))).toBe("x".repeat(500));
  expect(summaryOf("x".repeat(501))).toBe(`${"x".repeat(499)}…`);
  expect(summaryOf(`${" ".repeat(5000)}far`)).toBe("…");
  expect(summaryOf("word ".repeat(1_000_000)).length).toBeLessThanOrEqual(500);
  const long = of({ level: "error", data: { code: LONG, message: LONG } });
  expect(JSON.parse(errorLine(long) ?? "")).toMatchObject({
    code: expect.stringMatching(/^x{499}…$/) as string,
    message: expect.stringMatching(/^x{499}…$/) as string,
  });
});

test("each way to end is a line of its call, and nothing else is", () => {
  for (const type of [
    "completed",
    "failed",
    "denied",
    "skipped",
    "cancelled",
    "discarded",
  ] as const) {
    const line = toolLine(of({ type: `tool.${type}`, data: {} }));
    expect(JSON.parse(line ?? "")).toEqual({
      seq: 1,
      time: "t1",
      status: type,
      summary: "",
      is_error: type !== "completed",
    });
  }
  for (const type of ["tool.late", "tool.started", "run.failed", "error"] as const) {
    expect(toolLine(of({ type, data: { result: { status: "failed" } } }))).toBeUndefined();
  }
});

test("an error's line has the words that say most", () => {
  const message = (data: object) => {
    const line = errorLine(of({ type: "run.failed", level: "error", data }));
    return (JSON.parse(line ?? "") as { message: string }).message;
  };
  expect(message({ error: { message: "a" }, message: "b" })).toBe("a");
  expect(message({ message: "b", reason: "c" })).toBe("b");
  expect(message({ error: "plain", reason: "c" })).toBe("plain");
  expect(message({ reason: "c" })).toBe("c");
  expect(message({ result: { summary: "d" } })).toBe("d");
  expect(message({})).toBe("run.failed");
  expect(message({ message: 5, error: null })).toBe("run.failed");
});

test("a call that went well is no error, one of unknown outcome is", () => {
  const line = (status: string, is_error: boolean, level: Fact["level"] = "info") =>
    errorLine(of({ type: "tool.completed", level, data: { result: { status, is_error } } }));
  expect(line("succeeded", false)).toBeUndefined();
  expect(line("succeeded", false, "warn")).toBeUndefined();
  expect(line("succeeded", false, "error")).toBeDefined();
  expect(line("unknown", false)).toBeDefined();
  expect(line("denied", true)).toBeDefined();
  expect(
    errorLine(of({ type: "tool.late", data: { result: { is_error: true } } })),
  ).toBeUndefined();
});

function summaryOf(summary: string): string {
  const line = toolLine(of({ type: "tool.completed", data: { result: { summary } } }));
  return (JSON.parse(line ?? "") as { summary: string }).summary;
}

function of(about: Partial<Parameters<typeof writtenFact>[0]>): CommittedFact {
  const fact = writtenFact({ type: "tool.progress", time: "t1", ...about });
  return { fact, line: JSON.stringify(fact) };
}
