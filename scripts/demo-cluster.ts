// `npm run demo:cluster`: many machines on this one, offline. A PostgreSQL of its own, three `soong worker` processes with homes
// and project directories of their own, and a task of twelve steps, driven from a fourth. One worker is killed in the
// middle of a step. Ends with 0 only when everything happened as shown, and leaves nothing running.

import { once } from "node:events";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { openStore, type Store } from "@soong/store";
import { startPostgres } from "../test/postgres/server.ts";
import { capture, CommandFailed, run } from "./command.ts";
import { checkRecord, findSecondStep, readRecord, renderLanes } from "./demo-cluster-record.ts";
import {
  LEASE_MS,
  PROGRAM,
  startSoong,
  VICTIM,
  WORKERS,
  writeStage,
  type StagedProcess,
} from "./demo-cluster-stage.ts";

const LONGEST_MS = 120_000;

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => stop.abort(signal));
}
/** What is to be ended, the last one first. */
const cleanup: (() => Promise<void>)[] = [];

try {
  await Promise.race([playDemo(), interrupted()]);
} catch (error) {
  console.error(`\n${error instanceof Error ? error.message.trim() : String(error)}`);
  process.exitCode = exitCodeOf(stop.signal.reason);
}
for (const end of cleanup.toReversed()) {
  await end().catch((error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  });
}
// Where it was stopped, it may still be starting something, which ends with this process.
process.exit();

async function interrupted(): Promise<never> {
  const timer = setTimeout(() => stop.abort("it took too long"), LONGEST_MS).unref();
  await once(stop.signal, "abort");
  clearTimeout(timer);
  throw new CommandFailed(`Stopped (${String(stop.signal.reason)}); nothing is left running.`);
}

function exitCodeOf(reason: unknown): number {
  const isSignal = reason === "SIGINT" || reason === "SIGTERM" || reason === "SIGHUP";
  return isSignal ? 128 + constants.signals[reason] : 1;
}

async function playDemo(): Promise<void> {
  run(process.execPath, ["scripts/bundle-cli.mjs"]);
  const folder = await realpath(await mkdtemp(join(tmpdir(), "soong-demo-cluster-")));
  cleanup.push(() => rm(folder, { recursive: true, force: true }));
  await writeStage(folder);
  const server = await startPostgres({ fsync: false });
  cleanup.push(() => server.stop());
  const url = await server.createDatabase();
  const placeOf = (name: string) => ({
    cwd: join(folder, name, "project"),
    env: { SOONG_AGENT_HOME: join(folder, name, "home"), SOONG_STORE_URL: url },
  });
  const soong = (...args: string[]): string =>
    capture(process.execPath, [PROGRAM, ...args], placeOf("desk"));
  const modelOf = (name: string): string => `script:${join(folder, name, "work.json")}`;

  say(
    `A PostgreSQL, and ${WORKERS.length} workers with homes and project directories of their own`,
  );
  const workers = new Map<string, StagedProcess>();
  for (const name of WORKERS) {
    const args = ["worker", "--pool", "stalls", "--model", modelOf(name)];
    const worker = await startSoong(args, placeOf(name));
    cleanup.push(() => worker.remove());
    workers.set(name, worker);
  }
  await Promise.all(Array.from(workers, ([name, worker]) => waitUntilReady(name, worker)));
  const store = await openStore({ directory: join(folder, "reader"), url });
  cleanup.push(() => store.close());

  say(
    "An orchestrator, on a fourth machine, makes a task: one step, ten that wait for it, one that waits for those",
  );
  const script = `script:${join(folder, "plan.json")}`;
  indent(soong("run", "--mode", "orchestrator", "--model", script, "Prepare the market"));

  say("`soong tasks drive` gives the steps to the workers");
  const drive = await startSoong(
    ["tasks", "drive", "task_", "--model", modelOf("desk")],
    placeOf("desk"),
  );
  cleanup.push(() => drive.remove());
  drive.onLine((line) => console.log(`  ${line}`));
  const killed = await killVictim(store, workers, drive);
  const code = await drive.ended;
  if (code !== 0) throw new CommandFailed(`\`soong tasks drive\` ended with ${code}.`);

  say("Who did what, and when");
  const record = await readRecord(store);
  for (const line of renderLanes(record, killed.at)) console.log(`  ${line}`);

  say("`soong workers`: one that was killed is listed for a minute after it was last seen");
  indent(soong("workers"));

  say("What the record says");
  let holdsAll = true;
  for (const { says, holds } of [
    ...checkRecord(record, killed.step_id),
    verifyAll(soong("verify", "--all", "--artifacts", "--json")),
    ...(await endWorkers(workers)),
  ]) {
    console.log(`  ${holds ? "✓" : "✗"} ${says}`);
    holdsAll &&= holds;
  }
  if (!holdsAll)
    throw new CommandFailed("Not everything is as it should be: see the lines with ✗.");
}

/** Its first line says that it takes steps; one that ends instead says why. */
async function waitUntilReady(name: string, worker: StagedProcess): Promise<void> {
  const lines: string[] = [];
  const ready = new Promise<void>((resolve) => {
    worker.onLine((line) => {
      lines.push(line);
      if (!/^Worker \S+ takes steps/.test(line)) return;
      console.log(`  ${name}: ${line}`);
      resolve();
    });
  });
  const failed = worker.ended.then((code) => {
    throw new CommandFailed(`The worker ${name} ended with ${code}:\n${lines.join("\n")}`);
  });
  await Promise.race([ready, failed]);
}

async function killVictim(
  store: Store,
  workers: ReadonlyMap<string, StagedProcess>,
  drive: StagedProcess,
): Promise<{ readonly step_id: string; readonly at: number }> {
  let hasEnded = false;
  void drive.ended.then(() => {
    hasEnded = true;
  });
  const worker = workers.get(VICTIM);
  for (;;) {
    const step_id = findSecondStep(await readRecord(store), VICTIM);
    if (step_id !== undefined && worker !== undefined) {
      process.kill(worker.pid, "SIGKILL");
      await worker.ended;
      console.log(
        `  kill -9 ${worker.pid}: ${VICTIM} is gone, in the middle of ${step_id}; its lease lasts ${LEASE_MS / 1000} s`,
      );
      return { step_id, at: Date.now() };
    }
    if (hasEnded) throw new CommandFailed(`The task ended before ${VICTIM} could be killed.`);
    await delay(100, undefined, { signal: stop.signal });
  }
}

function verifyAll(records: string): { says: string; holds: boolean } {
  const verified = records
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { ok: boolean; facts?: number });
  return {
    says: `\`soong verify --all --artifacts\`: ${verified.length} sessions are as they were recorded`,
    holds: verified.length > 0 && verified.every(({ ok }) => ok),
  };
}

/** Those that live drain on SIGTERM, and end with 0. */
async function endWorkers(
  workers: ReadonlyMap<string, StagedProcess>,
): Promise<{ says: string; holds: boolean }[]> {
  const living = Array.from(workers).filter(([name]) => name !== VICTIM);
  for (const [, { pid }] of living) process.kill(pid, "SIGTERM");
  const codes = await Promise.all(living.map(async ([, { ended }]) => ended));
  return [
    {
      says: `SIGTERM: ${living.map(([name]) => name).join(" and ")} ended cleanly`,
      holds: codes.every((code) => code === 0),
    },
  ];
}

function say(title: string): void {
  console.log(`\n${title}`);
}

function indent(text: string): void {
  for (const line of text.trimEnd().split("\n")) console.log(`  ${line}`);
}
