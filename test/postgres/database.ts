// Databases on a running server, each for one test.

import { randomBytes } from "node:crypto";
import { Client } from "pg";

/** A fresh empty database; its url. */
export async function createDatabase(serverUrl: string): Promise<string> {
  const name = `test_${randomBytes(8).toString("hex")}`;
  await runOn(serverUrl, `create database ${name} template template0`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** Also with connections to it open. */
export async function dropDatabase(serverUrl: string, databaseUrl: string): Promise<void> {
  const name = new URL(databaseUrl).pathname.slice(1);
  await runOn(serverUrl, `drop database if exists ${name} with (force)`);
}

async function runOn(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
