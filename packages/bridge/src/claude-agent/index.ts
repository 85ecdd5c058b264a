// @soong/bridge/claude-agent: the kernel under the Claude Agent SDK (MODEL-6). Owns the MCP server in the process that offers
// the kernel's tools, the hooks that judge and record Claude Code's own, and the approvals of either.

export {
  bridgeClaudeAgent,
  type ClaudeAgentBridge,
  type ClaudeAgentOptions,
} from "./bridge-claude-agent.ts";
export { createClaudeTools, type ClaudeTools, type HostCall } from "./built-in-tools.ts";
export type * from "./host-types.ts";
export type { CallProgress } from "./kernel-calls.ts";
export type { UserAnswer } from "./user-answers.ts";
