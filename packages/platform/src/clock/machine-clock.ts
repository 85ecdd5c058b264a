// A clock that all processes of this machine share and that no one can set: time since the machine was started. It comes
// with the id of the machine and of that start, so that its times are never compared with those of another.

import { readFileSync, readlinkSync } from "node:fs";

export interface MachineTime {
  /** The same for two processes whose times can be compared. */
  readonly machine: string;
  readonly ms: number;
}

/** Undefined where a start of the machine has no id: on systems other than Linux. */
export function machineTime(): MachineTime | undefined {
  known ??= { machine: readMachine() };
  const { machine } = known;
  // The kernel's monotonic clock, not one that begins with the process.
  return machine === undefined ? undefined : { machine, ms: Number(process.hrtime.bigint() / NS) };
}

let known: { readonly machine: string | undefined } | undefined;
const NS = 1_000_000n;

function readMachine(): string | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    // A container may have a monotonic clock of its own.
    return `${boot} ${readlinkSync("/proc/self/ns/time")}`;
  } catch {
    return undefined;
  }
}
