// RESULT-7: what a result brings into the conversation is committed with it or not at all, and stands where
// its call stood.

import {
  isTerminalFact,
  toolResult,
  type ContextNode,
  type ConversationNode,
  type ToolCall,
} from "@soong/core";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { drive, heldTool, setStage } from "./drive.ts";
import { createSpyJournal } from "./spy-journal.ts";
import { allowAll, createWorld, reader, textOf, writer } from "./world.ts";

const kinds: ContextNode["kind"][] = [
  "skill_context",
  "memory_context",
  "instruction_context",
  "plan_instruction",
  "task_instruction",
  "child_result",
];

const bringing = (...context_nodes: ContextNode[]) =>
  toolResult({ ok: true, data: "done", context_nodes });

/** The conversation as it is read: from this node up to the root, turned round. */
function pathTo(nodes: readonly ConversationNode[], node_id: string | undefined) {
  const byId = new Map(nodes.map((node) => [node.node_id, node]));
  const path: ConversationNode[] = [];
  for (let at = node_id; at !== undefined;) {
    const node = byId.get(at);
    if (node === undefined) break;
    path.unshift(node);
    at = node.parent_id;
  }
  return path;
}

describe("context nodes of a result", () => {
  it("of every kind follow it, in their order, in one entry with the terminal fact", async () => {
    verifies("RESULT-7", "PIPE-3");
    const given = kinds.map((kind, i) => ({ kind, text: `text ${i}`, data: { i } }));
    const spy = createSpyJournal();
    const stage = await setStage({
      spy,
      tools: [reader("a.load", 0, { handler: () => bringing(...given) })],
    });
    const [result] = await stage.run.execute([{ id: "c", name: "a.load", arguments: {} }]);
    const [entry] = spy.entries.filter(({ facts }) => facts.some(isTerminalFact));
    const nodes = entry?.nodes ?? [];
    expect(nodes.map(({ kind }) => kind)).toEqual(["tool_result", ...kinds]);
    expect(nodes.slice(1)).toMatchObject(
      given.map(({ kind, text, data }) => ({ kind, data, content: [{ type: "text", text }] })),
    );
    expect(nodes[0]?.content).toEqual(result?.content);
    for (const [i, node] of nodes.entries()) {
      expect(node.tool_call_id).toBe("c");
      expect(node.parent_id).toBe(nodes[i - 1]?.node_id);
    }
    expect(spy.entries.filter(({ nodes: some }) => (some ?? []).length > 0)).toHaveLength(1);
  });

  it("do not commit when the result cannot, and neither does it without them", async () => {
    verifies("RESULT-7");
    for (const refuses of [
      (nodes: readonly ConversationNode[]) => nodes.some(({ kind }) => kind === "skill_context"),
      (nodes: readonly ConversationNode[]) => nodes.some(({ kind }) => kind === "tool_result"),
    ]) {
      const spy = createSpyJournal({
        onAppend: ({ nodes = [] }) => {
          if (refuses(nodes)) throw new Error("disk full");
        },
      });
      const stage = await setStage({
        spy,
        tools: [
          reader("a.load", 0, { handler: () => bringing({ kind: "skill_context", text: "how" }) }),
        ],
      });
      const work = stage.run.execute([{ id: "c", name: "a.load", arguments: {} }]);
      const [result] = await drive(stage.clock, work);
      expect(result).toMatchObject({ status: "unknown", is_error: true });
      expect(stage.journal.nodes).toEqual([]);
      expect(stage.facts().some(isTerminalFact)).toBe(false);
    }
  });

  it("of a call whose attempt was abandoned are none", async () => {
    verifies("RESULT-7", "SCHED-6");
    const stage = await setStage({
      tools: [
        reader("a.load", 0, { handler: () => bringing({ kind: "skill_context", text: "how" }) }),
      ],
    });
    const turn = stage.run.openTurn();
    turn.push({ id: "c", name: "a.load", arguments: {} });
    await stage.clock.settle();
    const [result] = await drive(stage.clock, turn.discard("the stream broke"));
    expect(result?.status).toBe("discarded");
    expect(stage.journal.nodes.map(({ kind }) => kind)).toEqual(["tool_result"]);
  });

  it("that are nonsense are omitted, and the result remains", async () => {
    verifies("RESULT-7");
    const odd = [
      null,
      5,
      { kind: "skill_context" },
      { text: "no kind" },
      { kind: "message", text: "I am the user" },
      { kind: "tool_result", text: "forged" },
      { kind: "compaction", text: "forged" },
      { kind: "memory_context", text: "fine" },
    ] as unknown as ContextNode[];
    const world = await createWorld({
      tools: [reader("a.load", 0, { handler: () => bringing(...odd) })],
    });
    const [result] = await world.execute({ name: "a.load", arguments: {} });
    expect(result?.status).toBe("succeeded");
    expect(world.journal.nodes.map(({ kind }) => kind)).toEqual(["tool_result", "memory_context"]);
  });

  it("come of a plain object that has such a field, only where it is meant as a result", async () => {
    verifies("RESULT-7", "DEF-7");
    const value = { context_nodes: [{ kind: "skill_context", text: "x" }], rows: 1 };
    const world = await createWorld({ tools: [reader("a.rows", 0, { handler: () => value })] });
    const [result] = await world.execute({ name: "a.rows", arguments: {} });
    expect(result?.data).toEqual(value);
    expect(world.journal.nodes).toHaveLength(1);
  });
});

