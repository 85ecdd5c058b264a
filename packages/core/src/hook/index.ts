// The hook module: code of the user's that is told about calls and may stop them. It runs hooks and reads
// their answers; what an answer means for a call is decided in the call module.

export * from "./hook.ts";
export * from "./run-hooks.ts";
