// @soong/store: what outlives a process: journal, conversation, artifacts, tasks and run folders, on SQLite or PostgreSQL.
// Named one by one: a bundler that does not split loses what comes by a star and is also loaded later.

export {
  openFileArtifacts,
  type FileArtifacts,
  type FileArtifactsOptions,
} from "./artifacts/file-artifacts.ts";
export type * from "./contract/cluster.ts";
export {
  CRASH_POINTS,
  StoreError,
  type AtCrashPoint,
  type CrashPoint,
  type StoreErrorCode,
} from "./contract/store-error.ts";
export type * from "./contract/store.ts";
export type * from "./contract/describe.ts";
export { describeStore } from "./open/describe-store.ts";
export { openStore, type StoreOptions } from "./open/open-store.ts";
export { isAway as isStoreAway } from "./postgres/postgres-error.ts";
export {
  copySession,
  copyTombstones,
  type CopyOptions,
  type CopyProgress,
  type SessionCopy,
} from "./store/copy-session.ts";
