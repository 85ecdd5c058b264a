// The dispatch module: what a dispatch sends to workers, and how it waits for them.

export { findMissingGuard, listGuards, type Guard } from "./guards.ts";
export { readJob, type JobWork } from "./job.ts";
export { chooseFold, movePath } from "./move-paths.ts";
export { LOST_AFTER_MS, REPORT_MS } from "./pool-watch.ts";
export { createRemoteWorkers, type RemoteWorkersOptions } from "./remote-workers.ts";
