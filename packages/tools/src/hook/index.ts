// The hook module: commands of the user's as hooks of the kernel (HOOK-5), from code or from hooks.json
// (HOOK-1). What an answer means for a call is the kernel's business.

export { commandHook } from "./command-hook.ts";
export type { CommandHook } from "./command-hook.ts";
export { loadHooks } from "./load-hooks.ts";
export type { LoadedHooks, LoadHooksOptions } from "./load-hooks.ts";
