// A process with a store, for tests: `node store-runtime.mjs DEED JSON` does one deed and tells of it in
// lines of JSON; a deed that waits continues with the next line it is given.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { isMainThread, parentPort, workerData, Worker } from "node:worker_threads";

import { ToolFailure } from "@soong/core";
import { kernelOn } from "../../packages/store/conformance/kernel-run.ts";
import { createFactWriter } from "../../packages/store/conformance/fact-writer.ts";
import { loadSqlite, type Database } from "../../packages/store/src/sqlite/driver.ts";
import { migrate } from "../../packages/store/src/sqlite/migrate.ts";
import type { Migration } from "../../packages/store/src/sqlite/migrations.ts";
import { openStore, type StoreOptions } from "../../packages/store/src/open/open-store.ts";

/** What a deed is told; each takes what it needs. */
interface About {
  readonly directory: string;
  readonly session_id: string;
  readonly options: Partial<StoreOptions>;
  readonly child: boolean;
  readonly entries: number;
  readonly tool: string;
  readonly until: readonly string[];
  readonly most: number;
  readonly path: string;
  readonly migrations: readonly Migration[];
  readonly dieAt?: number;
  readonly beside?: boolean;
  readonly forMs?: number;
}

const given = isMainThread ? process.argv.slice(2) : (workerData as string[]);
const [deed = "", text = "{}"] = given;
const about = JSON.parse(text) as About;
const { directory, session_id } = about;

