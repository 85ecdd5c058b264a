// Contenders measured in turns (A B, A B, …), so that a slow moment of the machine falls on all alike. The
// ratio is the median of the ratios of each round.

import { timed } from "./measure.mjs";
import { median, pairedRatio } from "./statistics.mjs";

/** @import { ReportRow } from "./benchmarks/index.mjs" */

/**
 * @typedef {object} Contender
 * @property {string} name
 * @property {() => Promise<unknown>} [run]  once; its time is taken
 * @property {() => Promise<number>} [time]  the same, for one that takes its own time, in milliseconds
 * @property {string} [note]
 */

/**
 * The first contender is the floor.
 *
 * @param {Contender[]} contenders
 * @param {{ rounds: number, unit: "ms" | "µs", per?: number }} options  `per`: how many things one run does
 * @returns {Promise<ReportRow[]>}
 */
export async function paired(contenders, { rounds, unit, per = 1 }) {
  const scale = (unit === "µs" ? 1000 : 1) / per;
  /** @type {number[][]} */
  const times = contenders.map(() => []);
  // The first round is for the compiler.
  for (let round = 0; round <= rounds; round += 1) {
    for (const [index, { run, time }] of contenders.entries()) {
      const ms = time ? await time() : (await timed(() => run?.())).ms;
      if (round > 0) times[index]?.push(ms * scale);
    }
  }
  const floor = times[0] ?? [];
  return contenders.map(({ name, note }, index) => {
    const own = times[index] ?? [];
    const against = index === 0 ? "the floor" : `${pairedRatio(own, floor)?.toFixed(2)} × floor`;
    const best = `best ${Math.min(...own).toPrecision(3)}`;
    return {
      name,
      value: median(own),
      unit,
      series: own,
      note: [against, best, note].filter(Boolean).join(", "),
    };
  });
}
