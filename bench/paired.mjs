// Contenders measured in turns (A B, A B, …), so that a slow moment of the machine falls on all alike. The
// ratio is the median of the ratios of each round.

import { median, pairedRatio } from "./statistics.mjs";

/** @import { ReportRow } from "./benchmarks/index.mjs" */

/**
 * @typedef {object} Contender
 * @property {string} name
 * @property {() => Promise<unknown>} run  once; its time is taken
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
  for (const { run } of contenders) await run();
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, { run }] of contenders.entries()) {
      const begun = performance.now();
      await run();
      times[index]?.push((performance.now() - begun) * scale);
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