const deeds: Readonly<Record<string, () => Promise<void>>> = {
  /** Two sessions, one of them long, all of it in the database itself or, if so told, beside it. */
  async seed() {
    const store = await openStore({ directory });
    for (const [id, entries] of [
      ["s1", about.entries],
      ["other", 3],
    ] as const) {
      const session = await store.createSession({ session_id: id });
      const pen = createFactWriter(session);
      for (let i = 1; i <= entries; i += 1) {
        pen.add({ data: { text: `fact ${i} `.repeat(20) } }, [pen.node({ node_id: `${id}-${i}` })]);
        if (i % 10 === 0) await session.journal.flush();
      }
      const whose = { session_id: id, run_id: "r", media_type: "text/plain" };
      await session.artifacts.write("kept bytes", whose);
      await session.close();
    }
    if (!about.beside) {
      await store.close();
      const database = (await loadSqlite())(join(directory, "store", "soong.db"));
      database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    }
    tell({ seeded: true });
    // As it is now: closing would tidy up.
    process.kill(process.pid, "SIGKILL");
  },

  /** Opens the store, with the others who do at the same instant, and closes it. */
  async open() {
    tell({ ready: true });
    await word();
    const store = await openStore({ directory, ...about.options });
    tell({ sessions: (await store.sessions()).length });
    await store.close();
  },

  /** Short visits one after the other, each with a session of its own and one call, and tells how the calls ended. */
  async visit() {
    tell({ ready: true });
    await word();
    for (let i = 0; i < about.entries; i += 1) {
      const store = await openStore({ directory });
      const session = await store.createSession();
      const run = await (await kernelOn(session)).startRun();
      const { status } = await run.call("demo.write", {});
      run.end("completed");
      await session.close();
      await store.close();
      tell({ status });
    }
  },

  /** Makes calls without end and tells every fact as the live stream has it. */
  async live() {
    const store = await openStore({ directory });
    const session = await store.createSession({ session_id });
    const kernel = await kernelOn(session);
    void (async () => {
      for await (const fact of kernel.session.facts()) tell(fact);
    })();
    const run = await kernel.startRun();
    for (;;) {
      for (const tool of ["demo.read", "demo.read", "demo.write"]) await run.call(tool, {});
      await delay(1);
    }
  },

  /** Holds a session until told to let go. */
  async hold() {
    const store = await openStore({ directory });
    const session = await store.openSession(session_id);
    if (about.child) {
      // Everything it may inherit, and longer than we live.
      const child = spawn("/bin/sleep", ["60"], { stdio: "inherit", detached: true });
      child.unref();
      tell({ holds: true, pid: process.pid, child: child.pid });
    } else tell({ holds: true, pid: process.pid });
    await word();
    await session.close();
    await store.close();
  },

  /** Holds it in a thread. */
  async thread() {
    const worker = new Worker(new URL(import.meta.url), { workerData: ["hold", text] });
    const [first] = (await once(worker, "message")) as unknown[];
    tell(first);
    const store = await openStore({ directory });
    tell(await refusal(() => store.openSession(session_id)));
    await worker.terminate();
    const session = await store.openSession(session_id);
    tell({ opened: session.session_id });
    await store.close();
  },

  /** A session of its own, entries of three facts and a node each. */
  async write() {
    const store = await openStore({ directory, busyTimeoutMs: 30_000 });
    const session = await store.createSession({ session_id });
    const pen = createFactWriter(session);
    tell({ ready: true });
    await word();
    for (let i = 1; i <= about.entries; i += 1) {
      const facts = [pen.fact(), pen.fact(), pen.fact()];
      session.journal.append({ facts, nodes: [pen.node({ node_id: `n${i}` })] });
      if (i % 5 === 0) await session.journal.flush();
    }
    await store.close();
    tell({ done: true });
  },

  /** Keeps every writer out until told otherwise. */
  async lock() {
    const open = await loadSqlite();
    const database = open(join(directory, "store", "soong.db"));
    database.exec("BEGIN IMMEDIATE");
    tell({ locked: true });
    if (about.forMs === undefined) await word();
    else await delay(about.forMs);
    database.exec("ROLLBACK");
    database.close();
  },

  /** Calls tools on the session until the journal takes no more, then once again, and tells of the last results. */
  async fill() {
    const store = await openStore({ directory });
    const opened = await store.openSession(session_id);
    const { startRun, executed } = await kernelOn(opened);
    const run = await startRun();
    tell({ run_id: run.identity.run_id });
    for (let calls = 1; calls <= about.most; calls += 1) {
      const before = executed.get(about.tool) ?? 0;
      const result = await run.call(about.tool, { filling: "x".repeat(20_000), call: calls });
      const { code, message } = result.error ?? {};
      if (code === undefined || !about.until.includes(code)) continue;
      const ran = (executed.get(about.tool) ?? 0) - before;
      tell({ calls, status: result.status, code, message, ran });
      break;
    }
    const written = executed.get("demo.write") ?? 0;
    const next = await run.call("demo.write", {});
    const ranNext = (executed.get("demo.write") ?? 0) - written;
    tell({ next: next.error?.code ?? next.status, ran: ranNext });
    // What the disk cannot take cannot be closed well, but it ends, with a reason.
    tell({ closed: await refusal(() => store.close()) });
  },

  /** An artifact that is too large for the disk, and then a call. */
  async artifact() {
    const store = await openStore({ directory });
    const opened = await store.openSession(session_id);
    const { startRun } = await kernelOn(opened);
    const run = await startRun();
    const whose = { session_id, run_id: run.identity.run_id, media_type: "text/plain" };
    try {
      await opened.artifacts.write("x".repeat(4 * 1024 * 1024), whose);
    } catch (error) {
      tell(error instanceof ToolFailure ? error.error : { code: String(error) });
    }
    tell({ next: (await run.call("demo.write", {})).status });
    run.end("completed");
    await store.close();
  },

  /** Tries to open it for writing, then reads all of it: how many facts there are, and a hash of them. */
  async read() {
    tell(await refusal(async () => (await openStore({ directory })).close()));
    const store = await openStore({ directory, readOnly: true });
    const hash = createHash("sha256");
    const sessions: Record<string, number> = {};
    for (const { session_id: id } of await store.sessions()) {
      const facts = await (await store.readSession(id)).facts({ limit: 100_000 });
      sessions[id] = facts.length;
      hash.update(JSON.stringify(facts));
    }
    tell({ sessions, hash: hash.digest("hex") });
    await store.close();
  },

  /** Does what a store has to refuse, and tells how it did. */
  async refused() {
    tell(await refusal(() => openStore({ directory, ...about.options })));
  },

  /** Invented migrations; may end itself in the middle of one. */
  async migrate() {
    const open = await loadSqlite();
    const database = open(about.path, { timeout: 10_000 });
    tell({ ready: true });
    await word();
    migrate(
      about.dieAt === undefined ? database : dying(database, about.dieAt),
      about.path,
      about.migrations,
    );
    database.close();
    tell({ done: true });
  },
};

await deeds[deed]?.();
if (isMainThread) process.stdin.destroy();

function tell(line: unknown): void {
  if (parentPort === null) process.stdout.write(`${JSON.stringify(line)}\n`);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  else parentPort.postMessage(line);
}

/** A thread is never given one: it stays until it is ended. */
async function word(): Promise<void> {
  if (isMainThread) await once(createInterface({ input: process.stdin }), "line");
  else if (parentPort !== null) await once(parentPort, "message");
}

async function refusal(work: () => Promise<unknown>): Promise<object> {
  try {
    await work();
    return { code: "none" };
  } catch (error) {
    const { name, code, message } = error as NodeJS.ErrnoException;
    return { name, code, message };
  }
}

/** Runs SQL statement by statement and kills this process before one of them. */
function dying(database: Database, dieAt: number): Database {
  let count = 0;
  return {
    exec(sql) {
      for (const statement of sql.split(";").filter((part) => part.trim() !== "")) {
        count += 1;
        if (count === dieAt) process.kill(process.pid, "SIGKILL");
        database.exec(statement);
      }
    },
    prepare: (sql) => database.prepare(sql),
    close: () => database.close(),
  };
}
