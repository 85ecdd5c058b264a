// The work module: a worker process, from its first job to its last.

export type { MachinePlaces } from "./move-policy.ts";
export { runWorker, type WorkerOptions } from "./run-worker.ts";
export type { WorkerHost, WorkerSession } from "./worker-host.ts";
