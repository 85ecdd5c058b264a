// The loop module: a conversation over any model, on the kernel's runs. The only module that requests a model.

export type { LoopRun } from "./begin-run.ts";
export { deriveContext } from "./context-record.ts";
export { openConversation, type Conversation } from "./conversation.ts";
export type {
  InstructionSource,
  InstructionTexts,
  SkippedInstructions,
} from "./instruction-cache.ts";
export type { SentTexts } from "./keep-request.ts";
export { checkBudget, loopLimits, type LoopLimits, type RunBudget } from "./limits.ts";
export { readHistory, type History, type HistoryReader } from "./read-history.ts";
export {
  findSentParts,
  readSentRequest,
  rebuildRequest,
  type RebuiltRequest,
  type RecordedRequest,
  type SentContents,
  type SentParts,
  type SentReader,
} from "./rebuild-request.ts";
export type { ReceivedData } from "./stream-answer.ts";
export type { EndReason, LoopError, LoopEvent, RunEnd } from "./run-events.ts";
export type {
  ActiveRun,
  AnswerCheck,
  LoopOptions,
  QueuedInput,
  RunBoard,
  RunRegistry,
  SourceNote,
  ToolProvider,
} from "./running.ts";
export {
  chargeUsage,
  describeUsage,
  describeUsageCost,
  readEndUsage,
  reportUsage,
  sumUsage,
  type UsageReport,
  type UsageTotal,
} from "./usage.ts";
