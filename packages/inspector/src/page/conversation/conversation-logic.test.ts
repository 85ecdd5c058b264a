import { describe, expect, it } from "vitest";
import type { ConversationItem } from "../../wire/session-records.ts";
import { withTexts } from "../state/written-texts.ts";
import { chunkItems } from "./message-list.tsx";
import { withAnswer } from "./use-conversation.ts";

function item(node_id: string, more: Partial<ConversationItem> = {}): ConversationItem {
  return { node_id, run_id: "r", kind: "message", role: "assistant", content: [], ...more };
}

function items(...ids: readonly string[]): ConversationItem[] {
  return ids.map((id) => item(id));
}

function names(all: readonly ConversationItem[]): string[] {
  return all.map(({ node_id }) => node_id);
}

describe("the messages that are shown", () => {
  const held = { key: "s a", items: items("1", "2", "3"), older: 7, version: 1 };

  it("are continued from where they overlap, and what is known stays the same object", () => {
    const answer = { agent_id: "a", items: items("2b", "3", "4"), older: 8, is_continued: true };
    const next = withAnswer(held, "s a", answer, "1", 2);
    expect(names(next.items)).toEqual(["1", "2b", "3", "4"]);
    expect(next.items[2]).toBe(held.items[2]);
    expect(next).toMatchObject({ older: 7, version: 2 });
  });

  it("are replaced where the conversation was rewound", () => {
    const answer = { agent_id: "a", items: items("1", "9"), older: 0 };
    expect(names(withAnswer(held, "s a", answer, "3", 2).items)).toEqual(["1", "9"]);
    expect(withAnswer(undefined, "s a", answer, undefined, 2).older).toBe(0);
  });

  it("are in chunks that older ones do not move, and without results of calls that are there", () => {
    const all = Array.from({ length: 100 }, (_, at) => item(String(at)));
    const late = chunkItems(all.slice(60), 60);
    const whole = chunkItems(all, 0);
    expect(late.map(([key]) => key)).toEqual([1, 2]);
    expect(whole.map(([key]) => key)).toEqual([0, 1, 2]);
    expect(whole.at(-1)).toEqual(late.at(-1));
    const called = item("call", { calls: [{ tool_call_id: "c", tool_name: "t" }] });
    const result = item("result", { kind: "tool_result", role: "tool", tool_call_id: "c" });
    const alone = item("alone", { kind: "tool_result", role: "tool", tool_call_id: "d" });
    const [chunk] = chunkItems([called, result, alone], 0);
    expect(names(chunk?.[1] ?? [])).toEqual(["call", "alone"]);
  });
});

describe("answers that are being written", () => {
  it("grow, begin anew with another node, and leave out what would have a gap", () => {
    const piece = (text: string, offset: number, node_id = "n") => ({
      run_id: "r",
      node_id,
      offset,
      text,
    });
    let texts = withTexts(new Map(), [piece("Hello wor", 0)]);
    texts = withTexts(texts, [piece("world ", 6)]);
    expect(texts.get("r")?.text).toBe("Hello world ");
    texts = withTexts(texts, [piece("lost", 99)]);
    expect(texts.get("r")?.text).toBe("Hello world ");
    texts = withTexts(texts, [piece("New ", 0, "m")]);
    expect(texts.get("r")).toMatchObject({ node_id: "m", text: "New " });
  });
});
