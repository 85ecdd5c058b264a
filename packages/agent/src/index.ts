// @soong/agent: the small loop over any model.

export * from "./child/index.ts";
export { describeProblem, type Problem } from "@soong/platform";
export {
  isInnerCall,
  messageText,
  readMessage,
  type CallingRun,
  type FindRun,
  type ReadMessage,
} from "./context/index.ts";
export * from "./drive/index.ts";
export { AGENT_FACT_TEXTS } from "./fact-texts.ts";
export type * from "./facts.ts";
export * from "./loop/index.ts";
export * from "./memory/index.ts";
export * from "./model/index.ts";
export * from "./provider/index.ts";
export * from "./script/index.ts";
export * from "./skill/index.ts";
