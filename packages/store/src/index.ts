// @soong/store: what outlives a process: journal, conversation, artifacts, tasks and run folders, on SQLite.

export {
  openFileArtifacts,
  type FileArtifacts,
  type FileArtifactsOptions,
} from "./artifacts/index.ts";
export * from "./contract/index.ts";
export * from "./store/index.ts";
