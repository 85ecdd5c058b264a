// @soong/store: what outlives a process: journal, conversation, artifacts, tasks and run folders, on SQLite.

export {
  openFileArtifacts,
  type FileArtifacts,
  type FileArtifactsOptions,
} from "./artifacts/file-artifacts.ts";
export * from "./contract/store-error.ts";
export type * from "./contract/store.ts";
export * from "./store/open-store.ts";
