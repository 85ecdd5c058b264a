// Processes with a store on PostgreSQL: `holder-runtime.ts` as one file that Node can run, and what each of them reports.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { NODE_BUNDLE } from "../../node-bundle.ts";

export interface HolderJob {
  readonly deed: "open" | "call" | "claim";
  readonly url: string;
  readonly directory: string;
  readonly session_id?: string;
  readonly lease_ms?: number;
  readonly busy_ms?: number;
  /** How far its time of day is ahead. */
  readonly ahead_ms?: number;
  /** Between two calls. */
  readonly pause_ms?: number;
  readonly task_ids?: readonly string[];
  readonly run_id?: string;
  /** Keeps the first step it claims, without a heartbeat. */
  readonly holds?: boolean;
}

export interface Reported {
  readonly [name: string]: unknown;
  readonly seq?: number;
  readonly status?: string;
  readonly tool_call_id?: string;
  readonly claimed?: string;
  readonly completed?: string;
  readonly error?: string;
  readonly message?: string;
}

export interface HolderProcess {
  readonly child: ChildProcess;
  /** All so far. */
  readonly reported: readonly Reported[];
  /** The first report, from now or before, with this name; fails when it ends without. */
  wait(name: string): Promise<Reported>;
  /** The next report; fails when it ends without, or reports an error. */
  more(): Promise<void>;
  say(word: "go" | "stop"): void;
  /** Fails when it printed an error of Node. */
  ended(): Promise<{ code: number | null; signal: string | null }>;
}

export interface HolderProcesses {
  start(job: Omit<HolderJob, "directory">): Promise<HolderProcess>;
  remove(): Promise<void>;
}

export async function bundleHolders(): Promise<HolderProcesses> {
  const folder = await mkdtemp(join(tmpdir(), "soong-holders-"));
  const program = join(folder, "holder-runtime.mjs");
  await build({
    ...NODE_BUNDLE,
    entryPoints: [here("./holder-runtime.ts")],
    outfile: program,
    external: ["@photostructure/sqlite", "pg"],
  });
  await symlink(here("../../../node_modules"), join(folder, "node_modules"));
  const started: HolderProcess[] = [];
  return {
    async start(job) {
      const directory = await mkdtemp(join(folder, "home-"));
      const given = JSON.stringify({ ...job, directory } satisfies HolderJob);
      const child = spawn(process.execPath, [program, given], { stdio: ["pipe", "pipe", "pipe"] });
      const holder = follow(child);
      started.push(holder);
      return holder;
    },
    async remove() {
      for (const { child } of started) child.kill("SIGKILL");
      await Promise.allSettled(started.map((holder) => holder.ended()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function follow(child: ChildProcess): HolderProcess {
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error("no pipes");
  const reported: Reported[] = [];
  const waiting = new Set<() => void>();
  let errors = "";
  let isOver = false;
  stdin.on("error", () => {});
  stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const closed = once(child, "close") as Promise<[number | null, string | null]>;
  createInterface({ input: stdout }).on("line", (line) => {
    reported.push(JSON.parse(line) as Reported);
    for (const look of waiting) look();
  });
  void closed.then(() => {
    isOver = true;
    for (const look of waiting) look();
  });
  return {
    child,
    reported,
    wait: (name) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = reported.find((one) => name in one);
          if (found === undefined && !isOver) return;
          waiting.delete(look);
          if (found !== undefined) resolve(found);
          else reject(new Error(`no ${name}: ${JSON.stringify(reported.slice(-3))} ${errors}`));
        };
        waiting.add(look);
        look();
      }),
    more: () =>
      new Promise((resolve, reject) => {
        const before = reported.length;
        const look = (): void => {
          const last = reported.at(-1);
          if (reported.length === before && !isOver) return;
          waiting.delete(look);
          if (reported.length > before && last?.error === undefined) resolve();
          else reject(new Error(`it ended: ${JSON.stringify(last)} ${errors}`));
        };
        waiting.add(look);
        look();
      }),
    say: (word) => void stdin.write(`${word}\n`),
    async ended() {
      const [code, signal] = await closed;
      if (errors !== "") throw new Error(errors);
      return { code, signal };
    },
  };
}

function here(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}
