// Nodes of the conversation above the one that a fact names.

import type { ConversationNode } from "@soong/core";
import type { SessionReader } from "@soong/store";

type Nodes = Pick<SessionReader, "node">;

/** Contexts and hooks may have come along; not more than this. */
const HIGHEST = 64;

/** What a run was asked. Empty where no message is found. */
export async function promptOf(nodes: Nodes, node_id: string, run_id: string): Promise<string> {
  const node = await findAncestor(
    nodes,
    node_id,
    (one) => one.kind === "message" && one.run_id === run_id,
  );
  const texts = node?.content.map((block) => (block.type === "text" ? block.text : "")) ?? [];
  return texts.join("\n");
}

/** What the model reads of a call. */
export function resultNode(
  nodes: Nodes,
  node_id: string,
  tool_call_id: string,
): Promise<ConversationNode | undefined> {
  return findAncestor(
    nodes,
    node_id,
    (one) => one.kind === "tool_result" && one.tool_call_id === tool_call_id,
  );
}

async function findAncestor(
  nodes: Nodes,
  node_id: string,
  isWanted: (node: ConversationNode) => boolean,
): Promise<ConversationNode | undefined> {
  let at: string | undefined = node_id;
  for (let height = 0; height < HIGHEST && at !== undefined; height += 1) {
    const node: ConversationNode | undefined = await nodes.node(at);
    if (node === undefined || isWanted(node)) return node;
    at = node.parent_id;
  }
  return undefined;
}
