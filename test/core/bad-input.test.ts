// Whatever a model or an adapter sends as name, id or arguments ends in one clear result (RESULT-1, PIPE-1,
// SCHEMA-4, SCHEMA-8, SURF-2).

import { createKernel, createMemoryJournal, type AnyTool, type ToolCall } from "@soong/core";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { callBadly, expectClearEnd, quietly } from "./clear-end.ts";
import { drive, setStage, statusesOf } from "./drive.ts";
import { cyclic, nested, throwingProxy } from "./hostile-values.ts";
import { reader, writer } from "./world.ts";

const hostile = {
  get path(): string {
    throw new Error("never");
  },
};

describe("arguments", () => {
  const strict: Partial<AnyTool> = {
    input_schema: {
      type: "object",
      properties: { path: { type: "string" }, count: { type: "integer" } },
      required: ["path"],
      additionalProperties: false,
    },
    handler: () => expect.unreachable("it ran on bad arguments"),
  };

  const bad: [what: string, given: unknown, code: string][] = [
    ["empty text", "", "arguments_not_json"],
    ["white space", " \n", "arguments_not_json"],
    ["not JSON", "read the file, please", "arguments_not_json"],
    ["cut short", '{"path":"a', "arguments_not_json"],
    ["two objects", '{"path":"a"}{"path":"b"}', "arguments_not_json"],
    ["a trailing comma", '{"path":"a",}', "arguments_not_json"],
    ["a lone surrogate and NUL", '{"\u0000\ud800":', "arguments_not_json"],
    ["null", "null", "arguments_not_object"],
    ["a list", "[]", "arguments_not_object"],
    ["a number", "7", "arguments_not_object"],
    ["an object encoded twice", JSON.stringify('{"path":"a"}'), "arguments_not_object"],
    ["10 MB of text", `{"path":"${"x".repeat(10_000_000)}"}`, "arguments_too_large"],
    ["10 MB that are not JSON", "x".repeat(10_000_000), "arguments_too_large"],
    [
      "10 000 levels of objects",
      '{"a":'.repeat(10_000) + "1" + "}".repeat(10_000),
      "arguments_too_deep",
    ],
    ["10 000 levels of lists", `{"path":${"[".repeat(10_000)}`, "arguments_too_deep"],
    ["__proto__", '{"path":"a","__proto__":{"admin":true}}', "arguments_not_json"],
    ["an escaped __proto__", '{"path":"a","\\u005f_proto__":{}}', "arguments_not_json"],
    ["__proto__ deep inside", '{"path":"a","b":[{"c":{"__proto__":1}}]}', "arguments_not_json"],
    ["constructor", '{"path":"a","constructor":{"prototype":{}}}', "invalid_arguments"],
    ["inherited names for a required one", '{"toString":"a"}', "invalid_arguments"],
    ["a wrong type", '{"path":5}', "invalid_arguments"],
    ["null for a string", '{"path":null}', "invalid_arguments"],
    ["a number in a string", '{"path":"a","count":"1"}', "invalid_arguments"],
    ["a fraction for an integer", '{"path":"a","count":1.5}', "invalid_arguments"],
    ["a field too many", '{"path":"a","mode":"w"}', "invalid_arguments"],
    ["undefined", undefined, "arguments_not_object"],
    ["a function", () => ({ path: "a" }), "arguments_not_object"],
    ["a symbol", Symbol("path"), "arguments_not_object"],
    ["a BigInt", 10n, "arguments_not_object"],
    ["an object with a BigInt", { path: 10n }, "arguments_not_json"],
    ["an object with NaN", { path: "a", count: Number.NaN }, "arguments_not_json"],
    ["an object that holds itself", cyclic(), "arguments_not_json"],
    ["a Map", new Map([["path", "a"]]), "arguments_not_json"],
    ["a Date", new Date(0), "arguments_not_json"],
    ["a promise", Promise.resolve({ path: "a" }), "arguments_not_json"],
    ["a getter that throws", hostile, "arguments_not_json"],
    ["a proxy that throws", throwingProxy({}), "arguments_not_json"],
    ["10 000 levels of values", nested(10_000, (inner) => ({ a: inner })), "arguments_too_deep"],
    ["a value of 10 MB", { path: "x".repeat(10_000_000) }, "arguments_too_large"],
    ["a list of a million", { path: Array.from({ length: 1e6 }, () => 0) }, "arguments_too_large"],
  ];

  it.each(bad)("%s is refused before anything happens", async (_what, given, code) => {
    verifies("RESULT-1", "SCHEMA-4", "SCHEMA-8", "PIPE-1");
    const { result, stage } = await callBadly(strict, { call: { arguments: given } });
    expect(result).toMatchObject({ status: "failed", error: { code, retryable: true } });
    expect(stage.storyOf("1")).toEqual(["tool.requested", "tool.failed", "tool.yielded"]);
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
    const requested = JSON.stringify(stage.facts("tool.requested"));
    expect(requested.length, "the fact of the request is bounded").toBeLessThan(200_000);
  });

  it("with odd but allowed keys reach the handler as they are", async () => {
    verifies("SCHEMA-4");
    const text = '{"constructor":1,"toString":2,"hasOwnProperty":3,"":4,"a.b":5}';
    const { result } = await callBadly({}, { call: { arguments: text } });
    expect(result.status).toBe("succeeded");
    expect(JSON.stringify(result.data)).toBe(text);
  });
});

