// The config module: where a user's settings live, what they may say, and what kernel and policy make of them.
// It reads the agent's home and nothing else; no file of a project is ever opened here (CONF-1).

export { addRule, describeRule, readRuleLine, ruleLine } from "./add-rule.ts";
export { agentHome, userHome } from "./agent-home.ts";
export { fillArguments } from "./argument-template.ts";
export { commentedConfig } from "./commented-config.ts";
export { ConfigError } from "./config-error.ts";
export { buildLoopLimits, pickKernelConfig } from "./runtime-settings.ts";
export { loadConfig, type LoadedConfig } from "./load-config.ts";
export { overrideTool } from "./override-tool.ts";
export { parseConfig } from "./parse-config.ts";
export { readSettingsFile } from "./settings-file.ts";
export { buildPolicy } from "./build-policy.ts";
export type { ModelSettings, SoongConfig } from "./soong-config.ts";
