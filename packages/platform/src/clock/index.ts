// The clock room: time that several processes of one machine can agree on.

export { machineTime } from "./machine-clock.ts";
export type { MachineTime } from "./machine-clock.ts";
