// @soong/store: what outlives a process: journal, conversation, artifacts, tasks and run folders, on SQLite.

export {
  openFileArtifacts,
  type FileArtifacts,
  type FileArtifactsOptions,
} from "./artifacts/file-artifacts.ts";
export type * from "./contract/cluster.ts";
export * from "./contract/store-error.ts";
export type * from "./contract/store.ts";
export type * from "./contract/describe.ts";
export * from "./open/describe-store.ts";
export * from "./open/open-store.ts";
export {
  copySession,
  copyTombstones,
  type CopyOptions,
  type CopyProgress,
  type SessionCopy,
} from "./store/copy-session.ts";
