// The context room: what of a conversation a model request holds. Pure: nodes in, messages out.

export { compactionNode, readLoadedTools } from "./compaction-node.ts";
export { cutMiddle } from "./cut-middle.ts";
export {
  TOKEN_ESTIMATE,
  estimateMessageTokens,
  estimateTextTokens,
  estimateToolTokens,
} from "./estimate-tokens.ts";
export {
  instructionNode,
  readInstructionBlocks,
  readInstructions,
  renderInstructions,
  addContentHash,
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
export { planCompaction, renderTranscript } from "./plan-compaction.ts";
export { planContext, type ContextPlan } from "./plan-context.ts";
export { addUser, toModelMessages, readPath, type ContextUnit } from "./read-path.ts";
export { isInnerCall } from "./inner-call.ts";
