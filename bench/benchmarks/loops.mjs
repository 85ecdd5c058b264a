// The loop of each runtime over a scripted model, as a user runs it: 100 and 10 calls in a turn, a fresh run, and a
// long conversation. Every loop gets the same turns; what it keeps of them is its own affair.

import { now, threadMicros } from "../measure.mjs";
import { heapPerTurn, perTurn, spanOfTurns, timeTurns } from "../turns.mjs";
import { install, proveLoop } from "../workload.mjs";

/** @import { Benchmark, Prepared } from "./index.mjs" */
/** @import { Call } from "../workload.mjs" */
/** @import { Installed, Subject } from "../subjects/index.mjs" */

const LOOPS = {
  subjects: ["soong-loop", "pi", "ai-sdk", "openai-runner", "langgraph-agent", "mastra"],
  ours: "soong-loop",
  slow: ["openai-runner", "langgraph-agent", "mastra"],
};

/** @type {Benchmark} */
export const loopCall = {
  id: "loop-call",
  title: "One call through the whole loop: runs of ten turns of 100 calls, and of 10",
  ...LOOPS,
  rounds: { full: 11, quick: 4 },
  metrics: [
    { id: "hundred_thread", title: "100 calls a turn, JS thread per call", unit: "µs" },
    { id: "hundred_cpu", title: "100 calls a turn, CPU time per call", unit: "µs" },
    { id: "hundred", title: "100 calls a turn, per call", unit: "µs" },
    { id: "ten_thread", title: "10 calls a turn, JS thread per call", unit: "µs" },
    { id: "ten_cpu", title: "10 calls a turn, CPU time per call", unit: "µs" },
    { id: "ten", title: "10 calls a turn, per call", unit: "µs" },
  ],
  prepare: (subject, options) =>
    prepared(subject, options, async (installed, calls, budgetMs) => {
      const hundred = await timeRuns(installed, { calls, turns: 10, budgetMs });
      const ten = await timeRuns(installed, { calls: calls.slice(0, 10), turns: 10, budgetMs });
      const values = {
        hundred: hundred.us / 1_000,
        hundred_cpu: hundred.cpu / 1_000,
        hundred_thread: hundred.thread / 1_000,
        ten: ten.us / 100,
        ten_cpu: ten.cpu / 100,
        ten_thread: ten.thread / 100,
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
    { id: "thread", title: "JS thread of a run", unit: "µs" },
    { id: "us", title: "a run", unit: "µs" },
  ],
  prepare: (subject, options) =>
    prepared(subject, options, async (installed, calls, budgetMs) => {
      const work = { calls: calls.slice(0, 1), turns: 1, budgetMs };
      return { values: await timeRuns(installed, work) };
    }),
};

/** @type {Benchmark} */
export const loopSession = {
  id: "loop-session",
  title: "A long conversation through the whole loop: a call a turn",
  ...LOOPS,
  slow: [...LOOPS.slow, "ai-sdk"],
  rounds: { full: 3, quick: 2 },
  metrics: [
    { id: "thousand_cpu", title: "1 000 turns, CPU time per turn", unit: "µs" },
    { id: "thousand", title: "1 000 turns, per turn", unit: "µs" },
    { id: "all_cpu", title: "10 000 turns, CPU time per turn", unit: "µs" },
    { id: "all", title: "10 000 turns, per turn", unit: "µs" },
    { id: "first_cpu", title: "the first thousand of 10 000, CPU time per turn", unit: "µs" },
    { id: "last_cpu", title: "the last thousand of 10 000, CPU time per turn", unit: "µs" },
    { id: "growth", title: "the last thousand / the first (1 = flat)", unit: "×" },
    { id: "heap", title: "live heap per turn", unit: "bytes" },
    { id: "heap_ratio", title: "live heap / bytes of the messages", unit: "×" },
  ],
  async prepare(subject, { quick }) {
    await proveLoop(subject);
    const budgetMs = quick ? 2_000 : 4_000;
    const { installed, calls, remarks } = await install(subject);
    // Before the warm-up: the engine drops compiled code when garbage is forced out.
    const heap = await heapPerTurn(installed, calls, budgetMs);
    const warm = now().cpu + budgetMs * 1_000;
    while (now().cpu < warm) await timeTurns(installed, calls, 1_000, budgetMs);
    // Where a conversation too slow for 10 000 turns was stopped, once that is known.
    let stopped = "";
    return {
      remarks,
      close: installed.close,
      async round() {
        // Back into stride: an engine that waits drops compiled code.
        await timeTurns(installed, calls, 3_000, budgetMs / 4);
        const thousand = await timeTurns(installed, calls, 1_000, budgetMs);
        const { us, cpu } = perTurn(thousand, 0, thousand.length - 1);
        const values = { thousand: us, thousand_cpu: cpu, ...heap };
        if (!stopped) {
          const long = await timeTurns(installed, calls, 10_000, 2 * budgetMs);
          const turns = long.length - 1;
          if (turns === 10_000) return { values: { ...values, ...spanOfTurns(long) } };
          stopped = `stopped at ${turns} of 10 000 turns`;
        }
        const early = thousand.length <= 1_000 ? [`and at ${thousand.length - 1} of 1 000`] : [];
        return { values, remarks: [[stopped, ...early].join(" ")] };
      },
    };
  },
};

/** @type {Benchmark} */
export const loopTools = {
  id: "loop-tools",
  title: "1 000 turns of a conversation with 10 tools, and with 10 000",
  subjects: ["soong-loop", "pi", "ai-sdk"],
  slow: ["ai-sdk"],
  ours: "soong-loop",
  rounds: { full: 5, quick: 2 },
  metrics: [
    { id: "few_cpu", title: "10 tools, CPU time per turn", unit: "µs" },
    { id: "many_cpu", title: "10 000 tools, CPU time per turn", unit: "µs" },
    { id: "growth", title: "10 000 tools / 10 tools (1 = flat)", unit: "×" },
  ],
  async prepare(subject, { quick }) {
    const budgetMs = quick ? 1_000 : 3_000;
    const few = await install(subject);
    const many = await install(subject, { tools: 10_000 });
    const round = async () => {
      for (const { installed, calls } of [few, many]) {
        await timeTurns(installed, calls, 1_000, budgetMs / 4);
      }
      const all = await timeTurns(many.installed, many.calls, 1_000, budgetMs);
      const turns = all.length - 1;
      const ten = await timeTurns(few.installed, few.calls, turns, budgetMs);
      const { cpu: few_cpu } = perTurn(ten, 0, ten.length - 1);
      const { cpu: many_cpu } = perTurn(all, 0, turns);
      const values = { few_cpu, many_cpu, growth: many_cpu / few_cpu };
      return { values, remarks: turns < 1_000 ? [`stopped at ${turns} of 1 000 turns`] : [] };
    };
    await round();
    return {
      remarks: [...few.remarks, ...many.remarks],
      round,
      close: () => Promise.all([few.installed.close?.(), many.installed.close?.()]),
    };
  },
};

/**
 * @param {Subject} subject @param {{ quick: boolean }} options
 * @param {(installed: Installed, calls: Call[], budgetMs: number) => ReturnType<Prepared["round"]>} round
 * @returns {Promise<Prepared>}
 */
async function prepared(subject, { quick }, round) {
  await proveLoop(subject);
  const { installed, calls, remarks } = await install(subject);
  // The compiler needs some thousand runs: ours take half the time after that.
  await round(installed, calls, quick ? 2_000 : 4_000);
  return {
    remarks,
    async round() {
      // Back into stride: the process has been waiting for its turn.
      await round(installed, calls, 50);
      return round(installed, calls, quick ? 100 : 200);
    },
    close: installed.close,
  };
}

/**
 * Microseconds of one run, by the clock, by CPU of all threads and of this one, over as many runs as fit the budget of CPU time.
 * @param {Installed} installed @param {{ calls: Call[], turns: number, budgetMs: number }} work
 */
async function timeRuns({ loop }, { calls, turns, budgetMs }) {
  const begun = now();
  const thread = threadMicros();
  let runs = 0;
  while (now().cpu - begun.cpu < budgetMs * 1_000) {
    let turn = 0;
    await loop?.(() => {
      turn += 1;
      return turn > turns
        ? undefined
        : calls.map((call) => ({ ...call, id: `${call.id}_${turn}` }));
    });
    runs += 1;
  }
  const ended = now();
  return {
    us: (ended.us - begun.us) / runs,
    cpu: (ended.cpu - begun.cpu) / runs,
    thread: (threadMicros() - thread) / runs,
  };
}
