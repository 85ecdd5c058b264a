// The sandbox module: what a command may do inside, made from the policy of its call, and what it met there. The platform
// closes it off.

export { enterSandbox, planSandbox, withSandbox } from "./command-sandbox.ts";
export type { CommandHost, EnteredSandbox } from "./command-sandbox.ts";
export { openEntrySandbox } from "./entry-sandbox.ts";
export type { EntrySandboxOptions } from "./entry-sandbox.ts";
