// Clocks and heaps: how a round is timed inside a subject's own process.

import { tenTurns } from "./workload.mjs";

/** @import { Call } from "./workload.mjs" */
/** @import { Installed } from "./subjects/index.mjs" */

/**
 * Microseconds per call over as many turns as fit the budget, at least one, after a tenth of that to
 * get back into stride: the process has been waiting for its turn. CPU time counts every thread, the
 * engine's compiler and collector included, and other programs disturb it less.
 * @param {Installed} installed @param {Call[]} calls @param {number} budgetMs
 */
export async function timePerCall(installed, calls, budgetMs) {
  const turns = tenTurns(calls);
  await runTurns(installed, turns, budgetMs / 10);
  return runTurns(installed, turns, budgetMs);
}

/**
 * A new session begins every ten turns, outside the clock, so that what a runtime records is not
 * kept for ever. Garbage is left to the engine: forcing it out also throws away compiled code.
 * @param {Installed} installed @param {Call[][]} turns @param {number} budgetMs
 */
async function runTurns(installed, turns, budgetMs) {
  let spent = 0;
  let cpu = 0;
  let done = 0;
  while (spent < budgetMs) {
    const session = await installed.session();
    const cpuBefore = process.cpuUsage();
    const start = performance.now();
    for (const calls of turns) {
      await session.turn(calls);
      done += calls.length;
      if (spent + performance.now() - start >= budgetMs) break;
    }
    spent += performance.now() - start;
    const { user, system } = process.cpuUsage(cpuBefore);
    cpu += user + system;
    await session.close?.();
  }
  return { us: (spent * 1000) / done, cpu: cpu / done };
}

/**
 * Milliseconds of one piece of work, and what it returned.
 * @template T @param {() => T | Promise<T>} work
 * @returns {Promise<{ ms: number, value: T }>}
 */
export async function timed(work) {
  const start = performance.now();
  const value = await work();
  return { ms: performance.now() - start, value };
}

/** Bytes of live heap. The second collection takes what finalizers of the first one freed. */
export function liveHeap() {
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

function collectGarbage() {
  if (!globalThis.gc) throw new Error("start this process with --expose-gc");
  globalThis.gc();
}
