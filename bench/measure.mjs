// Clocks and heaps: how a round is timed inside a subject's own process.

import { existsSync, readFileSync } from "node:fs";
import { tenTurns } from "./workload.mjs";

/** @import { Call } from "./workload.mjs" */
/** @import { Installed } from "./subjects/index.mjs" */

/**
 * Microseconds per call over as many turns as fit the budget of CPU time, at least one, after a tenth of that to
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
  const spent = { us: 0, cpu: 0 };
  let done = 0;
  while (spent.cpu < budgetMs * 1_000) {
    const session = await installed.session();
    const begun = now();
    for (const calls of turns) {
      await session.turn(calls);
      done += calls.length;
      if (spent.cpu + now().cpu - begun.cpu >= budgetMs * 1_000) break;
    }
    const ended = now();
    spent.us += ended.us - begun.us;
    spent.cpu += ended.cpu - begun.cpu;
    await session.close?.();
  }
  return { us: spent.us / done, cpu: spent.cpu / done };
}

/** @typedef {{ us: number, cpu: number }} Instant  by the clock, and by CPU of all threads, in microseconds */

/** @returns {Instant} */
export function now() {
  const { user, system } = process.cpuUsage();
  return { us: performance.now() * 1_000, cpu: user + system };
}

/** CPU of this thread alone, in microseconds: without the engine's own, which collect and compile. Linux; elsewhere of all threads. */
export function threadMicros() {
  const file = "/proc/thread-self/schedstat";
  return existsSync(file) ? Number(readFileSync(file, "utf8").split(" ")[0]) / 1_000 : now().cpu;
}

/**
 * Milliseconds of one piece of work, by the clock and by CPU of this process, and what it returned.
 * @template T @param {() => T | Promise<T>} work
 * @returns {Promise<{ ms: number, cpuMs: number, value: T }>}
 */
export async function timed(work) {
  const begun = now();
  const value = await work();
  const ended = now();
  return { ms: (ended.us - begun.us) / 1_000, cpuMs: (ended.cpu - begun.cpu) / 1_000, value };
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
