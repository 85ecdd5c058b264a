// Who holds something by a lease stops by its own clock before the lease can end, so that it does nothing beside the next holder.

import { KILL_BY_MS } from "../process/index.ts";

/** For clocks that run at other speeds, and to begin stopping. */
const RESERVE_MS = 750;

/** How long before: commands that resist are gone by then. Of a short lease a sixth, because it has to be renewed in time, too. */
export function leaseMargin(leaseMs: number): number {
  return Math.min(KILL_BY_MS + RESERVE_MS, leaseMs / 6);
}
