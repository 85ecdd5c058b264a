// The text a fact is kept as, its hash, and the digests that bind nodes to the fact they came with. What is
// hashed is the text itself, so that nothing has to be made again, byte for byte, to check it.

import { hash } from "node:crypto";
import type { ConversationNode, Fact, NodeDigest } from "@soong/core";

/** What the first fact of a session has in place of a hash. */
export const FIRST_PREV_HASH = "0".repeat(64);

/** The fact's own fields, then `nodes` if there are any, then `prev_hash`. Throws on data that is not JSON. */
export function chainLine(fact: Fact, prev_hash: string, nodes: readonly NodeDigest[]): string {
  const digests = nodes.length === 0 ? "" : `,"nodes":${JSON.stringify(nodes)}`;
  return `${ownText(fact).slice(0, -1)}${digests},"prev_hash":"${prev_hash}"}`;
}

/** SHA-256 of its UTF-8, in hex. */
export function hashLine(line: string): string {
  return hash("sha256", line);
}

export function nodeText(node: ConversationNode): string {
  return JSON.stringify(node);
}

/** `text`: as `nodeText` gave it and the store keeps it. */
export function nodeDigest({ node_id }: ConversationNode, text: string): NodeDigest {
  return { node_id, sha256: hashLine(text) };
}

/** A fact that was read from a chain has the links of that one; a copy without them costs, so only then. */
function ownText(fact: Fact): string {
  if (fact.prev_hash === undefined && fact.nodes === undefined) return JSON.stringify(fact);
  const { prev_hash: _hash, nodes: _nodes, ...own } = fact;
  return JSON.stringify(own);
}
