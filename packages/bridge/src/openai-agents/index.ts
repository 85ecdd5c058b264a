// @soong/bridge/openai-agents: the kernel under the OpenAI Agents SDK. It owns the function tools, the wrapper of a model that
// lets every call of an answer reach them, and the texts for calls that the SDK answers itself.

export {
  bridgeOpenAiAgents,
  type AgentsProgress,
  type OpenAiAgentsBridge,
  type OpenAiAgentsOptions,
} from "./bridge-openai-agents.ts";
export type {
  AgentsModel,
  AgentsRunContext,
  AgentsRunOptions,
  AgentsTool,
  AgentsToolOutput,
} from "./types.ts";
