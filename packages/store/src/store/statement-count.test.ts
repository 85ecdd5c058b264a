// What a turn costs the database does not depend on how long the session is: statements and rows, counted.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { verifies } from "#laws";
import { createKernel, defineTool, type Run } from "@soong/core";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openStore, type Store } from "../index.ts";
import type * as driver from "../sqlite/driver.ts";

interface Counted {
  statements: number;
  rows: number;
}

let home: string;
let store: Store;
const counted: Counted = { statements: 0, rows: 0 };

vi.mock("../sqlite/driver.ts", async (loadDriver) => {
  const actual = await loadDriver<typeof driver>();
  return { ...actual, loadSqlite: async () => countStatements(await actual.loadSqlite()) };
});

function countStatements(open: driver.OpenDatabase): driver.OpenDatabase {
  return (path, options) => {
    const database = open(path, options);
    return {
      close: () => database.close(),
      exec(sql) {
        counted.statements += 1;
        database.exec(sql);
      },
      prepare(sql) {
        const statement = database.prepare(sql);
        return {
          run(...values) {
            counted.statements += 1;
            const done = statement.run(...values);
            counted.rows += Number(done.changes);
            return done;
          },
          get(...values) {
            counted.statements += 1;
            return statement.get(...values);
          },
          all(...values) {
            counted.statements += 1;
            return statement.all(...values);
          },
        };
      },
    };
  };
}

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "soong-count-"));
});

afterEach(async () => {
  await store.close();
  await rm(home, { recursive: true, force: true });
});

test.each([
  ["reads", "test.read", 1],
  ["writes", "test.write", 2],
] as const)(
  "a turn that %s costs the same, however many came before",
  async (_what, tool, commits) => {
    verifies("STORE-1", "EVENT-1");
    const run = await startRun();
    const turn = async (): Promise<Counted> => {
      const { statements, rows } = counted;
      const [result] = await run.execute([{ name: tool, arguments: "{}" }]);
      expect(result?.status).toBe("succeeded");
      return { statements: counted.statements - statements, rows: counted.rows - rows };
    };
    await turn();
    const early = await leastOf(5, turn);
    for (let i = 0; i < 300; i += 1) await turn();
    expect(await leastOf(5, turn)).toEqual(early);
    // Seven facts, the node of the result and the call; the session once a commit.
    expect(early.rows).toBe(9 + commits);
  },
);

/** A busy machine may commit a turn in two steps, because it took too long. */
async function leastOf(turns: number, turn: () => Promise<Counted>): Promise<Counted> {
  const all: Counted[] = [];
  for (let i = 0; i < turns; i += 1) all.push(await turn());
  return all.reduce((least, one) => (one.statements < least.statements ? one : least));
}

async function startRun(): Promise<Run> {
  store = await openStore({ directory: home });
  const opened = await store.createSession();
  const kernel = createKernel({
    tools: (["read", "write"] as const).map((name) =>
      defineTool({
        name: `test.${name}`,
        description: "Does nothing.",
        input_schema: { type: "object", properties: {} },
        permission: name === "read" ? "readonly" : "write",
        concurrency_safe: name === "read",
        handler: async () => "done",
      }),
    ),
  });
  const session = await kernel.openSession({
    ...opened,
    policy: { rules: [{ tool: "test.*", decision: "allow" }] },
  });
  const run = await session.startRun();
  await opened.journal.flush();
  return run;
}
