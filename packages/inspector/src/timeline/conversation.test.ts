import type { ContentBlock, ConversationNode, JsonObject, NodeKind } from "@soong/core";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { conversation, wholeItem } from "./conversation.ts";

const node = (id: number, about: Partial<ConversationNode> = {}): ConversationNode => ({
  node_id: `n${id}`,
  session_id: "s",
  run_id: "r",
  agent_id: "a",
  kind: "message",
  content: [{ type: "text", text: `text ${id}` }],
  ...about,
});

const readItem = (about: Partial<ConversationNode>) =>
  conversation([node(1, about)], { agent_id: "a" }).items[0];

describe("a conversation", () => {
  it("says who said what, and which calls were asked for", () => {
    verifies("UI-1");
    const calls = [
      { tool_call_id: "c", name: "a__read", arguments: '{"path":"a.txt"}' },
      { name: "b" },
      7,
    ];
    const data = { role: "assistant", model: "m", unfinished: true, calls } as JsonObject;
    expect(readItem({ data, parent_id: "n0" })).toEqual({
      node_id: "n1",
      run_id: "r",
      kind: "message",
      role: "assistant",
      model: "m",
      is_unfinished: true,
      calls: [{ tool_call_id: "c", tool_name: "a__read", summary: "a.txt" }, { tool_name: "b" }],
      content: [{ type: "text", text: "text 1" }],
    });
    expect(readItem({ kind: "tool_result", tool_call_id: "c", is_error: true })).toMatchObject({
      role: "tool",
      tool_call_id: "c",
      is_error: true,
    });
    const roles: Partial<Record<NodeKind, string>> = {
      message: "user",
      child_result: "tool",
      skill_context: "context",
      compaction: "context",
      hook_context: "context",
    };
    for (const [kind, role] of Object.entries(roles)) {
      expect(readItem({ kind: kind as NodeKind, data: { role: "user" } })?.role, kind).toBe(role);
    }
  });

  it("comes in pages, the last one first", () => {
    const path = Array.from({ length: 500 }, (_, i) => node(i));
    const ids = (before?: string, after?: string) => {
      const page = conversation(path, { agent_id: "a", before, after });
      return [page.items[0]?.node_id, page.items.at(-1)?.node_id, page.older];
    };
    expect(ids()).toEqual(["n400", "n499", 400]);
    expect(ids("n400")).toEqual(["n150", "n399", 150]);
    expect(ids("n150")).toEqual(["n0", "n149", 0]);
    expect(ids("n0")).toEqual([undefined, undefined, 0]);
    expect(ids("nobody's")).toEqual(["n400", "n499", 400]);
    expect(ids(undefined, "n480")).toEqual(["n481", "n499", 481]);
    expect(ids(undefined, "n499")).toEqual([undefined, undefined, 500]);
    // More than a page follows it, or it was rewound: the last page.
    expect(ids(undefined, "n100")).toEqual(["n400", "n499", 400]);
    expect(ids(undefined, "gone")).toEqual(["n400", "n499", 400]);
    expect(conversation([], { agent_id: "a" })).toEqual({ agent_id: "a", items: [], older: 0 });
  });

  it("has what the model thought, where the provider shows it, and all of one message on demand", () => {
    verifies("UI-4");
    const provider_data = {
      parts: [{ type: "reasoning", text: "First I think." }, { type: "text" }],
    };
    const data = { role: "assistant", provider_data, calls: [] } as JsonObject;
    expect(readItem({ data })).toMatchObject({ reasoning: "First I think.", is_first: true });
    const content: ContentBlock[] = [{ type: "text", text: "x".repeat(100_000) }];
    expect(readItem({ content })?.cut).toBe(80_000);
    expect(wholeItem(node(1, { content }))).toMatchObject({ content });
  });

  it("cuts what is long, says by how much, and never splits a character", () => {
    verifies("UI-1");
    const long = readItem({
      content: [
        { type: "text", text: "x".repeat(19_999) },
        { type: "text", text: "😀😀" },
        { type: "json", json: { a: "y".repeat(50) } },
        { type: "artifact_ref", artifact_id: "art", media_type: "text/plain", size: 1 },
      ],
    });
    expect(long?.content).toEqual([
      { type: "text", text: "x".repeat(19_999) },
      { type: "text", text: "" },
      { type: "text", text: "{" },
      { type: "artifact_ref", artifact_id: "art", media_type: "text/plain", size: 1 },
    ]);
    expect(long?.cut).toBe(4 + JSON.stringify({ a: "y".repeat(50) }).length - 1);
    const whole: ContentBlock[] = [
      { type: "json", json: { a: 1 } },
      { type: "image", media_type: "image/png", data: "abc" },
    ];
    expect(readItem({ content: whole })).toMatchObject({ content: whole });
    expect(readItem({ content: whole })).not.toHaveProperty("cut");
    const picture = { type: "image" as const, media_type: "image/png", data: "A".repeat(600_000) };
    const two = readItem({ content: [picture, picture] });
    expect(two?.content[0]).toEqual(picture);
    expect(two?.content[1]).toEqual({
      type: "text",
      text: "(image/png, 600000 characters as base64, is not shown here)",
    });
  });

  it("takes nodes that are not as expected", () => {
    for (const content of [
      null,
      "text",
      [null, 1, {}, { type: 7 }, { type: "text", text: 7 }, { type: "new" }],
    ]) {
      expect(() =>
        JSON.stringify(readItem({ content: content as never, data: [] as never })),
      ).not.toThrow();
    }
  });
});
