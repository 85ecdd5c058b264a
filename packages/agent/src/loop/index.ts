// The loop room: a conversation over any model, on the kernel's runs. The only room that asks a model.

export type { LoopRun } from "./begin-run.ts";
export { openConversation, type Conversation, type LoopOptions } from "./conversation.ts";
export type { LoopEvent } from "./event-log.ts";
export type { LoopLimits } from "./limits.ts";
export type { EndReason, LoopError, RunEnd } from "./run-end.ts";
export { usageOf, type UsageReport, type UsageTotal } from "./usage.ts";
