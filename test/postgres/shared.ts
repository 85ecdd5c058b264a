// Databases for tests, on the one server of the run (global-setup.ts).

import { once } from "node:events";
import { connect } from "node:net";
import { onTestFinished } from "vitest";
import { createDatabase, dropDatabase } from "./database.ts";
import { skipTest } from "../skip-test.ts";
import { findPostgres } from "./find.ts";

export type SharedPostgres =
  | { readonly url: string }
  | { readonly lacks: string }
  | { readonly error: string };

/** The url of a database of this test's own, dropped when the test ends. After `verifies`. */
export async function usePostgres(): Promise<string> {
  const shared = await askForServer();
  if ("error" in shared) throw new Error(shared.error);
  if ("lacks" in shared) return skipTest(shared.lacks);
  const url = await createDatabase(shared.url);
  onTestFinished(() => dropDatabase(shared.url, url));
  return url;
}

/** For a test that calls `startPostgres` itself. After `verifies`. */
export async function needsPostgres(): Promise<void> {
  const found = await findPostgres();
  if ("problem" in found) skipTest(found.problem);
}

async function askForServer(): Promise<SharedPostgres> {
  const { SOONG_TEST_POSTGRES_PORT: port } = process.env;
  if (port === undefined) throw new Error("usePostgres() needs the set-up of vitest.config.ts.");
  const socket = connect(Number(port), "127.0.0.1").setEncoding("utf8");
  let text = "";
  socket.on("data", (part: string) => {
    text += part;
  });
  await once(socket, "end");
  return JSON.parse(text) as SharedPostgres;
}
