// The loop of each runtime over a scripted model, as a user runs it: 100 and 10 calls in a turn, a fresh run, and a
// long conversation. Every loop gets the same turns; what it keeps of them is its own affair.

import { liveHeap } from "../measure.mjs";
import { makeCalls, makeTools, proveWork } from "../workload.mjs";

/** @import { Benchmark, Prepared, Values } from "./index.mjs" */
/** @import { Call } from "../workload.mjs" */
/** @import { Installed, Subject } from "../subjects/index.mjs" */

const LOOPS = {
  subjects: ["soong-loop", "pi", "ai-sdk", "openai-runner"],
  ours: "soong-loop",
  slow: ["openai-runner"],
};

/** @type {Benchmark} */
export const loopCall = {
  id: "loop-call",
  title: "One call through the whole loop: runs of ten turns of 100 calls, and of 10",
  ...LOOPS,
  rounds: { full: 11, quick: 4 },
  metrics: [
    { id: "hundred_cpu", title: "100 calls a turn, CPU time per call", unit: "µs" },
    { id: "hundred", title: "100 calls a turn, per call", unit: "µs" },
    { id: "ten_cpu", title: "10 calls a turn, CPU time per call", unit: "µs" },
    { id: "ten", title: "10 calls a turn, per call", unit: "µs" },
  ],
  prepare: (subject, { quick }) =>
    prepared(subject, async (installed, calls) => {
      const budgetMs = quick ? 60 : 150;
      const hundred = await timeRuns(installed, { calls, turns: 10, budgetMs });
      const ten = await timeRuns(installed, { calls: calls.slice(0, 10), turns: 10, budgetMs });
      const values = {
        hundred: hundred.us / 1_000,
        hundred_cpu: hundred.cpu / 1_000,
        ten: ten.us / 100,
        ten_cpu: ten.cpu / 100,
      };
      return { values };
    }),
};

/** @type {Benchmark} */
export const loopRun = {
  id: "loop-run",
  title: "A fresh run through the whole loop: one call and the closing turn",
  ...LOOPS,
  rounds: { full: 11, quick: 4 },
  metrics: [
    { id: "cpu", title: "CPU time of a run", unit: "µs" },
    { id: "us", title: "a run", unit: "µs" },
  ],
  prepare: (subject, { quick }) =>
    prepared(subject, async (installed, calls) => {
      const work = { calls: calls.slice(0, 1), turns: 1, budgetMs: quick ? 60 : 150 };
      return { values: await timeRuns(installed, work) };
    }),
};

/** @type {Benchmark} */
export const loopSession = {
  id: "loop-session",
  title: "A long conversation through the whole loop: a call a turn",
  ...LOOPS,
  rounds: { full: 3, quick: 1 },
  metrics: [
    { id: "thousand", title: "CPU time per turn of 1 000 turns", unit: "µs" },
    { id: "first", title: "CPU time per turn of 10 000 turns, the first thousand", unit: "µs" },
    { id: "last", title: "CPU time per turn of 10 000 turns, the last thousand", unit: "µs" },
    { id: "growth", title: "the last thousand / the first (1 = flat)", unit: "×" },
    { id: "heap", title: "live heap per turn", unit: "bytes" },
  ],
  prepare: (subject, { quick }) =>
    prepared(
      subject,
      async (installed, calls) => {
        const thousand = await timeTurns(installed, calls, 1_000);
        const long = await timeTurns(installed, calls, 10_000, quick ? 4_000 : 20_000);
        const heap = await heapPerTurn(installed, calls, 1_000);
        /** @type {Values} */
        const values = { thousand: perTurn(thousand, 0, 1_000), heap };
        if (long.length <= 10_000) {
          return { values, remarks: [`stopped at ${long.length - 1} of 10 000 turns`] };
        }
        const first = perTurn(long, 0, 1_000);
        const last = perTurn(long, 9_000, 10_000);
        return { values: { ...values, first, last, growth: last / first } };
      },
      1,
    ),
};

/**
 * @param {Subject} subject
 * @param {(installed: Installed, calls: Call[]) => ReturnType<Prepared["round"]>} round
 * @param {number} [warmUps]
 * @returns {Promise<Prepared>}
 */
async function prepared(subject, round, warmUps = 5) {
  const tools = makeTools(10);
  const calls = makeCalls(100, tools);
  const installed = await subject.create({ tools, parallel: false });
  const remarks = await proveWork(await installed.session(), calls);
  for (let i = 0; i < warmUps; i += 1) await round(installed, calls);
  return { remarks, round: () => round(installed, calls), close: installed.close };
}

/**
 * Microseconds of one run, by the clock and by CPU of all threads, over as many runs as fit the budget.
 * @param {Installed} installed @param {{ calls: Call[], turns: number, budgetMs: number }} work
 */
async function timeRuns({ loop }, { calls, turns, budgetMs }) {
  if (!loop) throw new Error("has no loop of its own");
  const cpuBefore = process.cpuUsage();
  const begun = performance.now();
  let runs = 0;
  while (performance.now() - begun < budgetMs) {
    let turn = 0;
    await loop(() => {
      turn += 1;
      return turn > turns
        ? undefined
        : calls.map((call) => ({ ...call, id: `${call.id}_${turn}` }));
    });
    runs += 1;
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  return { us: ((performance.now() - begun) * 1_000) / runs, cpu: (user + system) / runs };
}

/**
 * CPU time in microseconds at the beginning of each turn, and at the end. Ends early when the time is over.
 * @param {Installed} installed @param {Call[]} calls @param {number} turns @param {number} [patienceMs]
 */
async function timeTurns({ loop }, calls, turns, patienceMs = 60_000) {
  if (!loop) throw new Error("has no loop of its own");
  /** @type {number[]} */
  const starts = [];
  const begun = performance.now();
  await loop(() => {
    const { user, system } = process.cpuUsage();
    starts.push(user + system);
    const turn = starts.length - 1;
    if (turn === turns || performance.now() - begun > patienceMs) return undefined;
    const call = /** @type {Call} */ (calls[turn % calls.length]);
    return [{ ...call, id: `call_${turn}` }];
  });
  return starts;
}

/** @param {number[]} starts @param {number} from @param {number} to */
function perTurn(starts, from, to) {
  const end = Math.min(to, starts.length - 1);
  return (
    (/** @type {number} */ (starts[end]) - /** @type {number} */ (starts[from])) / (end - from)
  );
}

/** What a turn leaves in memory while its run goes on. @param {Installed} installed @param {Call[]} calls @param {number} turns */
async function heapPerTurn({ loop }, calls, turns) {
  let turn = 0;
  let before = 0;
  let after = 0;
  await loop?.(() => {
    turn += 1;
    if (turn === 100) before = liveHeap();
    if (turn > turns + 100) {
      after = liveHeap();
      return undefined;
    }
    const call = /** @type {Call} */ (calls[turn % calls.length]);
    return [{ ...call, id: `call_${turn}` }];
  });
  return (after - before) / turns;
}
