// The runtime module: from a config to something that can carry out a call. It puts parts together and says
// nothing to anybody.

export { agentsFolder, archiveOf, memoryFolder, skillsFolder } from "./agent-places.ts";
export { openRuntime, type KeptSession, type Runtime } from "./open-runtime.ts";
export { mainDefinition } from "./main-definition.ts";
export { instructionsOf } from "./instructions.ts";
export { modelsFor } from "./models.ts";
export { openHomeStore } from "./home-store.ts";
export { hooksFile } from "./own-hooks.ts";
export { placesOf } from "./places.ts";
export { loginsFolder, ownServers, serverLog, serversFile } from "./own-servers.ts";
export { declarativeOptions, toolsFolder } from "./own-tools.ts";
export { runtimeServers, type ServerChoice } from "./runtime-servers.ts";
export { gatewayTokenFile, keyNamesOf, knownSecrets } from "./secrets.ts";
export { SetupError } from "./setup-error.ts";
export { systemText } from "./system-text.ts";
export { toolSupplyOf } from "./tool-supply.ts";
