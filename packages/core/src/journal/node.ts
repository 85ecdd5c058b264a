// One node of the conversation tree (STORE-2). The kernel makes the nodes a call leaves behind.

import type { JsonObject } from "@soong/schema";
import type { ContentBlock } from "../tool/index.ts";

export type NodeKind =
  | "message"
  | "tool_result"
  | "skill_context"
  | "memory_context"
  | "instruction_context"
  | "plan_instruction"
  | "task_instruction"
  | "child_result"
  | "compaction"
  | "hook_context";

export interface ConversationNode {
  node_id: string;
  /** Parents may be committed after their children: calls end in any order, the path keeps call order. */
  parent_id?: string;
  session_id: string;
  run_id: string;
  agent_id: string;
  kind: NodeKind;
  tool_call_id?: string;
  /** What the model reads. */
  content: ContentBlock[];
  is_error?: boolean;
  data?: JsonObject;
}
