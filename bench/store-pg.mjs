// What the benchmarks of PostgreSQL share: a server of their own that waits for the disk, bare clients of it, and processes
// that work on it.

import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { root } from "../scripts/setup.mjs";
import { withHome } from "./store.mjs";

/**
 * @import { Client } from "pg"
 * @import { Store } from "@soong/store"
 *
 * @typedef {object} Database
 * @property {string} url
 * @property {string} home  a directory of its own
 * @property {() => Promise<Client>} connect  a bare client, ended with the database
 * @property {() => Promise<Store>} open  a store on it, likewise
 */

/**
 * Runs `work` with a new database on a new server. fsync is on, as on a server that is meant to keep something.
 *
 * @template T @param {(database: Database) => Promise<T>} work @returns {Promise<T>}
 */
export function withPostgres(work) {
  return withHome(async (home) => {
    const { startPostgres } = await loadServer();
    const server = await startPostgres({ fsync: true });
    /** @type {(() => Promise<unknown>)[]} */
    const closing = [];
    try {
      const url = await server.createDatabase();
      return await work({
        url,
        home,
        async connect() {
          const { Client } = (await import("pg")).default;
          const client = new Client({ connectionString: url });
          await client.connect();
          closing.unshift(() => client.end());
          return client;
        },
        async open() {
          const { openStore } = await import("@soong/store");
          const store = await openStore({ directory: join(home, "postgres"), url });
          closing.unshift(() => store.close());
          return store;
        },
      });
    } finally {
      for (const close of closing) await close();
      await server.stop();
    }
  });
}

/**
 * The one number that a statement answers with.
 *
 * @param {Client} client @param {string} text
 */
export async function askNumber(client, text) {
  /** @type {import("pg").QueryArrayResult<[string]>} */
  const { rows } = await client.query({ text, rowMode: "array" });
  return Number(rows[0]?.[0]);
}

/**
 * The server of the tests is TypeScript, which Node 20 does not run.
 *
 * @returns {Promise<typeof import("../test/postgres/server.ts")>}
 */
async function loadServer() {
  const { build } = await import("esbuild");
  const outfile = join(root, ".cache", "bench", "postgres-server.mjs");
  await build({
    entryPoints: [join(root, "test/postgres/server.ts")],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    logLevel: "error",
  });
  return /** @type {Promise<typeof import("../test/postgres/server.ts")>} */ (
    import(pathToFileURL(outfile).href)
  );
}

/**
 * @template Order, Report
 * @typedef {object} Helper  a process that answers each order with one report, and may send others between
 * @property {(order: Order) => void} send
 * @property {(wanted: (report: Report) => boolean) => Promise<Report>} next  the first such report from now on
 * @property {() => Promise<void>} end
 */

/**
 * Starts a script of this folder, and waits for its first report.
 *
 * @template Order, Report
 * @param {string} script @param {object} settings
 * @returns {Promise<Helper<Order, Report>>}
 */
export async function startHelper(script, settings) {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = fork(path, [JSON.stringify(settings)], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const ended = once(child, "exit");
  await next(() => true);
  return {
    send: (order) => void child.send(/** @type {object} */ (order)),
    next,
    async end() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };

  /** @param {(report: Report) => boolean} wanted @returns {Promise<Report>} */
  function next(wanted) {
    return new Promise((resolve, reject) => {
      const take = (/** @type {Report} */ report) => {
        if (!wanted(report)) return;
        child.off("message", take).off("exit", fail);
        resolve(report);
      };
      const fail = () => reject(new Error(`${script} has ended`));
      child.on("message", take).on("exit", fail);
    });
  }
}

/** Milliseconds by the machine's monotonic clock: comparable between its processes, whatever happens to the time of day. */
export function machineNow() {
  return Number(process.hrtime.bigint()) / 1e6;
}
