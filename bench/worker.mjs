// One subject of one benchmark in a process of its own, so that heaps and compiled code do not mix.
// Says when it is ready, then runs a round each time it is told to.

import { benchmarks } from "./benchmarks/index.mjs";
import { subjects } from "./subjects/index.mjs";

/**
 * @import { ReportRow, Values } from "./benchmarks/index.mjs"
 * @typedef {{ kind: "ready", remarks: string[] }
 *   | { kind: "round", values: Values, remarks: string[] }
 *   | { kind: "report", rows: ReportRow[] | undefined }
 *   | { kind: "failed", reason: string }} Message
 */

const [benchmarkId, subjectId, pace] = process.argv.slice(2);
const options = { quick: pace === "quick" };

process.on("uncaughtException", fail);
process.on("unhandledRejection", fail);
await main().catch(fail);

async function main() {
  const benchmark = benchmarks.find(({ id }) => id === benchmarkId);
  if (!benchmark) throw new Error(`no benchmark ${benchmarkId}`);
  if ("report" in benchmark) return say({ kind: "report", rows: await benchmark.report(options) });
  const entry = subjects[subjectId ?? ""];
  if (!entry) throw new Error(`no subject ${subjectId}`);
  const { remarks, round, close } = await benchmark.prepare(await entry.load(), options);
  /** @param {"round" | "stop"} order */
  const obey = async (order) => {
    if (order === "round") {
      const { values, remarks = [] } = await round();
      return say({ kind: "round", values, remarks });
    }
    await close?.();
    process.exit();
  };
  process.on("message", (/** @type {"round" | "stop"} */ order) => void obey(order).catch(fail));
  say({ kind: "ready", remarks });
}

/** @param {Message} message */
function say(message) {
  process.send?.(message);
}

/** @param {unknown} error */
function fail(error) {
  const reason = error instanceof Error ? error.message : String(error);
  say({ kind: "failed", reason: reason.split("\n")[0] ?? "" });
  setImmediate(() => process.exit(1));
}
