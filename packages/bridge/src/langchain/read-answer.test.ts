import { describe, expect, test } from "vitest";
import { findAnswer, repairCalls } from "./read-answer.ts";

const call = (id: string, name = "notes__read") => ({ id, name, args: { id }, type: "tool_call" });

describe("findAnswer", () => {
  test("takes the last answer that contains the call, with the results behind it", () => {
    const messages = [
      { id: "m1", tool_calls: [call("c1")] },
      { tool_call_id: "c1" },
      { id: "m2", tool_calls: [call("c1"), call("c2")] },
      { tool_call_id: "c1" },
    ];
    const found = findAnswer({ messages }, { id: "c2", name: "any" });
    expect(found?.id).toBe("m2");
    expect(found?.calls.map(({ id }) => id)).toEqual(["c1", "c2"]);
    expect([...(found?.answered ?? [])]).toEqual(["c1"]);
  });

  test("has the raw text of arguments that are no JSON", () => {
    const invalid_tool_calls = [{ id: "c1", name: "notes__read", args: '{"id":' }];
    const found = findAnswer(
      { messages: [{ tool_calls: [call("c1")], invalid_tool_calls }] },
      { id: "c1", name: "any" },
    );
    expect(found?.raw.get("c1")).toBe('{"id":');
  });

  test.each([
    [undefined],
    [null],
    ["state"],
    [{}],
    [{ messages: "none" }],
    [{ messages: [null, 1, { tool_calls: "none" }, { tool_calls: [null] }] }],
  ])("finds nothing in %j", (state) => {
    expect(findAnswer(state, { id: "c1", name: "any" })).toBeUndefined();
  });
});

describe("repairCalls", () => {
  test("leaves an answer alone that LangChain has read well", () => {
    const chunks = [{ id: "c1", index: 0, name: "notes__read", args: '{"id":"c1"}' }];
    expect(repairCalls({ tool_calls: [call("c1")], tool_call_chunks: chunks })).toBeUndefined();
    expect(repairCalls({})).toBeUndefined();
  });

  test("makes a call of what LangChain would drop, in the order of the provider", () => {
    const repaired = repairCalls({
      tool_calls: [call("c2")],
      invalid_tool_calls: [{ id: "c1", name: "notes__read", args: '{"id":' }],
      additional_kwargs: { tool_calls: [{ id: "c1" }, { id: "c2" }] },
    });
    expect(repaired?.tool_calls.map(({ id }) => id)).toEqual(["c1", "c2"]);
    expect(repaired?.invalid_tool_calls).toMatchObject([{ id: "c1", args: '{"id":' }]);
  });

  test("does not keep arguments that LangChain has completed", () => {
    const repaired = repairCalls({
      tool_calls: [{ ...call("c1"), args: { id: "half" } }, call("c2")],
      tool_call_chunks: [
        { id: "c1", index: 0, name: "notes__read", args: '{"id":' },
        { index: 0, args: '"half' },
        { id: "c2", index: 1, name: "notes__read", args: '{"id":"c2"}' },
      ],
    });
    expect(repaired?.tool_calls).toMatchObject([
      { id: "c1", args: {} },
      { id: "c2", args: { id: "c2" } },
    ]);
    expect(repaired?.invalid_tool_calls).toMatchObject([{ id: "c1", args: '{"id":"half' }]);
  });

  test("gives a call without an id one", () => {
    const repaired = repairCalls({ invalid_tool_calls: [{ name: "notes__read", args: "{" }] });
    expect(repaired?.tool_calls).toMatchObject([{ id: "invalid_call_1", args: {} }]);
    expect(repaired?.invalid_tool_calls).toMatchObject([{ id: "invalid_call_1", args: "{" }]);
  });
});
