// A session of a million facts: opened and paged by index, not by load; and what the command takes with it in the home.

import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { withCommand } from "../command.mjs";
import { playRun } from "../loop.mjs";
import { paired } from "../paired.mjs";

/**
 * @import { Fact, FactType } from "@soong/core"
 * @import { Command } from "../command.mjs"
 * @import { Report, ReportRow } from "./index.mjs"
 */

const LISTED = "soong sessions";
const FIRST_EVENT = "soong events, the first fact of a run of half of them";
const RESUMED = "soong resume, one turn";

/** @type {Report} */
export const storePaging = {
  id: "store-paging",
  title: "A session of 1 000 000 facts (quick: 100 000), opened by a new process",
  rows: [LISTED, FIRST_EVENT, RESUMED],
  report: ({ quick }) =>
    withCommand(async (command) => {
      const { home } = command;
      const facts = quick ? 100_000 : 1_000_000;
      const begun = performance.now();
      await build(home, facts, facts / 2);
      const seconds = (performance.now() - begun) / 1000;
      return [
        {
          name: `appending ${facts.toLocaleString("en").replaceAll(",", " ")} facts`,
          value: (1e6 * seconds) / facts,
          unit: "µs per fact",
          note: `${seconds.toFixed(0)} s, in transactions of 4 MB, run folders included`,
        },
        ...(await paged(home, facts)),
        ...(await commanded(command, quick)),
      ];
    }),
};

/** What the command takes with such a session. @param {Command} command @param {boolean} quick */
async function commanded({ home, project, node, soong, firstLine }, quick) {
  await converseIn(home);
  await writeFile(join(project, "s.yaml"), "turns:\n  - text: Done.\n");
  return paired(
    [
      { name: "node -e 0", run: () => node("-e", "0") },
      {
        name: LISTED,
        async run() {
          if (!(await soong("sessions")).includes("big")) throw new Error("it is not listed");
        },
      },
      { name: FIRST_EVENT, time: () => firstLine("events", LONG_RUN, "--json") },
      { name: RESUMED, run: () => soong("resume", "big", "Go on.", "--model", "script:s.yaml") },
    ],
    { rounds: quick ? 2 : 5, unit: "ms" },
  );
}

/** A run of the loop at the end of the session, to continue from. @param {string} home */
async function converseIn(home) {
  const { openStore } = await import("@soong/store");
  const store = await openStore({ directory: home });
  await playRun({ turns: [{ text: "Done." }] }, await store.openSession("big"));
  await store.close();
}

const FACTS_OF_A_RUN = 1000;
const LONG_RUN = "run_long";
const CALL = /** @type {FactType[]} */ ([
  "tool.requested",
  "tool.validated",
  "permission.evaluated",
  "tool.queued",
  "tool.started",
  "tool.completed",
  "tool.yielded",
]);

/**
 * Runs of a thousand facts, calls of seven, and one long run at the end.
 * @param {string} home @param {number} facts @param {number} [ofLongRun]  its facts
 */
export async function build(home, facts, ofLongRun = 0) {
  const { openStore } = await import("@soong/store");
  const store = await openStore({ directory: home });
  const { journal, session_id } = await store.createSession({ session_id: "big" });
  const runs = (facts - ofLongRun) / FACTS_OF_A_RUN;
  const each = Array.from({ length: runs }, (_, run) => ({
    run_id: `run_${run}`,
    length: FACTS_OF_A_RUN,
  }));
  let seq = 0;
  for (const { run_id, length } of [...each, { run_id: LONG_RUN, length: ofLongRun }]) {
    /** @type {Fact[]} */
    let entry = [];
    for (let of = 0; of < length; of += 1) {
      seq += 1;
      entry.push(factOf({ session_id, run_id, type: typeOf(of, length), of, seq }));
      if (entry.length < FACTS_OF_A_RUN) continue;
      journal.append({ facts: entry });
      entry = [];
      // A disk that is behind must not find all of them waiting.
      if (seq % 10_000 === 0) await journal.flush();
    }
  }
  await store.close();
}

/** @param {{ session_id: string, run_id: string, type: FactType, of: number, seq: number }} place @returns {Fact} */
function factOf({ session_id, run_id, type, of, seq }) {
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
    run_id,
    agent_id: "agent_1",
    ...(type.startsWith("run.") ? {} : { tool_call_id: `call_${call}`, tool_name: "bench.read" }),
    data: { index: of, path: `src/file-${of}.ts`, text: "x".repeat(200) },
  });
}

/** @param {number} of @param {number} length  of the run @returns {FactType} */
function typeOf(of, length) {
  if (of === 0) return "run.started";
  if (of === length - 1) return "run.completed";
  // What is left of a run after its last whole call.
  const isWhole = of + CALL.length - ((of - 1) % CALL.length) <= length - 1;
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
