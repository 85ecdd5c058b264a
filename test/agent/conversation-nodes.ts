// Nodes of a conversation for tests, and any conversation for property tests.

import fc from "fast-check";
import type { ContentBlock, ConversationNode, NodeKind } from "@soong/core";

export function node(
  kind: NodeKind,
  text: string | ContentBlock[],
  more: Partial<ConversationNode> = {},
): ConversationNode {
  const content: ContentBlock[] = typeof text === "string" ? [{ type: "text", text }] : text;
  return {
    node_id: `n${(made += 1)}`,
    session_id: "s",
    run_id: "r",
    agent_id: "a",
    kind,
    content,
    ...more,
  };
}

let made = 0;

export function user(text: string): ConversationNode {
  return node("message", text, { data: { role: "user" } });
}

/** An answer with calls of these ids. */
export function answer(text: string, ...ids: string[]): ConversationNode {
  const calls = ids.map((id) => ({ tool_call_id: id, name: `tool_${id}`, arguments: "{}" }));
  const content: ContentBlock[] = text === "" ? [] : [{ type: "text", text }];
  return node("message", content, { data: { role: "assistant", model: "m", calls } });
}

export function result(id: string, text: string, is_error = false): ConversationNode {
  return node("tool_result", text, { tool_call_id: id, is_error });
}

/** Any conversation, whole or damaged: results that are missing, strange, twice or out of order. */
export function anyPath(): fc.Arbitrary<ConversationNode[]> {
  const ids = fc.array(fc.constantFrom("1", "2", "3"), { maxLength: 3 });
  const text = fc.string({ maxLength: 60 });
  const turn = fc.oneof(
    text.map((said) => [user(said)]),
    fc
      .tuple(text, ids, ids)
      .map(([said, asked, answered]) => [
        answer(said, ...asked),
        ...answered.map((id) => result(id, said)),
      ]),
    fc
      .tuple(text, ids)
      .map(([said, asked]) => [
        answer(said, ...asked),
        ...asked.flatMap((id) => [result(id, said.repeat(20)), node("hook_context", "noted")]),
      ]),
    text.map((said) => [node("instruction_context", said)]),
    fc.constant([node("message", "not ours"), node("skill_context", "a skill")]),
  );
  return fc.array(turn, { maxLength: 12 }).map((turns) => turns.flat());
}
