// The process module: everything that is spawned is spawned here (CMD-7). It finds the program, starts it as a group and
// session of its own, streams what it writes, and sees to it that nothing of it outlives its call, also when the
// runtime itself is killed (CMD-3). It knows nothing of tools, plans or artifacts.

export { commandEnvironment, DEFAULT_ENV_ALLOWLIST } from "./environment.ts";
export { findExecutable } from "./executable.ts";
export type { FoundExecutable } from "./executable.ts";
export { OPEN_INPUT } from "./follow.ts";
export type { ProcessEnd } from "./follow.ts";
export { isProcessAlive } from "./is-process-alive.ts";
export { createLineReader, LineTooLong } from "./lines.ts";
export { openForUser } from "./open-for-user.ts";
export type { OutputConsumer } from "./output.ts";
export {
  environmentOutside,
  findProgram,
  isBesideDeclaration,
  isFixedProgram,
  programEnvironment,
  rootOfProgram,
  SYSTEM_DIRECTORIES,
} from "./program.ts";
export type { ProgramPlaces } from "./program.ts";
export { isStartedHere } from "./started-here.ts";
export { startProcess } from "./start-process.ts";
export type { ProcessOptions, RunningProcess } from "./start-process.ts";
