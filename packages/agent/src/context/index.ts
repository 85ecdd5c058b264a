// The context module: what of a conversation a model request holds. Pure: nodes in, messages out.

export { compactionNode, readLoadedTools } from "./compaction-node.ts";
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
  cutMiddle,
  hookNode,
  isInnerCall,
  readMessage,
  messageText,
  userNode,
  type NodePlace,
  type ReadMessage,
} from "./message-node.ts";
export { planCompaction, renderTranscript } from "./plan-compaction.ts";
export { planContext, type ContextPlan } from "./plan-context.ts";
export {
  addUser,
  listNodesInView,
  readPath,
  toModelMessages,
  type CallingRun,
  type ContextUnit,
  type FindRun,
} from "./read-path.ts";
