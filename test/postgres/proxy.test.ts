import { Client } from "pg";
import { expect, onTestFinished, test, vi } from "vitest";
import { startProxy, type Proxy } from "./proxy.ts";
import { usePostgres } from "./shared.ts";

test("a client works by way of the proxy", async () => {
  const { proxy } = await useProxy();
  const client = await connect(proxy.url);
  expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
});

test("what is sent into a hole arrives when it is healed", async () => {
  const { proxy, direct } = await useProxy();
  await direct.query("create table arrived (id int)");
  const client = await connect(proxy.url);
  proxy.hole();
  const answered = vi.fn();
  const insert = client.query("insert into arrived values (1)").then(answered);
  await passTime(direct);
  expect((await direct.query("select id from arrived")).rows).toEqual([]);
  expect(answered).not.toHaveBeenCalled();
  proxy.heal();
  await insert;
  expect((await direct.query("select id from arrived")).rows).toEqual([{ id: 1 }]);
});

test("replies do not pass a hole either", async () => {
  const { proxy, direct } = await useProxy();
  const client = await connect(proxy.url);
  await direct.query("select pg_advisory_lock(1)");
  const answered = vi.fn();
  const locked = client.query("select pg_advisory_lock(1)").then(answered);
  await waitForRow(direct, "select 1 from pg_locks where not granted");
  proxy.hole();
  await direct.query("select pg_advisory_unlock(1)");
  await passTime(direct);
  expect(answered).not.toHaveBeenCalled();
  proxy.heal();
  await locked;
});

test("the server does not see a client go away in a hole", async () => {
  const { proxy, direct } = await useProxy();
  const client = await connect(proxy.url);
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  const backend = `select 1 from pg_stat_activity where pid = ${rows[0]!.pid}`;
  proxy.hole();
  const ended = client.end();
  await passTime(direct);
  expect((await direct.query(backend)).rowCount).toBe(1);
  proxy.heal();
  await ended;
  await vi.waitFor(async () => expect((await direct.query(backend)).rowCount).toBe(0), WAIT);
});

test("a connection made in a hole gets no reply until it is healed", async () => {
  const { proxy, direct } = await useProxy();
  proxy.hole();
  const connected = vi.fn();
  const connecting = connect(proxy.url).then(connected);
  await passTime(direct);
  expect(connected).not.toHaveBeenCalled();
  proxy.heal();
  await connecting;
});

test("a reset ends all connections, and new ones are refused until it is healed", async () => {
  const { proxy } = await useProxy();
  const clients = [await connect(proxy.url), await connect(proxy.url)];
  const lost = clients.map(
    (client) =>
      new Promise((resolve) => {
        client.once("error", resolve);
      }),
  );
  proxy.reset();
  for (const error of await Promise.all(lost)) expect(error).toMatchObject({ code: "ECONNRESET" });
  await expect(connect(proxy.url)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  proxy.heal();
  await connect(proxy.url);
});

test("no byte is lost or changed by holes in the middle of a long reply", async () => {
  const { proxy } = await useProxy();
  const client = await connect(proxy.url);
  const long = "select string_agg(md5(i::text), '') as text from generate_series(1, 300000) as i";
  const reply = client.query<{ text: string }>(long);
  const over = new AbortController();
  const holes = digHoles(proxy, over.signal);
  const text = (await reply).rows[0]!.text;
  over.abort();
  expect(await holes).toBeGreaterThan(0);
  const { rows } = await client.query(`select text = $1 as same from (${long}) as again`, [text]);
  expect(rows).toEqual([{ same: true }]);
});

/** Until the signal; how many. */
async function digHoles(proxy: Proxy, signal: AbortSignal): Promise<number> {
  for (let count = 0; ; count += 1) {
    if (signal.aborted) return count;
    proxy.hole();
    await new Promise(setImmediate);
    proxy.heal();
    await new Promise(setImmediate);
  }
}

const WAIT = { timeout: 30_000, interval: 20 };

async function useProxy(): Promise<{ proxy: Proxy; direct: Client }> {
  const url = await usePostgres();
  const proxy = await startProxy(url);
  onTestFinished(() => proxy.close());
  return { proxy, direct: await connect(url) };
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  // It ends with the proxy or the database at the latest.
  client.on("error", () => {});
  await client.connect();
  return client;
}

/** So many round trips that anything the proxy lets through has arrived. */
async function passTime(direct: Client): Promise<void> {
  for (let trips = 0; trips < 100; trips += 1) await direct.query("select 1");
}

async function waitForRow(client: Client, statement: string): Promise<void> {
  await vi.waitFor(async () => expect((await client.query(statement)).rowCount).toBe(1), WAIT);
}
