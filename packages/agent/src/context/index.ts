// The context module: what of a conversation a model request holds. Pure: nodes in, messages out.

export {
  ContextBook,
  estimateMessageTokens,
  estimateTextTokens,
  estimateToolTokens,
  listNodesInView,
  planContext,
  References,
  TOKEN_ESTIMATE,
  type CallingRun,
  type ContextPlan,
  type FindRun,
} from "./context-book.ts";
export {
  snapshotMessages,
  toModelMessages,
  type ContextUnit,
  type MessageSnapshot,
} from "./messages.ts";
export {
  addContentHash,
  answerNode,
  compactionNode,
  cutMiddle,
  hookNode,
  instructionNode,
  isInnerCall,
  messageText,
  readInstructionBlocks,
  readInstructions,
  readLoadedTools,
  readMessage,
  renderInstructions,
  userNode,
  type InstructionBlocks,
  type NodePlace,
  type ReadMessage,
} from "./nodes.ts";
export { digestRequest, MessageList } from "./request-digest.ts";
export { planCompaction, renderTranscript } from "./plan-compaction.ts";
