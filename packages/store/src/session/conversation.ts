// Where each agent of a session continues (STORE-2): its active node follows what is added below it. Results
// come in any order, so a node may be there before its parent; it waits for it here.

import type { ConversationNode } from "@soong/core";

export interface Conversation {
  /** Answers with the agent's new active node, or undefined when that did not change. */
  add(node: ConversationNode, active: string | null): string | undefined;
}

export interface ConversationTree {
  has(node_id: string): boolean;
  /** The newest child that a process before this one has left there. */
  childOf(node_id: string): string | undefined;
}

/** A caller may hang nodes anywhere; those that wait for a parent that never comes are forgotten in the end. */
const MOST_WAITING = 10_000;

export function createConversation(tree: ConversationTree): Conversation {
  const waiting = new Map<string, string>();

  return {
    add({ node_id, parent_id }, active) {
      const isNext =
        active === null ? parent_id === undefined || tree.has(parent_id) : parent_id === active;
      if (isNext) return furthest(node_id);
      if (parent_id !== undefined) wait(parent_id, node_id);
      return undefined;
    },
  };

  function wait(parent_id: string, node_id: string): void {
    waiting.set(parent_id, node_id);
    if (waiting.size <= MOST_WAITING) return;
    for (const oldest of waiting.keys()) {
      waiting.delete(oldest);
      break;
    }
  }

  function furthest(from: string): string {
    // A loop of parents is no conversation, but it must not hold us up.
    const seen = new Set<string>();
    let node = from;
    for (;;) {
      seen.add(node);
      const next = waiting.get(node) ?? tree.childOf(node);
      waiting.delete(node);
      if (next === undefined || seen.has(next)) return node;
      node = next;
    }
  }
}
