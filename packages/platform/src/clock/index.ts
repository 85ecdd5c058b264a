// The clock module: bounded waiting, and time that several processes of one machine can agree on.

export { inTime } from "./in-time.ts";
export type { InTime, TimeLimit } from "./in-time.ts";
export { machineTime } from "./machine-clock.ts";
export type { MachineTime } from "./machine-clock.ts";
