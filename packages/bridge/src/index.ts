// @soong/bridge: the kernel under other loops (MODEL-6). This entry point is for a loop that has no bridge of its own; each of
// the others has one: `@soong/bridge/ai-sdk`, `/openai-agents`, `/langchain`, `/mastra`, `/claude-agent`, `/vendors`.

export type * from "./kernel/index.ts";
export {
  createExternalTools,
  createGate,
  createHostApprovals,
  listTools,
  loadedNames,
  renderBlocks,
  renderText,
  watchProgress,
} from "./kernel/index.ts";
