// Plays plans of crashes in a few lanes side by side, and says of one that goes wrong how to find and repeat it.

import { openCrashLane, type CrashLane } from "./crash-lane.ts";
import type { Runtimes } from "./runtime-process.ts";

export interface CrashLanes {
  /** Every plan once; fails with the first that does. */
  play<Plan>(
    plans: readonly Plan[],
    round: (lane: CrashLane, plan: Plan) => Promise<void>,
  ): Promise<void>;
  /** All that were ever opened. */
  readonly all: readonly CrashLane[];
  /** A round has failed: what it left is to be looked at. */
  readonly failed: boolean;
}

/** While one is checked, the runtime of the other works. */
const TOGETHER = 2;
const ROUNDS_OF_A_SESSION = 3;
const ROUNDS_OF_A_LANE = 9;

export function crashLanes(runtimes: Runtimes, seed: number): CrashLanes {
  const all: CrashLane[] = [];
  let failed = false;
  return {
    all,
    get failed() {
      return failed;
    },
    async play(plans, round) {
      const next = plans.entries();
      await Promise.all(Array.from({ length: TOGETHER }, playLane));

      async function playLane(): Promise<void> {
        let lane: CrashLane | undefined;
        let played = 0;
        for (const [i, plan] of next) {
          if (failed) return;
          if (lane === undefined || played % ROUNDS_OF_A_LANE === 0) {
            lane = await openCrashLane(runtimes);
            all.push(lane);
          } else if (played % ROUNDS_OF_A_SESSION === 0) await lane.nextSession();
          played += 1;
          try {
            await round(lane, plan);
          } catch (error) {
            failed = true;
            throw new Error(
              `Round ${i + 1} with SOONG_TEST_SEED=${seed} failed: ${(error as Error).message}\n` +
                `Plan: ${JSON.stringify(plan)}\nKept: ${lane.home}, ${lane.session_id}`,
              { cause: error },
            );
          }
        }
      }
    },
  };
}
