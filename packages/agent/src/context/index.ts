// The context room: what of a conversation a model request holds. Pure: nodes in, messages out.

export { compactionNode, loadedToolsOn } from "./compaction-node.ts";
export { cutMiddle } from "./cut-middle.ts";
export {
  TOKEN_ESTIMATE,
  tokensOfMessages,
  tokensOfText,
  tokensOfTools,
} from "./estimate-tokens.ts";
export {
  instructionNode,
  instructionsOn,
  readInstructions,
  systemBlock,
  withHash,
  type InstructionBlocks,
} from "./instruction-node.ts";
export {
  answerNode,
  hookNode,
  readMessage,
  messageText,
  userNode,
  type NodePlace,
  type ReadMessage,
} from "./message-node.ts";
export { planCompaction, transcriptOf } from "./plan-compaction.ts";
export { planContext, type ContextPlan } from "./plan-context.ts";
export { addUser, messagesOf, readPath, type ContextUnit } from "./read-path.ts";
export { isInnerCall } from "./inner-call.ts";
