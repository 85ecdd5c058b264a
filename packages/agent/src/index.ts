// @soong/agent: the small loop over any model.

export * from "./child/agent-catalog.ts";
export * from "./child/run-child.ts";
export * from "./child/agents.ts";
export * from "./child/child-result.ts";
export { compileExpectedOutput, type ExpectedOutput } from "./child/child-task.ts";
export { readEarlierCalls } from "./child/inspect-tools.ts";
export * from "./child/remote-workers.ts";
export * from "./child/worker-pools.ts";
export {
  bufferFacts,
  type BufferedFacts,
  type ClaimedWork,
  type WorkCeiling,
  type WorkPlace,
} from "./child/work-on-step.ts";
export { describeProblem, type Problem } from "@soong/platform";
export {
  isInnerCall,
  messageText,
  readMessage,
  type CallingRun,
  type FindRun,
  type ReadMessage,
} from "./context/index.ts";
export { mapForeignTool, type ForeignProgram, type MappedTool } from "./document/index.ts";
export * from "./drive/index.ts";
export { AGENT_FACT_TEXTS } from "./fact-texts.ts";
export type * from "./facts.ts";
export * from "./loop/index.ts";
export * from "./memory/index.ts";
export * from "./model/index.ts";
export * from "./provider/call-options.ts";
export { findKnownModel, PRICES_AS_OF, type KnownModel } from "./provider/known-models.ts";
export * from "./provider/language-model.ts";
export * from "./provider/open-model.ts";
export * from "./provider/preflight.ts";
export * from "./provider/profile.ts";
export * from "./script/check-script.ts";
export * from "./script/script.ts";
export * from "./script/scripted-model.ts";
export * from "./skill/skill.ts";
export * from "./skill/skill-tools.ts";
