// The context room: what of a conversation a model request holds. Pure: nodes in, messages out.

export { compactionNode } from "./compaction-node.ts";
export { cutMiddle } from "./cut-middle.ts";
export {
  TOKEN_ESTIMATE,
  tokensOfMessages,
  tokensOfText,
  tokensOfTools,
} from "./estimate-tokens.ts";
export { answerNode, hookNode, textOf, userNode, type NodePlace } from "./message-node.ts";
export { planCompaction, transcriptOf } from "./plan-compaction.ts";
export { planContext, type ContextPlan } from "./plan-context.ts";
export { addUser, messagesOf, readPath, type ContextUnit, type ReadPath } from "./read-path.ts";
