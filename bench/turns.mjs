// Long conversations of one call a turn: how long the turns take, and what they leave in memory.

import { liveHeap, now } from "./measure.mjs";
import { bytesOfMessages } from "./workload.mjs";

/** @import { Instant } from "./measure.mjs" */
/** @import { Call } from "./workload.mjs" */
/** @import { Installed, NextTurn } from "./subjects/index.mjs" */

/**
 * When each turn began, and when the last one ended. Ends early when the CPU time is used up.
 * @param {Installed} installed @param {Call[]} calls @param {number} turns @param {number} budgetMs
 */
export async function timeTurns(installed, calls, turns, budgetMs) {
  /** @type {Instant[]} */
  const starts = [];
  const end = now().cpu + budgetMs * 1_000;
  await converse(installed, () => {
    const begun = now();
    starts.push(begun);
    const turn = starts.length - 1;
    return turn === turns || begun.cpu > end ? undefined : [callOf(calls, turn)];
  });
  return starts;
}

/** @param {Instant[]} starts @param {number} from @param {number} to @returns {Instant} */
export function perTurn(starts, from, to) {
  const [begun, ended] = /** @type {[Instant, Instant]} */ ([starts[from], starts[to]]);
  const turns = to - from;
  return { us: (ended.us - begun.us) / turns, cpu: (ended.cpu - begun.cpu) / turns };
}

/** All turns, the first and the last tenth of them. @param {Instant[]} starts */
export function spanOfTurns(starts) {
  const turns = starts.length - 1;
  const tenth = Math.floor(turns / 10);
  const { us: all, cpu: all_cpu } = perTurn(starts, 0, turns);
  const { cpu: first_cpu } = perTurn(starts, 0, tenth);
  const { cpu: last_cpu } = perTurn(starts, turns - tenth, turns);
  return { all, all_cpu, first_cpu, last_cpu, growth: last_cpu / first_cpu };
}

/**
 * What a turn leaves in memory while its run continues, over 1 000 turns or as many as there is time for.
 * @param {Installed} installed @param {Call[]} calls @param {number} budgetMs
 * @param {(call: Call) => number} [bytesOf]  of the messages of a turn
 */
export async function heapPerTurn(installed, calls, budgetMs, bytesOf = bytesOfMessages) {
  const settled = 100;
  const end = now().cpu + budgetMs * 1_000;
  let turn = 0;
  let before = 0;
  let after = 0;
  let bytes = 0;
  await converse(installed, () => {
    if (turn === settled) before = liveHeap();
    if (turn === settled + 1_000 || (turn > settled && now().cpu > end)) {
      after = liveHeap();
      return undefined;
    }
    const call = callOf(calls, turn);
    if (turn >= settled) bytes += bytesOf(call);
    turn += 1;
    return [call];
  });
  return { heap: (after - before) / (turn - settled), heap_ratio: (after - before) / bytes };
}

/** @param {Installed} installed @param {NextTurn} next */
async function converse(installed, next) {
  if (installed.loop) return installed.loop(next);
  const session = await installed.session();
  for (let turn = next(); turn; turn = next()) await session.turn(turn);
  await session.close?.();
}

/** @param {Call[]} calls @param {number} turn @returns {Call} */
function callOf(calls, turn) {
  const call = /** @type {Call} */ (calls[turn % calls.length]);
  return { ...call, id: `call_${turn}` };
}
