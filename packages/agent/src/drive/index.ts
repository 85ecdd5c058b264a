// The drive module: runs a task to its end without a model that orchestrates it.

export type { DriveEnd, DriveEvent, DriveOptions } from "./drive-options.ts";
export { driveTask } from "./drive-task.ts";
