// The process room: starts one program as a group and session of its own, streams what it writes, and
// sees to it that nothing of it outlives its call, also when the runtime itself is killed (CMD-3).
// It touches child processes and /proc; it knows nothing of tools, plans or artifacts.

export { commandEnvironment, DEFAULT_ENV_ALLOWLIST } from "./environment.ts";
export { findExecutable } from "./executable.ts";
export type { FoundExecutable } from "./executable.ts";
export type { ProcessEnd } from "./follow.ts";
export type { OutputConsumer } from "./output.ts";
export { startProcess } from "./start-process.ts";
export type { ProcessOptions, RunningProcess } from "./start-process.ts";
