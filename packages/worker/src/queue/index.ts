// The job queue: how a step that is ready gets to a worker on any machine. The engines behind the port are private.

export type * from "./job-queue.ts";
export { openJobQueue } from "./open-job-queue.ts";
export { QueueError, type QueueErrorCode } from "./queue-error.ts";
