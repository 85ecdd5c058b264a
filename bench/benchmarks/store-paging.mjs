// A session of a million facts: opened and paged by index, not by load.

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { withHome } from "../store.mjs";

/**
 * @import { Fact, FactType } from "@soong/core"
 * @import { Report, ReportRow } from "./index.mjs"
 */

/** @type {Report} */
export const storePaging = {
  id: "store-paging",
  title: "A session of 1 000 000 facts (quick: 100 000), opened by a new process",
  report: ({ quick }) =>
    withHome(async (home) => {
      const facts = quick ? 100_000 : 1_000_000;
      const begun = performance.now();
      await build(home, facts);
      const seconds = (performance.now() - begun) / 1000;
      return [
        {
          name: `appending ${facts.toLocaleString("en").replaceAll(",", " ")} facts`,
          value: (1e6 * seconds) / facts,
          unit: "µs per fact",
          note: `${seconds.toFixed(0)} s, in transactions of 4 MB, run folders included`,
        },
        ...(await paged(home, facts)),
      ];
    }),
};

const FACTS_OF_A_RUN = 1000;
const CALL = /** @type {FactType[]} */ ([
  "tool.requested",
  "tool.validated",
  "permission.evaluated",
  "tool.queued",
  "tool.started",
  "tool.completed",
  "tool.yielded",
]);

/** Runs of a thousand facts, calls of seven. @param {string} home @param {number} facts */
export async function build(home, facts) {
  const { openStore } = await import("@soong/store");
  const store = await openStore({ directory: home });
  const { journal, session_id } = await store.createSession({ session_id: "big" });
  let seq = 0;
  while (seq < facts) {
    const run = Math.floor(seq / FACTS_OF_A_RUN);
    /** @type {Fact[]} */
    const entry = [];
    for (let of = 0; of < FACTS_OF_A_RUN; of += 1) {
      seq += 1;
      entry.push(factOf({ session_id, run, of, seq }));
    }
    journal.append({ facts: entry });
    // A disk that is behind must not find all of them waiting.
    if (run % 10 === 9) await journal.flush();
  }
  await store.close();
}

/** @param {{ session_id: string, run: number, of: number, seq: number }} place @returns {Fact} */
function factOf({ session_id, run, of, seq }) {
  const type = typeOf(of);
  const call = Math.floor((of - 1) / CALL.length);
  // Of the size of real facts; the store does not read their data.
  return /** @type {Fact} */ ({
    id: `f${seq}`,
    seq,
    run_seq: of + 1,
    type,
    time: new Date(1_700_000_000_000 + seq).toISOString(),
    level: "info",
    session_id,
    run_id: `run_${run}`,
    agent_id: "agent_1",
    ...(type.startsWith("run.") ? {} : { tool_call_id: `call_${call}`, tool_name: "bench.read" }),
    data: { index: of, path: `src/file-${of}.ts`, text: "x".repeat(200) },
  });
}

/** @param {number} of @returns {FactType} */
function typeOf(of) {
  if (of === 0) return "run.started";
  if (of === FACTS_OF_A_RUN - 1) return "run.completed";
  // What is left of a run after its last whole call.
  const isWhole = of + CALL.length - ((of - 1) % CALL.length) <= FACTS_OF_A_RUN - 1;
  return (isWhole ? CALL[(of - 1) % CALL.length] : "tool.progress") ?? "tool.progress";
}

/**
 * In a process of its own, whose peak is that of reading alone.
 *
 * @param {string} home @param {number} facts
 * @returns {Promise<ReportRow[]>}
 */
function paged(home, facts) {
  const script = fileURLToPath(new URL("../store-pages.mjs", import.meta.url));
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, home, String(facts)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let printed = "";
    child.stdout.setEncoding("utf8").on("data", (text) => (printed += text));
    child.on("error", reject);
    child.on("close", () => resolve(/** @type {ReportRow[]} */ (JSON.parse(printed))));
  });
}
