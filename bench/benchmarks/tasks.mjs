// What it costs to give away the steps of a task: one claimed and completed after the other, each a synced transaction,
// against bare SQLite transactions that look at a row and change it.

import { join } from "node:path";
import { paired } from "../paired.mjs";
import { openBare, withHome } from "../store.mjs";

/**
 * @import { TaskStorage } from "@soong/tasks"
 * @import { Contender } from "../paired.mjs"
 * @import { Report, ReportRow } from "./index.mjs"
 */

const STEPS = 2000;
/** A claim, and what became of the step. */
const CHANGES = 2;
const session_id = "bench";

/** @type {Report} */
export const tasks = {
  id: "tasks",
  title: "Steps of a task of 2 000, per step: claimed, started and completed in two transactions",
  report: ({ quick }) =>
    withHome(async (home) => {
      const { openStore } = await import("@soong/store");
      const rounds = quick ? 8 : 25;
      /** One before anything is timed, and none left over. */
      const per = Math.floor(STEPS / (rounds + 1));
      const bare = await bareChanges(join(home, "bare.db"), per);
      const store = await openStore({ directory: join(home, "durable") });
      await store.createSession({ session_id });
      const rows = await paired(
        [
          { name: "bare SQLite", run: async () => bare.run() },
          { name: "durable", run: await worker(store.tasks(), per) },
        ],
        { rounds, unit: "µs", per },
      );
      bare.close();
      await store.close();
      return rows.map(withRate);
    }),
};

/** @param {TaskStorage} storage @param {number} count @returns {Promise<Contender["run"]>} */
async function worker(storage, count) {
  const { createTasks } = await import("@soong/tasks");
  const all = createTasks({ storage });
  const who = { session_id, run_id: "run_1", agent_id: "agent_1" };
  const made = await all.create(
    { actor: { kind: "orchestrator", ...who } },
    {
      title: "Many",
      goal: "All of it.",
      // Forty can be worked on at a time; each of the others waits for two.
      steps: Array.from({ length: STEPS }, (_, i) => ({
        step_id: `s${i}`,
        title: `Step ${i}`,
        instructions: "Do it.",
        depends_on: i < 40 ? [] : [`s${i - 40}`, `s${i - 20}`],
      })),
    },
  );
  const { task_id } = made.task;
  /** @type {import("@soong/tasks").TaskCaller} */
  const caller = { actor: { kind: "worker", ...who, task_id } };
  return async () => {
    for (let i = 0; i < count; i += 1) {
      const claimed = await all.claim(caller, { task_id, start: true });
      if (claimed.kind !== "claimed") throw new Error("there is nothing to claim");
      const { step_id, token } = claimed.claim;
      await all.updateStep(caller, { task_id, step_id, token, status: "completed", summary: "s" });
    }
  };
}

/** @param {string} path @param {number} count */
async function bareChanges(path, count) {
  const database = await openBare(path);
  database.exec("CREATE TABLE steps (id INTEGER PRIMARY KEY, text TEXT NOT NULL)");
  const text = "x".repeat(300);
  database.exec("BEGIN");
  const insert = database.prepare("INSERT INTO steps (text) VALUES (?)");
  for (let i = 0; i < STEPS; i += 1) insert.run(text);
  database.exec("COMMIT");
  const read = database.prepare("SELECT text FROM steps WHERE id = ?");
  const write = database.prepare("UPDATE steps SET text = ? WHERE id = ?");
  let at = 0;
  return {
    run() {
      for (let i = 0; i < count; i += 1) {
        at = (at % STEPS) + 1;
        for (let change = 0; change < CHANGES; change += 1) {
          database.exec("BEGIN IMMEDIATE");
          read.all(at);
          write.run(`${text}${change}`, at);
          database.exec("COMMIT");
        }
      }
    },
    close: () => database.close(),
  };
}

/** @param {ReportRow} row @returns {ReportRow} */
function withRate(row) {
  const rate = `${Math.round(1e6 / Number(row.value))} steps/s`;
  return { ...row, note: [row.note, rate].filter(Boolean).join(", ") };
}
