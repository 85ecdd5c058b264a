// The schedule module: when a call may run beside its siblings. Pure; it imports nothing.

export * from "./schedule.ts";
