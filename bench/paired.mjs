// Contenders measured in turns (A B, A B, …), so that a slow moment of the machine falls on all alike. The
// ratio is the median of the ratios of each round.

import { timed } from "./measure.mjs";
import { median, pairedRatio } from "./statistics.mjs";
import { digits } from "./table.mjs";

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
 * @param {{ rounds: number, unit: "ms" | "µs", per?: number, cpu?: boolean }} options
 *   `per`: how many things one run does; `cpu`: all of it is done by this process, so its CPU time counts, too
 * @returns {Promise<ReportRow[]>}
 */
export async function paired(contenders, { rounds, unit, per = 1, cpu = false }) {
  const scale = (unit === "µs" ? 1000 : 1) / per;
  const measured = contenders.map(({ name, note }) => ({
    name,
    notes: note === undefined ? [] : [note],
    times: /** @type {number[]} */ ([]),
    cpuTimes: /** @type {number[]} */ ([]),
  }));
  // The first round is for the compiler.
  for (let round = 0; round <= rounds; round += 1) {
    for (const [index, { run, time }] of contenders.entries()) {
      const { ms, cpuMs } = time ? { ms: await time(), cpuMs: 0 } : await timed(() => run?.());
      if (round === 0) continue;
      measured[index]?.times.push(ms * scale);
      measured[index]?.cpuTimes.push(cpuMs * scale);
    }
  }
  const [floor] = measured;
  return measured.map(({ name, times, cpuTimes, notes }) => {
    const ratios = [`${pairedRatio(times, floor?.times)?.toFixed(2)} × floor`];
    if (cpu) ratios.push(`${pairedRatio(cpuTimes, floor?.cpuTimes)?.toFixed(2)} × its CPU time`);
    const against = times === floor?.times ? ["the floor"] : ratios;
    const best = `best ${digits(Math.min(...times))}`;
    const note = [...against, best, ...notes].join(", ");
    return { name, value: median(times), unit, series: times, note };
  });
}
