// Runs one benchmark: a process for each subject, all alive at once but only one at work, in rounds
// A B C, A B C, … so that a slow minute of the machine falls on everyone alike.

import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/**
 * @import { Benchmark, Report, ReportRow, Values } from "./benchmarks/index.mjs"
 * @import { Message } from "./worker.mjs"
 * @typedef {object} Outcome
 * @property {string} subject
 * @property {Values[]} rounds
 * @property {string[]} remarks  what was noticed while preparing
 * @property {string[]} [lastRemarks]  what the last round said of itself
 * @property {string} [failure]
 */

const patienceMs = 240_000;
const workerPath = fileURLToPath(new URL("./worker.mjs", import.meta.url));

/**
 * @param {Benchmark} benchmark
 * @param {{ quick: boolean, unavailable: Map<string, string>, say: (line: string) => void }} options
 * @returns {Promise<Outcome[]>}
 */
export async function runRounds(benchmark, { quick, unavailable, say }) {
  const runners = [];
  const wanted = benchmark.subjects.filter((id) => !quick || !benchmark.slow?.includes(id));
  for (const subject of wanted) {
    const failure = unavailable.get(subject);
    /** @type {Outcome} */
    const outcome = { subject, rounds: [], remarks: [], ...(failure && { failure }) };
    if (failure) {
      runners.push({ outcome, worker: undefined });
      continue;
    }
    say(`${benchmark.id}: preparing ${subject}`);
    const worker = startWorker(benchmark.id, subject, quick);
    take(outcome, await worker.answer());
    runners.push({ outcome, worker });
  }
  const total = quick ? benchmark.rounds.quick : benchmark.rounds.full;
  for (let round = 1; round <= total; round += 1) {
    say(`${benchmark.id}: round ${round} of ${total}`);
    for (const { outcome, worker } of runners) {
      if (outcome.failure || !worker) continue;
      worker.order("round");
      take(outcome, await worker.answer());
    }
  }
  for (const { worker } of runners) worker?.stop();
  return runners.map(({ outcome }) => outcome);
}

/**
 * @param {Report} report @param {{ quick: boolean }} options
 * @returns {Promise<{ rows?: ReportRow[], failure?: string }>}
 */
export async function runReport(report, { quick }) {
  const worker = startWorker(report.id, "-", quick);
  const message = await worker.answer();
  worker.stop();
  if (message.kind === "failed") return { failure: message.reason };
  if (message.kind !== "report" || !message.rows) return { failure: "there is nothing to run" };
  const { rows } = message;
  const missing = report.rows?.filter((expected) => rows.every(({ name }) => name !== expected));
  if (missing?.length) return { rows, failure: `no row ${missing.join(", ")}` };
  return { rows };
}

/** @param {Outcome} outcome @param {Message} message */
function take(outcome, message) {
  if (message.kind === "failed") outcome.failure = message.reason;
  if (message.kind === "ready") outcome.remarks = message.remarks;
  if (message.kind === "round") {
    outcome.rounds.push(message.values);
    outcome.lastRemarks = message.remarks;
  }
}

/** @param {string} benchmark @param {string} subject @param {boolean} quick */
function startWorker(benchmark, subject, quick) {
  const child = fork(workerPath, [benchmark, subject, quick ? "quick" : "full"], {
    execArgv: ["--expose-gc"],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (text) => (stderr = (stderr + text).slice(-2_000)));
  return {
    /** @param {"round"} order */
    order: (order) => void child.send(order),
    stop() {
      // One that has reported and ended by itself needs no word any more.
      if (child.connected) child.send("stop", () => {});
      setTimeout(() => child.kill("SIGKILL"), 2_000).unref();
    },
    /** @returns {Promise<Message>} */
    answer: () =>
      new Promise((resolve) => {
        /** @param {Message} message */
        const settle = (message) => {
          clearTimeout(timer);
          child.off("message", settle).off("exit", gone);
          resolve(message);
        };
        const gone = (/** @type {number | null} */ code) =>
          settle({ kind: "failed", reason: stderr.trim().split("\n").at(-1) || `exit ${code}` });
        const timer = setTimeout(() => {
          child.kill("SIGKILL");
          settle({ kind: "failed", reason: `no answer in ${patienceMs / 1000} s` });
        }, patienceMs);
        child.on("message", settle).on("exit", gone);
      }),
  };
}
