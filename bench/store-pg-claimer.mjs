// A process that claims steps when it is asked to: with the tasks of a store, or with bare statements.

import { createTasks } from "@soong/tasks";
import { openStore } from "@soong/store";
import pg from "pg";

/**
 * @typedef {{ url: string, directory: string, session_id: string, number: number }} Settings
 * @typedef {{ how: "soong" | "bare", task_id: string, count: number }} Order
 */

const { url, directory, session_id, number } = /** @type {Settings} */ (
  JSON.parse(process.argv[2] ?? "")
);
const store = await openStore({ directory, url });
const tasks = createTasks({ storage: store.tasks() });
const client = new pg.Client({ connectionString: url });
await client.connect();
let claims = 0;

process.on("message", (/** @type {Order} */ order) => void obey(order));
process.on("disconnect", () => void Promise.all([store.close(), client.end()]));
process.send?.("ready");

/** @param {Order} order */
async function obey({ how, task_id, count }) {
  const claim = how === "soong" ? claimStep : claimBare;
  for (let i = 0; i < count; i += 1) {
    claims += 1;
    // One claim a run.
    await claim(task_id, `run_${number}_${claims}`);
  }
  process.send?.("done");
}

/** @param {string} task_id @param {string} run_id */
async function claimStep(task_id, run_id) {
  const actor = /** @type {const} */ ({ kind: "worker", session_id, agent_id: "agent_1" });
  const caller = { actor: { ...actor, run_id, task_id } };
  const { kind } = await tasks.claim(caller, { task_id, start: true });
  if (kind !== "claimed") throw new Error("there is nothing to claim");
}

/** @param {string} task_id @param {string} run_id */
async function claimBare(task_id, run_id) {
  await client.query("BEGIN");
  /** @type {import("pg").QueryResult<{ step_no: string }>} */
  const { rows } = await client.query({
    name: "find",
    text: `SELECT step_no FROM bare_steps WHERE task_id = $1 AND status = 'ready'
      ORDER BY step_no LIMIT 1 FOR UPDATE SKIP LOCKED`,
    values: [task_id],
  });
  await client.query({
    name: "claim",
    text: `UPDATE bare_steps SET status = 'running', run_id = $2,
      lease_until = clock_timestamp() + interval '1 minute' WHERE step_no = $1`,
    values: [rows[0]?.step_no, run_id],
  });
  await client.query("COMMIT");
}