describe("names", () => {
  const bad: [what: string, name: unknown][] = [
    ["empty", ""],
    ["unknown", "a.tol"],
    ["very long", `a.${"x".repeat(1_000_000)}`],
    ["a path", "../../etc/passwd"],
    ["an inherited property", "constructor"],
    ["__proto__", "__proto__"],
    ["with a line break", "a.tool\n    at evil (file.ts:1)"],
    ["a number", 7],
    ["null", null],
    ["undefined", undefined],
    ["a symbol", Symbol("a.tool")],
    ["an object", { name: "a.tool" }],
    ["an object without a prototype", Object.create(null)],
    [
      "an object that will not be shown",
      {
        toString() {
          throw new Error("never");
        },
      },
    ],
    ["a list that would print as the name", ["a.tool"]],
  ];

  it.each(bad)("that are not there end the call and nothing else: %s", async (what, name) => {
    verifies("RESULT-1", "SURF-2", "PIPE-1");
    await quietly(async () => {
      const stage = await setStage({ tools: [reader("a.tool"), writer("a.write")] });
      const results = await drive(
        stage.clock,
        stage.run.execute([
          { id: "1", name: name as string, arguments: "{}" },
          { id: "2", name: "a.tool", arguments: "{}" },
        ]),
      );
      expect(statusesOf(results)).toEqual(["denied", "succeeded"]);
      const [result] = results;
      expect(result?.error).toMatchObject({
        code: "tool_not_available",
        error_class: "unknown_tool",
      });
      expect(typeof result?.tool_name).toBe("string");
      expect(stage.storyOf("1")).toEqual(["tool.requested", "tool.denied", "tool.yielded"]);
      expect(JSON.stringify(stage.facts("tool.requested", "tool.denied")).length).toBeLessThan(
        10_000,
      );
      if (what !== "with a line break") await expectClearEnd(stage, result!);
    });
  });
});

describe("ids", () => {
  const one = (id: unknown): ToolCall => ({ id: id as string, name: "a.tool", arguments: "{}" });

  const bad: [what: string, ids: unknown[]][] = [
    ["missing", [undefined, undefined, undefined]],
    ["empty", ["", ""]],
    ["repeated", ["x", "x", "x", "y", "y"]],
    ["not strings", [7, null, {}, Symbol("x"), ["x"], "x"]],
  ];

  it.each(bad)("that are %s are replaced: every call keeps its own result", async (_what, ids) => {
    verifies("RESULT-1");
    const stage = await setStage({
      tools: [reader("a.tool", 0, { handler: (_input: unknown, { toolCallId }) => toolCallId })],
    });
    const turn = stage.run.openTurn();
    const given = ids.map((id) => turn.push(one(id)));
    turn.end();
    const results = await drive(stage.clock, turn.settled());
    expect(new Set(given).size).toBe(ids.length);
    expect(results.map(({ tool_call_id }) => tool_call_id)).toEqual(given);
    for (const result of results) {
      expect(result.status).toBe("succeeded");
      expect(result.content).toEqual([{ type: "text", text: result.tool_call_id }]);
      await expectClearEnd(stage, result);
    }
  });

  it("that any source of ids would make again do not make two calls one", async () => {
    verifies("RESULT-1");
    const stage = await setStage({ tools: [reader("a.tool")] });
    // The ids of this stage count up, so a model that has seen one knows the next ones.
    const seen = stage.run.openTurn().push(one(""));
    const next = Number(/\d+/.exec(seen)?.[0]);
    const ahead = Array.from({ length: 40 }, (_, i) => `call_${next + 20 + i}`);
    const turn = stage.run.openTurn();
    const given = [...ahead, ...Array.from({ length: 20 }, () => "")].map((id) =>
      turn.push(one(id)),
    );
    turn.end();
    const results = await drive(stage.clock, turn.settled());
    expect(new Set(results.map(({ tool_call_id }) => tool_call_id)).size).toBe(60);
    expect(results.map(({ tool_call_id }) => tool_call_id)).toEqual(given);
  });

  it("seen in an earlier turn of the run are replaced as well", async () => {
    verifies("RESULT-1");
    const stage = await setStage({ tools: [reader("a.tool")] });
    const [first] = await stage.run.execute([one("x")]);
    const [second] = await stage.run.execute([one("x")]);
    expect(first?.tool_call_id).toBe("x");
    expect(second?.tool_call_id).not.toBe("x");
    expect(second?.metadata.native_call_id).toBe("x");
  });
});

describe("a call id that holds a known secret", () => {
  it("is replaced, and in no record", async () => {
    verifies("REDACT-1");
    const secret = "pl-ain_SECRET_0123456789abcdef";
    const journal = createMemoryJournal();
    const kernel = createKernel({ tools: [reader("a.tool")] });
    const run = await kernel.startRun({ journal, secrets: [{ name: "TOKEN", value: secret }] });
    const [result] = await run.execute([{ id: `c-${secret}`, name: "a__tool", arguments: "{}" }]);
    expect(result?.metadata.native_call_id).toBe("c-[redacted:TOKEN]");
    expect(JSON.stringify([result, journal.facts, journal.nodes])).not.toContain(secret);
  });
});

describe("a call without anything", () => {
  it("has its result like any other", async () => {
    verifies("RESULT-1");
    const { result } = await callBadly(
      {},
      { call: { name: undefined as never, arguments: undefined } },
    );
    expect(result).toMatchObject({ status: "denied", error: { code: "tool_not_available" } });
  });
});
