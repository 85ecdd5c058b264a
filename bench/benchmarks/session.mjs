// Whether a long session stays as fast as it began: 10 000 turns of one call each, the history kept
// by whoever keeps one. A peer that is too slow is stopped early and says so.

import { makeCalls, makeTools, proveWork } from "../workload.mjs";

/** @import { Benchmark } from "./index.mjs" */
/** @import { Call } from "../workload.mjs" */
/** @import { Installed, NextTurn } from "../subjects/index.mjs" */

/** @type {Benchmark} */
export const session = {
  id: "session",
  title: "A long session: 10 000 turns of one call",
  subjects: ["floor-json", "soong", "pi", "ai-sdk", "openai-runner"],
  slow: ["openai-runner"],
  floor: "floor-json",
  rounds: { full: 3, quick: 1 },
  metrics: [
    { id: "total", title: "the whole session", unit: "ms" },
    { id: "first", title: "per turn, first tenth", unit: "µs" },
    { id: "last", title: "per turn, last tenth", unit: "µs" },
    { id: "growth", title: "last tenth / first tenth (1 = flat)", unit: "×" },
  ],
  async prepare(subject, { quick }) {
    const bounds = quick ? boundsOfQuick : boundsOfFull;
    const tools = makeTools(10);
    const calls = makeCalls(100, tools);
    const installed = await subject.create({ tools, parallel: false });
    const remarks = await proveWork(await installed.session(), calls);
    // An engine takes tens of thousands of short turns to settle; until then every session speeds up.
    const settled = performance.now() + (quick ? 600 : 2_000);
    while (performance.now() < settled) await runTurns(installed, calls, boundsOfWarmUp);
    return {
      remarks,
      async round() {
        await runTurns(installed, calls, boundsOfStride);
        const starts = await runTurns(installed, calls, bounds);
        const turns = starts.length - 1;
        const tenth = Math.floor(turns / 10);
        const span = (/** @type {number} */ from, /** @type {number} */ to) =>
          /** @type {number} */ (starts[to]) - /** @type {number} */ (starts[from]);
        const first = (span(0, tenth) * 1000) / tenth;
        const last = (span(turns - tenth, turns) * 1000) / tenth;
        const values = { first, last, growth: last / first };
        if (turns < bounds.turns) return { values, remarks: [`stopped at ${turns} turns`] };
        return { values: { ...values, total: span(0, turns) } };
      },
      close: installed.close,
    };
  },
};

/** @typedef {{ turns: number, checkpoint: number, patienceMs: number }} Bounds */
const boundsOfFull = { turns: 10_000, checkpoint: 2_000, patienceMs: 1_500 };
const boundsOfQuick = { turns: 10_000, checkpoint: 500, patienceMs: 500 };
const boundsOfWarmUp = { turns: 10_000, checkpoint: 500, patienceMs: 150 };
const boundsOfStride = { turns: 1_000, checkpoint: 100, patienceMs: 50 };

/**
 * The times at which each turn began, and the end. A session that lost patience at the checkpoint, or
 * took four times as long at any point, is cut off there.
 * @param {Installed} installed @param {Call[]} calls @param {Bounds} bounds
 */
async function runTurns(installed, calls, { turns, checkpoint, patienceMs }) {
  /** @type {number[]} */
  const starts = [];
  /** @type {NextTurn} */
  const next = () => {
    const now = performance.now();
    starts.push(now);
    const begun = starts.length - 1;
    const spent = now - /** @type {number} */ (starts[0]);
    const slow = spent > 4 * patienceMs || (begun === checkpoint && spent > patienceMs);
    if (begun === turns || (slow && begun >= 10)) return undefined;
    const call = calls[begun % calls.length];
    return call && [{ ...call, id: `call_${begun}` }];
  };
  if (installed.loop) await installed.loop(next);
  else {
    const session = await installed.session();
    for (let turn = next(); turn; turn = next()) await session.turn(turn);
    await session.close?.();
  }
  return starts;
}
