// The loop module: a conversation over any model, on the kernel's runs. The only module that requests a model.

export type { LoopRun } from "./begin-run.ts";
export type { RunBudget } from "./budget.ts";
export { openConversation, type Conversation, type LoopOptions } from "./conversation.ts";
export {
  describeUsage,
  sumUsage,
  readEndUsage,
  reportUsage,
  type UsageReport,
  type UsageTotal,
} from "./usage.ts";
export type { LoopEvent } from "./event-log.ts";
export type {
  InstructionSource,
  InstructionTexts,
  SkippedInstructions,
} from "./instruction-cache.ts";
export { loopLimits, type LoopLimits } from "./limits.ts";
export { readHistory, type History, type HistoryReader } from "./read-history.ts";
export type { EndReason, LoopError, RunEnd } from "./run-end.ts";
export type { ActiveRun, RunRegistry } from "./active-run.ts";
export type { AnswerCheck, RunBoard } from "./running.ts";
export type { SourceNote, ToolProvider } from "./tool-provider.ts";
