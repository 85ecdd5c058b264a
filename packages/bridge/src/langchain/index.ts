// @soong/bridge/langchain: the kernel under LangChain's `createAgent` (MODEL-6). Owns how an answer of the model becomes one
// turn, how LangGraph pauses for approval, and what of an answer LangChain would drop.

export {
  bridgeLangChain,
  type LangChainBridge,
  type LangChainMiddleware,
  type LangChainOptions,
  type LangChainTool,
} from "./bridge-langchain.ts";
export type { ApprovalPause, ApprovalResume } from "./approval-pause.ts";
