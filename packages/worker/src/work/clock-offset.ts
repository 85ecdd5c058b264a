// How far this machine's clock is from the database's. Leases end by the database's clock, and a queue's locks by the
// worker's: a worker whose clock is far off would take over jobs that are being worked on.

import { SoongError } from "@soong/core";

/** A third of the lease is what a heartbeat leaves as reserve. */
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
