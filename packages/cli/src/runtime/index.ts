// The runtime module: from a config to something that can carry out a call. It puts parts together and prints nothing.

export { findArchive, homePaths, openHomeStore, SetupError } from "./home.ts";
export { loadMainAgent, openModels } from "./models.ts";
export {
  openRuntime,
  type Runtime,
  type RuntimeOptions,
  type StoredSession,
} from "./open-runtime.ts";
export { resolvePlaces } from "./places.ts";
export { listKeyNames, collectSecrets } from "./secrets.ts";
export {
  createToolProvider,
  loadUserServers,
  runtimeServers,
  type ServerChoice,
} from "./servers.ts";
export { declarativeOptions, openInstructions, renderSystemText } from "./user-tools.ts";
