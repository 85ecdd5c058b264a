// PIPE-3: what is committed together, and what is durable before something else happens.

import { defineHook, isTerminalFact, toolResult } from "@soong/core";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { atOnce, drive, setStage } from "./drive.ts";
import { createSpyJournal, factOf } from "./spy-journal.ts";
import { allowAll, reader, writer } from "./world.ts";

describe("what is committed together", () => {
  it("is the result's nodes and its terminal fact, in one entry, and no node before it", async () => {
    verifies("PIPE-3");
    const spy = createSpyJournal();
    const stage = await setStage({
      spy,
      tools: [
        reader("a.load", 0, {
          handler: () =>
            toolResult({
              data: { ok: 1 },
              context_nodes: [{ kind: "skill_context", text: "how to" }],
            }),
        }),
        writer("a.write"),
      ],
      policy: allowAll,
      hooks: [defineHook({ id: "say", event: "PostToolUse", run: () => ({ context: "seen" }) })],
    });
    const turn = stage.run.openTurn({ parentNodeId: "root" });
    for (const [id, name] of [
      ["1", "a.load"],
      ["2", "a.write"],
      ["3", "a.unknown"],
    ] as const) {
      turn.push({ id, name, arguments: "{}" });
    }
    turn.end();
    await drive(stage.clock, turn.settled());
    const kinds = spy.entries.flatMap(({ facts, nodes = [] }) => {
      const ended = facts.filter(isTerminalFact);
      if (nodes.length === 0 && ended.length === 0) return [];
      const ids = new Set([...facts, ...nodes].map(({ tool_call_id }) => tool_call_id));
      expect(ids.size, "one entry, one call").toBe(1);
      expect(ended).toHaveLength(1);
      return [[...ids, ...nodes.map(({ kind }) => kind)]];
    });
    expect(kinds).toEqual([
      ["3", "tool_result"],
      ["1", "tool_result", "skill_context", "hook_context"],
      ["2", "tool_result", "hook_context"],
    ]);
    // The path of nodes is one chain in call order, from the message to the turn's last node.
    const parents = new Map(spy.nodes.map(({ node_id, parent_id }) => [node_id, parent_id]));
    const path: (string | undefined)[] = [];
    for (let at = turn.lastNodeId; at !== undefined && at !== "root"; at = parents.get(at)) {
      path.push(spy.nodes.find(({ node_id }) => node_id === at)?.tool_call_id);
    }
    expect(path.toReversed()).toEqual(["1", "1", "1", "2", "2", "3"]);
  });

  it.each([
    ["a write", {}, true],
    ["a change inside the runtime", { permission: "readonly" }, true],
    ["a readonly call", { permission: "readonly", concurrency_safe: true }, false],
  ] as const)("tool.started of %s (%j) is durable before it runs: %s", async (_, about, waits) => {
    verifies("PIPE-3");
    let release: (() => void) | undefined;
    const spy = createSpyJournal({
      onFlush: () =>
        new Promise((resolve) => {
          release = resolve;
        }),
    });
    let startedSeq: number | undefined;
    let durable: number | undefined;
    const tool = writer("a.tool", 0, {
      ...about,
      handler() {
        startedSeq = factOf(spy, "1", "tool.started")?.seq;
        durable = spy.durable;
        return "done";
      },
    });
    const stage = await setStage({ spy, tools: [tool], policy: allowAll });
    const calling = stage.run.execute([{ id: "1", name: "a.tool", arguments: "{}" }]);
    await stage.clock.advance(60_000);
    expect(startedSeq === undefined).toBe(waits);
    release?.();
    await stage.clock.settle();
    release?.();
    const [result] = await atOnce(stage.clock, calling);
    expect(result?.status).toBe("succeeded");
    expect(startedSeq).toBeDefined();
    if (waits) expect(durable).toBeGreaterThanOrEqual(startedSeq ?? Number.NaN);
    // What the model is told is on record for good before it is told.
    expect(spy.durable).toBeGreaterThanOrEqual(
      factOf(spy, "1", "tool.completed")?.seq ?? Number.NaN,
    );
  });
});
