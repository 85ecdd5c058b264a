// Claims of many processes on one PostgreSQL, against bare transactions that lock a row others skip, and change it.

import { join } from "node:path";
import { paired } from "../paired.mjs";
import { startHelper, withPostgres } from "../store-pg.mjs";

/**
 * @import { Tasks } from "@soong/tasks"
 * @import { Client } from "pg"
 * @import { Order } from "../store-pg-claimer.mjs"
 * @import { Contender } from "../paired.mjs"
 * @import { Helper } from "../store-pg.mjs"
 * @import { Report, ReportRow } from "./index.mjs"
 */

const session_id = "bench";
const MOST = 16;
/** Of a round, all claimers together. */
const CLAIMS = 160;

/** @type {Report} */
export const storePgClaims = {
  id: "store-pg-claims",
  title: "Claims on PostgreSQL by processes of their own, per claim, all of them together",
  report: ({ quick }) =>
    withPostgres(async ({ home, url, connect, open }) => {
      const { createTasks } = await import("@soong/tasks");
      const client = await connect();
      const store = await open();
      await store.createSession({ session_id });
      await createBareTable(client);
      const tasks = createTasks({ storage: store.tasks() });
      /** @type {Claimer[]} */
      const claimers = [];
      for (let number = 0; number < MOST; number += 1) {
        const directory = join(home, `claimer-${number}`);
        const settings = { url, directory, session_id, number };
        claimers.push(await startHelper("./store-pg-claimer.mjs", settings));
      }
      /** @type {ReportRow[]} */
      const rows = [];
      for (const [count, isShared] of SHAPES) {
        const some = claimers.slice(0, count);
        const contenders = [
          bareContender(client, some, isShared),
          soongContender(tasks, some, isShared),
        ];
        const options = { rounds: quick ? 3 : 6, unit: /** @type {const} */ ("µs"), per: CLAIMS };
        rows.push(...(await paired(contenders, options)));
      }
      for (const claimer of claimers) await claimer.end();
      return rows.map(withRate);
    }),
};

/** How many claimers, and whether they claim from one task. @type {[number, boolean][]} */
const SHAPES = [
  [1, true],
  [4, true],
  [16, true],
  [16, false],
];

/** @typedef {Helper<Order, "ready" | "done">} Claimer */

/** @param {Client} client */
async function createBareTable(client) {
  await client.query(`CREATE TABLE bare_steps (step_no bigserial PRIMARY KEY, task_id text NOT NULL,
    status text NOT NULL, run_id text, lease_until timestamptz, state text NOT NULL)`);
  await client.query("CREATE INDEX ON bare_steps (task_id, status, step_no)");
}

/** @param {Client} client @param {Claimer[]} claimers @param {boolean} isShared @returns {Contender} */
function bareContender(client, claimers, isShared) {
  return {
    name: `bare FOR UPDATE SKIP LOCKED and UPDATE, ${describe(claimers, isShared)}`,
    time: () =>
      claimAll("bare", claimers, isShared, async (task_id, count) => {
        const text = `INSERT INTO bare_steps (task_id, status, state)
          SELECT $1, 'ready', repeat('x', 300) FROM generate_series(1, $2)`;
        await client.query(text, [task_id, count]);
        return task_id;
      }),
  };
}

/** @param {Tasks} tasks @param {Claimer[]} claimers @param {boolean} isShared @returns {Contender} */
function soongContender(tasks, claimers, isShared) {
  const who = { session_id, run_id: "run_1", agent_id: "agent_1" };
  return {
    name: `claims of a task, ${describe(claimers, isShared)}`,
    time: () =>
      claimAll("soong", claimers, isShared, async (title, count) => {
        const steps = Array.from({ length: count }, (_, i) => ({
          step_id: `s${i}`,
          title: `Step ${i}`,
          instructions: "Do it.",
        }));
        const plan = { title, goal: "All of it.", steps };
        const { task } = await tasks.create({ actor: { kind: "orchestrator", ...who } }, plan);
        return task.task_id;
      }),
  };
}

/** @param {Claimer[]} claimers @param {boolean} isShared */
function describe({ length }, isShared) {
  const claimers = `${length} claimer${length === 1 ? "" : "s"}`;
  return isShared ? claimers : `${claimers}, a task each`;
}

let made = 0;

/**
 * Milliseconds from the order to the last claim. Making the steps does not count.
 *
 * @param {Order["how"]} how @param {Claimer[]} claimers @param {boolean} isShared
 * @param {(name: string, steps: number) => Promise<string>} make  the id of a task with so many ready steps
 */
async function claimAll(how, claimers, isShared, make) {
  const count = CLAIMS / claimers.length;
  /** @type {string[]} */
  const ids = [];
  for (let i = 0; i < (isShared ? 1 : claimers.length); i += 1) {
    made += 1;
    ids.push(await make(`task ${made}`, isShared ? CLAIMS : count));
  }
  const begun = performance.now();
  await Promise.all(
    claimers.map((claimer, index) => {
      claimer.send({ how, task_id: ids[index % ids.length] ?? "", count });
      return claimer.next((report) => report === "done");
    }),
  );
  return performance.now() - begun;
}

/** @param {ReportRow} row @returns {ReportRow} */
function withRate(row) {
  const rate = `${Math.round(1e6 / Number(row.value))} claims/s`;
  return { ...row, note: [row.note, rate].filter(Boolean).join(", ") };
}
