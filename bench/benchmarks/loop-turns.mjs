// How many turns of a scripted model the whole loop carries out in a second of one core: context, request, stream,
// call, result and every fact, in memory and with the record on disk.

import { TOOL, playRun } from "../loop.mjs";
import { now } from "../measure.mjs";
import { median } from "../statistics.mjs";
import { withHome } from "../store.mjs";

/**
 * @import { Script } from "@soong/agent"
 * @import { Store } from "@soong/store"
 * @import { Instant } from "../measure.mjs"
 * @import { Report, ReportRow } from "./index.mjs"
 */

const LENGTHS = [10, 100];
/** @param {number} turns */
const onDisk = (turns) => `on disk, runs of ${turns} turns`;

/** @type {Report} */
export const loopTurns = {
  id: "loop-turns",
  title: "Turns of a scripted model through the whole loop",
  rows: LENGTHS.map(onDisk),
  report: ({ quick }) =>
    withHome(async (home) => {
      const { openStore } = await import("@soong/store");
      const store = await openStore({ directory: home });
      const rounds = quick ? 3 : 12;
      /** @type {ReportRow[]} */
      const rows = [];
      for (const turns of LENGTHS) {
        rows.push(await measure(`in memory, runs of ${turns} turns`, { turns, rounds }));
        rows.push(await measure(onDisk(turns), { turns, rounds, store }));
      }
      const together = { turns: 100, rounds, store, atOnce: 8 };
      rows.push(await measure("on disk, eight runs of 100 turns at once", together));
      await store.close();
      return rows;
    }),
};

/** Turns measured in a round, at least, in as many runs as that takes. */
const TURNS = 500;
/** Rounds before those that count, for the compiler. */
const WARM_UPS = 2;

/**
 * @param {string} name
 * @param {{ turns: number, rounds: number, store?: Store, atOnce?: number }} options
 * @returns {Promise<ReportRow>}
 */
async function measure(name, { turns, rounds, store, atOnce = 1 }) {
  const script = scriptOf(turns);
  const several = Array.from({ length: atOnce });
  const repeats = Math.ceil(TURNS / turns / atOnce);
  const perSecond = (/** @type {number} */ us) => Math.round((repeats * atOnce * turns * 1e6) / us);
  /** @type {Instant[]} */
  const times = [];
  for (let round = 0; round < WARM_UPS + rounds; round += 1) {
    const begun = now();
    for (let i = 0; i < repeats; i += 1) {
      await Promise.all(several.map(() => playRun(script, store)));
    }
    const ended = now();
    times.push({ us: ended.us - begun.us, cpu: ended.cpu - begun.cpu });
  }
  const measured = times.slice(WARM_UPS);
  const cpu = measured.map((time) => time.cpu);
  const note = [
    `best ${perSecond(Math.min(...cpu))}`,
    `by the clock ${perSecond(median(measured.map(({ us }) => us)))}`,
  ].join(", ");
  return { name, value: perSecond(median(cpu)), unit: "turns/s of one core", note };
}

/** Each turn a sentence and a call; the last one only a sentence. @param {number} turns @returns {Script} */
function scriptOf(turns) {
  const looking = Array.from({ length: turns - 1 }, (_, index) => ({
    text: `I look into file ${index}.`,
    calls: [{ tool: TOOL, input: { path: `src/file-${index}.ts`, ms: 0 } }],
  }));
  return { turns: [...looking, { text: "Done." }] };
}
