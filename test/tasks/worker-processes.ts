// Workers as processes: `worker-runtime.ts` as one file that Node can run, and what each that runs has told.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { NODE_BUNDLE } from "../node-bundle.ts";

export interface WorkerJob {
  readonly directory: string;
  readonly session_id: string;
  readonly task_id: string;
  readonly run_id: string;
  /** Killed right after so many claims, by its own hand. */
  readonly dies_at_claim?: number;
  /** It has the clocks of its system, holds a step it has claimed until it is told "finish", and this lease. */
  readonly lease_ms?: number;
  /** How far its time of day is ahead. */
  readonly ahead_ms?: number;
}

export interface WorkerProcesses {
  /** An empty folder. */
  place(): Promise<string>;
  start(job: WorkerJob): WorkerProcess;
  /** Kills whatever still runs. */
  remove(): Promise<void>;
}

export interface WorkerProcess {
  readonly run_id: string;
  readonly child: ChildProcess;
  /** Settles when it waits for "begin". */
  readonly ready: Promise<void>;
  /** All it has told so far. */
  readonly told: readonly Told[];
  /** Its exit code, or the signal that ended it; undefined while it runs. */
  readonly end: () => string | number | undefined;
  ended(): Promise<{ code: number | null; errors: string }>;
  say(line: string): void;
}

/** One of them. */
export interface Told {
  /** It asked for a step, and there was none. */
  readonly nothing?: true;
  /** It was told that its claim is lost. */
  readonly lost?: string;
  readonly claimed?: string;
  readonly completed?: string;
  readonly refused?: string;
  readonly attempt: number;
}

export async function bundleWorkers(): Promise<WorkerProcesses> {
  const folder = await mkdtemp(join(inMemory() ?? tmpdir(), "soong-workers-"));
  const program = join(folder, "worker-runtime.mjs");
  await build({
    ...NODE_BUNDLE,
    entryPoints: [here("./worker-runtime.ts")],
    outfile: program,
    external: ["@photostructure/sqlite"],
  });
  await symlink(here("../../node_modules"), join(folder, "node_modules"));
  const started: WorkerProcess[] = [];
  return {
    place: () => mkdtemp(join(folder, "home-")),
    start(job) {
      const stdio = ["pipe", "pipe", "pipe"] as const;
      const child = spawn(process.execPath, [program, JSON.stringify(job)], { stdio: [...stdio] });
      const worker = follow(job.run_id, child);
      started.push(worker);
      return worker;
    },
    async remove() {
      for (const { child } of started) child.kill("SIGKILL");
      await Promise.all(started.map((worker) => worker.ended()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** What is killed here are processes, never the machine: waiting for a disk would prove nothing more. */
function inMemory(): string | undefined {
  return existsSync("/dev/shm") ? "/dev/shm" : undefined;
}

function follow(run_id: string, child: ChildProcess): WorkerProcess {
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error("no pipes");
  const told: Told[] = [];
  let errors = "";
  // It may be gone before it hears of it.
  stdin.on("error", () => {});
  stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const closed = once(child, "close") as Promise<[number | null]>;
  const ready = new Promise<void>((resolve, reject) => {
    createInterface({ input: stdout }).on("line", (line) => {
      const one = JSON.parse(line) as Told & { readonly ready?: true };
      if (one.ready === true) resolve();
      else told.push(one);
    });
    void closed.then(() => reject(new Error(`a worker ended before it began: ${errors}`)));
  });
  // Not everyone who is killed was waited for.
  ready.catch(() => {});
  return {
    run_id,
    child,
    ready,
    told,
    end: () => child.exitCode ?? child.signalCode ?? undefined,
    async ended() {
      const [code] = await closed;
      return { code, errors };
    },
    say: (line) => void stdin.write(`${line}\n`),
  };
}

function here(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}
