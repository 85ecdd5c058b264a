// Refuses a machine whose clock differs too much from the database's. Leases end by the database's clock, and a queue's locks by
// the worker's: a worker with a wrong clock would take jobs that other workers have.

import { SoongError } from "@soong/core";

/** Heartbeats leave a third of the lease as reserve. */
export function refuseClockOffset(offsetMs: number, leaseMs: number): void {
  const mostMs = leaseMs / 3;
  if (Math.abs(offsetMs) <= mostMs) return;
  if (Number.isNaN(offsetMs)) {
    throw new SoongError(
      "clock_offset",
      "The clocks cannot be compared: the database sent no time.",
    );
  }
  const way = offsetMs > 0 ? "ahead of" : "behind";
  throw new SoongError(
    "clock_offset",
    `The clock of this machine is ${seconds(offsetMs)} ${way} the database's; with a lease of ${seconds(leaseMs)} at most ${seconds(mostMs)} are allowed. Set the clock, for example with NTP, and start the worker again.`,
  );
}

function seconds(ms: number): string {
  return `${Math.round(Math.abs(ms) / 100) / 10} s`;
}
