// Whether a long session of the kernel stays as fast as it began: 10 000 turns of one call each.

import { spanOfTurns, timeTurns } from "../turns.mjs";
import { install } from "../workload.mjs";

/** @import { Benchmark } from "./index.mjs" */

const TURNS = 10_000;

/** @type {Benchmark} */
export const session = {
  id: "session",
  title: "A long session: 10 000 turns of one call",
  subjects: ["floor-json", "soong"],
  floor: "floor-json",
  rounds: { full: 5, quick: 2 },
  metrics: [
    { id: "all_cpu", title: "CPU time per turn", unit: "µs" },
    { id: "all", title: "per turn", unit: "µs" },
    { id: "first_cpu", title: "first tenth, CPU time per turn", unit: "µs" },
    { id: "last_cpu", title: "last tenth, CPU time per turn", unit: "µs" },
    { id: "growth", title: "last tenth / first tenth (1 = flat)", unit: "×" },
  ],
  async prepare(subject, { quick }) {
    const { installed, calls, remarks } = await install(subject);
    // An engine takes tens of thousands of short turns to settle; until then every session speeds up.
    await timeTurns(installed, calls, 10 * TURNS, quick ? 600 : 2_000);
    return {
      remarks,
      round: async () => ({
        values: spanOfTurns(await timeTurns(installed, calls, TURNS, 10_000)),
      }),
      close: installed.close,
    };
  },
};
