// The process module: everything that is spawned is spawned here (CMD-7). It finds the program, starts it as a group and
// session of its own, streams what it writes, and sees to it that nothing of it outlives its call, also when the
// runtime itself is killed (CMD-3). It knows nothing of tools, plans or artifacts.

export { isStartedHere, KILL_BY_MS } from "./family.ts";
export { createLineReader, LineTooLong } from "./lines.ts";
export type { OutputConsumer } from "./output.ts";
export { isProcessAlive } from "./process-table.ts";
export {
  commandEnvironment,
  DEFAULT_ENV_ALLOWLIST,
  environmentOutside,
  findExecutable,
  findProgram,
  findSystemProgram,
  isBesideDeclaration,
  isFixedProgram,
  programEnvironment,
  rootOfProgram,
  SYSTEM_DIRECTORIES,
  type FoundExecutable,
  type ProgramPlaces,
} from "./program.ts";
export {
  sandboxFailure,
  type ExitStatus,
  type RefusedHost,
  type Sandbox,
  type SandboxedCommand,
  type SandboxEntry,
  type AbsentFile,
  type SandboxProfile,
  type SandboxState,
} from "./sandbox-port.ts";
export {
  describeEnd,
  OPEN_INPUT,
  openForUser,
  startProcess,
  type ProcessEnd,
  type ProcessOptions,
  type RunningProcess,
} from "./start-process.ts";
export { MARKER_NAME } from "./watchdog.ts";
