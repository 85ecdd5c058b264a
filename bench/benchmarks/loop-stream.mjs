// The streamed turns of SCHED-8 through the whole loop, on the real clock: a scripted model streams ten calls 100 ms
// apart, the first of which takes 1 s and the others 300 ms, is sent the results and says a last word.

import { TOOL, playRun } from "../loop.mjs";
import { median } from "../statistics.mjs";
import { withHome } from "../store.mjs";

/**
 * @import { Script } from "@soong/agent"
 * @import { Store } from "@soong/store"
 * @import { Report, ReportRow } from "./index.mjs"
 */

const STREAMS = [false, true].flatMap((isOnDisk) =>
  [0, 1_000].map((textMs) => {
    const idealMs = textMs === 0 ? 1_300 : 2_000;
    const text = textMs === 0 ? "" : ", a second of text after the last call";
    const name = `${isOnDisk ? "on disk" : "in memory"}${text}, ideal ${idealMs} ms`;
    return { name, idealMs, textMs, isOnDisk };
  }),
);

/** @type {Report} */
export const loopStream = {
  id: "loop-stream",
  title: "A run with a streamed turn, from prompt to end, on the real clock",
  rows: STREAMS.map(({ name }) => name),
  report: ({ quick }) =>
    withHome(async (home) => {
      const { openStore } = await import("@soong/store");
      const store = await openStore({ directory: home });
      // Outside the clock: compiling is not what is measured here.
      for (const where of [undefined, store]) await playRun(script(0, 0), where);
      const rounds = quick ? 1 : 5;
      const rows = [];
      for (const { name, idealMs, textMs, isOnDisk } of STREAMS) {
        rows.push(await measure(name, idealMs, textMs, rounds, isOnDisk ? store : undefined));
      }
      await store.close();
      return rows;
    }),
};

/**
 * @param {string} name @param {number} idealMs @param {number} textMs @param {number} rounds @param {Store} [store]
 * @returns {Promise<ReportRow>}
 */
async function measure(name, idealMs, textMs, rounds, store) {
  /** @type {number[]} */
  const times = [];
  for (let round = 0; round < rounds; round += 1) {
    const begun = performance.now();
    await playRun(script(100, textMs), store);
    times.push(performance.now() - begun);
  }
  const best = Math.min(...times) / idealMs;
  const note = `${(median(times) / idealMs).toFixed(3)} × ideal, best ${best.toFixed(3)}`;
  return { name, value: median(times), unit: "ms", note };
}

/** @param {number} apartMs @param {number} textMs @returns {Script} */
function script(apartMs, textMs) {
  const calls = Array.from({ length: 10 }, (_, index) => ({
    call: { tool: TOOL, input: { path: `src/${index}.ts`, ms: apartMs * (index === 0 ? 10 : 3) } },
    after_ms: apartMs,
  }));
  const text = textMs === 0 ? [] : [{ text: "And that was all.", after_ms: textMs }];
  return { turns: [{ parts: [...calls, ...text] }, { text: "Done." }] };
}
