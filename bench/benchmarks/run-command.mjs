// Starting a command that does nothing: code.run_command, with its plan, policy, marker, watchdog and facts,
// against a bare spawn. And what a gigabyte of output costs in memory.

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { run, withHands } from "../hands.mjs";
import { paired } from "../paired.mjs";

/** @import { Report, ReportRow } from "./index.mjs" */

/** @type {Report} */
export const runCommand = {
  id: "run-command",
  title: "A command that does nothing; a gigabyte of output (quick: 100 MB)",
  async report({ quick }) {
    const rows = await withHands(({ project, call }) =>
      paired(
        [
          { name: "bare spawn", run: () => many(() => run("/bin/true", [], project)) },
          {
            name: "code.run_command",
            run: () => many(() => call("code.run_command", { argv: ["true"] })),
          },
        ],
        { rounds: quick ? 5 : 15, unit: "ms", per: MANY },
      ),
    );
    const megabytes = quick ? 100 : 1000;
    return [...rows, ...(await memoryOfOutput(megabytes))];
  },
};

export const MANY = 20;

/** @param {() => Promise<unknown>} work */
export async function many(work) {
  for (let i = 0; i < MANY; i += 1) await work();
}

/**
 * In a process of its own, whose peak is that of this alone.
 *
 * @param {number} megabytes @param {"sandboxed"} [how]
 * @returns {Promise<ReportRow[]>}
 */
export function memoryOfOutput(megabytes, how) {
  const script = fileURLToPath(new URL("../output-memory.mjs", import.meta.url));
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, String(megabytes), how ?? ""], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let printed = "";
    child.stdout.setEncoding("utf8").on("data", (text) => (printed += text));
    child.on("error", reject);
    child.on("close", () => resolve(/** @type {ReportRow[]} */ (JSON.parse(printed))));
  });
}
