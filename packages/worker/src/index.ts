// @soong/worker: work on many machines. A dispatch puts steps into a job queue, and worker processes claim and do them.

export {
  createRemoteWorkers,
  listGuards,
  LOST_AFTER_MS,
  type Guard,
  type RemoteWorkersOptions,
} from "./dispatch/index.ts";
export * from "./queue/index.ts";
export * from "./work/index.ts";