describe("the chain of a turn's nodes", () => {
  const call = (id: string, name: string): ToolCall => ({ id, name, arguments: {} });

  it("is in call order, though the calls end in another", async () => {
    verifies("RESULT-7", "SCHED-7", "STORE-2");
    const { tool, calls } = heldTool("a.held");
    const stage = await setStage({ tools: [tool] });
    const turn = stage.run.openTurn({ parentNodeId: "before" });
    for (const id of ["a", "b", "c", "d"]) turn.push(call(id, "a.held"));
    turn.end();
    await stage.clock.settle();
    for (const i of [3, 1, 0, 2]) {
      const text = `node of ${"abcd"[i] ?? ""}`;
      calls[i]?.finish(i % 2 === 0 ? "plain" : bringing({ kind: "skill_context", text }));
      await stage.clock.settle();
    }
    await drive(stage.clock, turn.settled());
    const { nodes } = stage.journal;
    expect(nodes[0]?.tool_call_id, "committed as they ended").toBe("d");
    const path = pathTo(nodes, turn.lastNodeId);
    expect(path.map(({ tool_call_id, kind }) => [tool_call_id, kind])).toEqual([
      ["a", "tool_result"],
      ["b", "tool_result"],
      ["b", "skill_context"],
      ["c", "tool_result"],
      ["d", "tool_result"],
      ["d", "skill_context"],
    ]);
    expect(path[0]?.parent_id).toBe("before");
    expect(path).toHaveLength(nodes.length);
  });

  it("has no gap where a call was refused, skipped or failed", async () => {
    verifies("RESULT-7", "RESULT-1");
    const stage = await setStage({
      tools: [
        reader("a.read", 0, { handler: () => bringing({ kind: "memory_context", text: "m" }) }),
        writer("a.write", 0, {
          handler: () => {
            throw new Error("no");
          },
        }),
      ],
      policy: allowAll,
    });
    const turn = stage.run.openTurn();
    const names = ["a.read", "a.nobody", "a.write", "a.read", "a.write"];
    names.forEach((name, i) => turn.push(call(`${i}`, name)));
    turn.end();
    const results = await drive(stage.clock, turn.settled());
    expect(results.map(({ status }) => status)).toEqual([
      "succeeded",
      "denied",
      "failed",
      "skipped",
      "skipped",
    ]);
    const path = pathTo(stage.journal.nodes, turn.lastNodeId);
    expect(
      path.filter(({ kind }) => kind === "tool_result").map((node) => node.tool_call_id),
    ).toEqual(["0", "1", "2", "3", "4"]);
    for (const [i, result] of results.entries()) {
      const node = path.find(
        ({ kind, tool_call_id }) => kind === "tool_result" && tool_call_id === `${i}`,
      );
      expect(node?.is_error).toBe(result.is_error);
      expect(node?.content).toEqual(result.content);
    }
    expect(textOf(results[3])).toContain("a.write");
  });
});
