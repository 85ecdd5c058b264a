// The config module: where a user's settings live, what they may say, and what kernel and policy make of them.
// It reads the agent's home and nothing else; no file of a project is ever opened here (CONF-1).

export {
  addRule,
  addRules,
  ConfigChanged,
  describeRule,
  planRules,
  readRule,
  readRuleLine,
  ruleLine,
  type PlannedRules,
} from "./add-rule.ts";
export {
  buildLoopLimits,
  buildPolicy,
  fillArguments,
  overrideTool,
  pickKernelConfig,
} from "./apply-config.ts";
export { commentedConfig } from "./commented-config.ts";
export {
  agentHome,
  loadConfig,
  readSettingsFile,
  userHome,
  type LoadedConfig,
} from "./load-config.ts";
export { STORE_ADDRESS } from "./definition.ts";
export { ConfigError, parseConfig } from "./parse-config.ts";
export type { SoongConfig } from "./sections.ts";
