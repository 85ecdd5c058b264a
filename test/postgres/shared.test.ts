import { Client } from "pg";
import { expect, test } from "vitest";
import { usePostgres } from "./shared.ts";

const used: string[] = [];

test.each([1, 2])("a test has an empty database of its own, %s", async () => {
  const url = await usePostgres();
  expect(used).not.toContain(url);
  used.push(url);
  await withClient(url, async (client) => {
    await client.query("create table here (id int)");
  });
});

test("a test may end with connections open", async () => {
  const url = await usePostgres();
  used.push(url);
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  expect(await client.query("select 1 as one")).toMatchObject({ rows: [{ one: 1 }] });
});

test("the databases of ended tests are dropped, on the one server of the run", async () => {
  const url = await usePostgres();
  const servers = [...used, url].map((each) => new URL(each).host);
  expect(new Set(servers).size).toBe(1);
  const { rows } = await withClient(url, (client) =>
    client.query("select datname from pg_database where datname = any($1)", [
      used.map((each) => new URL(each).pathname.slice(1)),
    ]),
  );
  expect(rows).toEqual([]);
});

async function withClient<Result>(
  url: string,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
