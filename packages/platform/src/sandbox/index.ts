// The sandbox module: what the operating system closes for a process (CMD-6), behind one port. It knows nothing of rules or
// tools: the profile of a command says what is open.

export {
  entrySandbox,
  readEntrySandbox,
  type EntryProgram,
  type EntrySandbox,
  type OpenEntrySandbox,
} from "./entry-sandbox.ts";
export { openSandbox, type SandboxOptions } from "./open-sandbox.ts";
