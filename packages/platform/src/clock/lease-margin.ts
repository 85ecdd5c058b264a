// Who holds something by a lease stops by its own clock before the lease can end, so that it does nothing beside the next holder.

/** A command that resists its end is gone after 2.25 s (process/family.ts); the rest is for clocks that run at other speeds. */
const STOP_MS = 3_000;

/** How long before. Of a short lease a sixth: it has to be renewed in time, too. */
export function leaseMargin(leaseMs: number): number {
  return Math.min(STOP_MS, leaseMs / 6);
}
