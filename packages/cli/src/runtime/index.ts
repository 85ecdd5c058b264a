// The runtime module: from a config to something that can carry out a call. It puts parts together and says
// nothing to anybody.

export {
  agentsFolder,
  findArchive,
  memoryFolder,
  openHomeStore,
  SetupError,
  skillsFolder,
} from "./home.ts";
export {
  openRuntime,
  type StoredSession,
  type Runtime,
  type RuntimeOptions,
} from "./open-runtime.ts";
export { loadMainAgent } from "./main-agent.ts";
export { openInstructions } from "./instructions.ts";
export { openModels } from "./models.ts";
export { hooksFile } from "./user-hooks.ts";
export { resolvePlaces } from "./places.ts";
export { loginsFolder, loadUserServers, serverLog, serversFile } from "./user-servers.ts";
export { declarativeOptions, toolsFolder } from "./user-tools.ts";
export { runtimeServers, type ServerChoice } from "./runtime-servers.ts";
export { gatewayTokenFile, listKeyNames, collectSecrets } from "./secrets.ts";
export { renderSystemText } from "./system-text.ts";
export { createToolProvider } from "./tool-provider.ts";
