// Where an agent continues, for any order in which its nodes come.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import type { ConversationNode } from "@soong/core";
import { createConversation } from "./derived-rows.ts";

describe("where an agent continues", () => {
  test("is its first node, then what hangs below it", () => {
    verifies("STORE-2");
    const talk = conversation();
    expect(talk.add("a")).toBe("a");
    expect(talk.add("b", "a")).toBe("b");
    expect(talk.add("c", "b")).toBe("c");
  });

  test("does not change for a branch elsewhere, nor for a second root", () => {
    verifies("STORE-2");
    const talk = conversation();
    for (const [node, parent] of [["a"], ["b", "a"], ["c", "b"]] as const) talk.add(node, parent);
    expect(talk.add("d", "a")).toBe("c");
    expect(talk.add("e", "d")).toBe("c");
    expect(talk.add("f")).toBe("c");
    expect(talk.add("g", "c")).toBe("g");
  });

  test("is the end of a chain, for any order of its nodes", () => {
    verifies("STORE-2");
    const length = fc.integer({ min: 1, max: 30 });
    const orders = length.chain((n) =>
      fc.shuffledSubarray(
        Array.from({ length: n }, (_, i) => i),
        { minLength: n, maxLength: n },
      ),
    );
    fc.assert(
      fc.property(orders, (order) => {
        const talk = conversation();
        talk.add("root");
        for (const i of order) talk.add(`n${i}`, i === 0 ? "root" : `n${i - 1}`);
        expect(talk.active).toBe(`n${order.length - 1}`);
      }),
    );
  });

  test("is never past a node that is not there", () => {
    verifies("STORE-2");
    const talk = conversation();
    talk.add("root");
    expect(talk.add("c", "b")).toBe("root");
    expect(talk.add("d", "c")).toBe("root");
    expect(talk.add("a", "root")).toBe("a");
    expect(talk.add("b", "a")).toBe("d");
  });

  test("begins below another agent's node, but not below one that is not there", () => {
    verifies("STORE-2");
    const below = conversation(["parents-node"]);
    expect(below.add("a", "parents-node")).toBe("a");
    const nowhere = conversation();
    expect(nowhere.add("a", "never")).toBeNull();
    expect(nowhere.add("b")).toBe("b");
  });

  test("follows the newest of several that waited for the same parent", () => {
    verifies("STORE-2");
    const talk = conversation();
    talk.add("root");
    talk.add("old", "a");
    talk.add("new", "a");
    expect(talk.add("a", "root")).toBe("new");
  });

  test("continues along what an earlier process has left there", () => {
    verifies("STORE-2", "STORE-3");
    const left = new Map([
      ["b", "c"],
      ["c", "d"],
    ]);
    const talk = conversation(["a", "c", "d"], left, "a");
    expect(talk.add("b", "a")).toBe("d");
  });

  test("is somewhere, even where parents go round in a circle", () => {
    verifies("STORE-2");
    const talk = conversation();
    talk.add("root");
    talk.add("a", "c");
    talk.add("b", "a");
    talk.add("c", "b");
    expect(talk.active).toBe("root");
    expect(conversation([], new Map([["a", "a"]])).add("a")).toBe("a");
  });

  test("forgets those that wait longest once there are very many", () => {
    verifies("STORE-2");
    const talk = conversation();
    talk.add("root");
    for (let i = 0; i <= 10_000; i += 1) talk.add(`child-${i}`, `parent-${i}`);
    expect(talk.add("parent-0", "root")).toBe("parent-0");
    expect(talk.add("parent-1", "parent-0")).toBe("child-1");
    // A tree that waits in vain is no burden later on.
    expect(talk.add("parent-10000", "child-1")).toBe("child-10000");
  });
});

interface Talk {
  /** Answers with where the agent continues now. */
  add(node_id: string, parent_id?: string): string | null;
  readonly active: string | null;
}

function conversation(
  there: readonly string[] = [],
  left: ReadonlyMap<string, string> = new Map(),
  from: string | null = null,
): Talk {
  const nodes = new Set(there);
  let active = from;
  const talk = createConversation({
    has: (node_id) => nodes.has(node_id),
    childOf: (node_id) => left.get(node_id),
  });
  return {
    add(node_id, parent_id) {
      const node: ConversationNode = {
        node_id,
        ...(parent_id === undefined ? {} : { parent_id }),
        session_id: "s1",
        run_id: "r1",
        agent_id: "a1",
        kind: "message",
        content: [],
      };
      active = talk.add(node, active) ?? active;
      nodes.add(node_id);
      return active;
    },
    get active() {
      return active;
    },
  };
}
