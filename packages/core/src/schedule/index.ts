// The schedule room: when a call may run beside its siblings. Pure; it imports nothing.

export * from "./schedule.ts";
