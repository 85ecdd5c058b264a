import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { Client } from "pg";
import { expect, onTestFinished, test, vi } from "vitest";
import {
  findPostgres,
  startPostgres,
  type PostgresOptions,
  type PostgresServer,
} from "./server.ts";
import { needsPostgres } from "./shared.ts";

test.for(["installed", "npm"])(
  "a server keeps over restarts what was committed, and leaves nothing when stopped: %s",
  async (source, { skip }) => {
    vi.stubEnv("SOONG_TEST_POSTGRES", source);
    onTestFinished(() => void vi.unstubAllEnvs());
    // One of the two is enough: usePostgres() and find.test.ts fail where a build server has none.
    const found = await findPostgres();
    if ("problem" in found) skip(`needs ${found.problem}`);
    const server = await startOwn();
    const url = await server.createDatabase();
    expect(await show(url, "fsync")).toBe("on");
    await query(url, "create table kept as select 1 as id");
    for (const mode of ["fast", "immediate"] as const) {
      const { lost } = await watchConnection(url);
      await server.restart(mode);
      await lost;
      expect(await query(url, "select id from kept")).toEqual([{ id: 1 }]);
    }
    const folder = dirname(await show(url, "data_directory"));
    expect(existsSync(folder)).toBe(true);
    await server.stop();
    expect(existsSync(folder)).toBe(false);
    await expect(query(url, "select 1")).rejects.toMatchObject({ code: "ECONNREFUSED" });
  },
);

test("a server has its settings, and a database for each who asks", async () => {
  const server = await startOwn({ fsync: false, settings: { work_mem: "7MB" } });
  const [one, other] = [await server.createDatabase(), await server.createDatabase()];
  await query(one, "create table here (id int)");
  expect(await query(other, "select 1 from pg_tables where tablename = 'here'")).toEqual([]);
  expect(
    await query(one, "select datcollate from pg_database where datname = current_database()"),
  ).toEqual([{ datcollate: "C" }]);
  const settings = ["work_mem", "fsync", "server_encoding", "max_connections", "listen_addresses"];
  expect(await Promise.all(settings.map((name) => show(one, name)))).toEqual([
    "7MB",
    "off",
    "UTF8",
    "200",
    "127.0.0.1",
  ]);
});

test("a server without fsync refuses a wrong password, survives a crash and is away between pause and resume", async () => {
  const server = await startOwn({ fsync: false });
  const url = new URL(server.url);
  url.password = "wrong";
  await expect(query(url.href, "select 1")).rejects.toThrow("password authentication failed");
  await query(server.url, "create table kept as select 1 as id");
  await server.restart("immediate");
  expect(await query(server.url, "select id from kept")).toEqual([{ id: 1 }]);
  await server.pause();
  await expect(query(server.url, "select 1")).rejects.toMatchObject({ code: "ECONNREFUSED" });
  await server.resume();
  expect(await query(server.url, "select 1 as one")).toEqual([{ one: 1 }]);
});

test("a setting that PostgreSQL does not know is reported with its log", async () => {
  await needsPostgres();
  const settings = { max_conections: "5" };
  await expect(startPostgres({ fsync: false, settings })).rejects.toThrow(
    /PostgreSQL did not start[^]*unrecognized configuration parameter "max_conections"/,
  );
});

async function startOwn(options?: PostgresOptions): Promise<PostgresServer> {
  await needsPostgres();
  const server = await startPostgres(options);
  onTestFinished(() => server.stop());
  return server;
}

async function watchConnection(url: string): Promise<{ lost: Promise<void> }> {
  const client = await connect(url);
  return {
    lost: new Promise((resolve) => {
      client.on("error", () => resolve());
    }),
  };
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}

async function query(url: string, statement: string): Promise<unknown[]> {
  const client = await connect(url);
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}

async function show(url: string, setting: string): Promise<string> {
  const [row] = await query(url, `select current_setting('${setting}') as value`);
  return (row as { value: string }).value;
}
