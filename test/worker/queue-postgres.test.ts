// The job queue on PostgreSQL: what every engine does, and what only this one can meet.

import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { verifies } from "#laws";
import { startPostgres } from "../postgres/server.ts";
import { needsPostgres, usePostgres } from "../postgres/shared.ts";
import { describeJobQueue } from "./queue-conformance.ts";
import {
  drop,
  newPool,
  openQueue,
  recordJobs,
  WAIT,
  waitForCount,
  waitForIds,
} from "./queue-stage.ts";

describe("the job queue on PostgreSQL", () => {
  describeJobQueue(usePostgres);
});

test("tables that are dropped under a worker are created again, and it continues", async () => {
  const url = await usePostgres();
  const queue = await openQueue(url);
  const pool = newPool();
  const handler = recordJobs();
  await queue.take(pool, { concurrency: 1, handle: handler.handle });
  await queue.add(pool, { id: "before", data: {} });
  await waitForIds(handler, ["before"]);
  const database = await connect(url);
  await drop(database, "schema bullmq");
  await queue.add(pool, { id: "after", data: {} });
  await waitForIds(handler, ["before", "after"]);
  // A worker alone creates them, too.
  await drop(database, "schema bullmq");
  await vi.waitFor(async () => expect(await tables(database)).toContain("job"), WAIT);
  await waitForCount(queue, pool, { waiting: 0, active: 0 });
});

test("a single dropped table is reported with what to do, and asked for once a second", async () => {
  const url = await usePostgres();
  const queue = await openQueue(url);
  const pool = newPool();
  const handler = recordJobs();
  await queue.take(pool, { concurrency: 1, handle: handler.handle });
  const database = await connect(url);
  await drop(database, "table bullmq.job");
  await expect(queue.add(pool, { id: "1", data: {} })).rejects.toMatchObject({
    code: "queue_failed",
    message: expect.stringContaining("Run `drop schema bullmq cascade`") as string,
  });
  const [before, start] = [await countTransactions(database), performance.now()];
  await delay(3000);
  const made = (await countTransactions(database)) - before;
  expect(made / ((performance.now() - start) / 1000)).toBeLessThan(20);
  await drop(database, "schema bullmq");
  await queue.add(pool, { id: "1", data: {} });
  await waitForIds(handler, ["1"]);
});

test("a worker continues after the server was away or has crashed", async () => {
  verifies("DIST-1");
  await needsPostgres();
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const queue = await openQueue(await server.createDatabase());
  onTestFinished(() => queue.close());
  const pool = newPool();
  const handler = recordJobs();
  await queue.take(pool, { concurrency: 1, handle: handler.handle });
  await server.pause();
  await expect(queue.add(pool, { id: "away", data: {} })).rejects.toMatchObject({
    code: "queue_failed",
    message: expect.stringContaining("ECONNREFUSED") as string,
  });
  await server.resume();
  await queue.add(pool, { id: "back", data: {} });
  await waitForIds(handler, ["back"]);
  await waitForCount(queue, pool, { waiting: 0, active: 0 });
  await server.restart("immediate");
  await vi.waitFor(() => queue.add(pool, { id: "restarted", data: {} }), WAIT);
  await waitForIds(handler, ["back", "restarted"]);
});

// It takes ten seconds, in which nothing happens.
test.runIf(process.env["SOONG_TEST_FULL"] === "1")(
  "an idle worker keeps two connections, and makes at most five transactions a second",
  async () => {
    const url = await usePostgres();
    const queue = await openQueue(url);
    const pool = newPool();
    const handler = recordJobs();
    await queue.take(pool, { concurrency: 4, handle: handler.handle });
    await queue.add(pool, { id: "1", data: {} });
    await waitForIds(handler, ["1"]);
    const database = await connect(url);
    await vi.waitFor(async () => expect(await countConnections(database)).toBe(2), WAIT);
    const [before, start] = [await countTransactions(database), performance.now()];
    // What is counted is what happens in this time.
    await delay(8000);
    const made = (await countTransactions(database)) - before;
    expect(made / ((performance.now() - start) / 1000)).toBeLessThan(5);
    expect(made).toBeGreaterThan(0);
    expect(await countConnections(database)).toBe(2);
  },
);

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

async function tables(client: Client): Promise<string[]> {
  const statement = "select tablename from pg_tables where schemaname = 'bullmq'";
  const { rows } = await client.query<{ tablename: string }>(statement);
  return rows.map(({ tablename }) => tablename);
}

async function countConnections(client: Client): Promise<number> {
  const { rowCount } = await client.query(
    "select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'",
  );
  return rowCount ?? 0;
}

async function countTransactions(client: Client): Promise<number> {
  const { rows } = await client.query<{ count: string }>(
    "select xact_commit + xact_rollback as count from pg_stat_database where datname = current_database()",
  );
  return Number(rows[0]?.count);
}
