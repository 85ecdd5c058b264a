// Starts runtimes that are going to be killed, from one bundle that any Node can run. The next one is always
// being loaded already: a kill then costs what the work costs.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync, symlinkSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { SAYS, type CrashJob, type ReportLine } from "./crash-job.ts";
import { NODE_BUNDLE } from "../../node-bundle.ts";

export interface Runtimes {
  /** A folder for the stores and projects of one test file. */
  readonly folder: string;
  start(job: CrashJob): RuntimeProcess;
  /** Ends every runtime that is still there. Keeps the folder when something in it is to be looked at. */
  close(keep: boolean): Promise<void>;
}

export interface RuntimeProcess {
  /** When it has said this, or has ended without. */
  said(what: string): Promise<"said" | "ended">;
  /** Lets a handler that holds it up continue. */
  goOn(): void;
  kill(): void;
  /** Everything it held is free then. */
  readonly ended: Promise<void>;
  report(): ReportLine[];
}

export async function openRuntimes(): Promise<Runtimes> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "soong-crash-")));
  const program = join(folder, "runtime.mjs");
  // Where the bundle finds the packages that are not in it.
  symlinkSync(here("../../../node_modules"), join(folder, "node_modules"));
  await build({
    ...NODE_BUNDLE,
    entryPoints: [here("./crashing-runtime.ts")],
    outfile: program,
    external: ["@photostructure/sqlite", "@vscode/ripgrep"],
  });
  const alive = new Set<ChildProcess>();
  let next: ChildProcess | undefined;

  return {
    folder,
    start(job) {
      const child = next ?? load();
      next = load();
      return runtimeProcess(child, job);
    },
    async close(keep) {
      const ends = Array.from(alive, (child) => once(child, "exit"));
      for (const child of alive) child.kill("SIGKILL");
      await Promise.all(ends);
      if (!keep) await rm(folder, { recursive: true, force: true });
    },
  };

  function load(): ChildProcess {
    const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "inherit"] });
    alive.add(child);
    child.once("exit", () => alive.delete(child));
    // It may be gone before it has read its job.
    child.stdin.on("error", () => {});
    return child;
  }
}

/** A folder of its own for a store, the projects worked on and the reports of those who did. */
export async function makeCrashPlace(below: string): Promise<{ home: string; folder: string }> {
  const folder = await mkdtemp(join(below, "place-"));
  return { home: join(folder, "home"), folder };
}

function runtimeProcess(child: ChildProcess, job: CrashJob): RuntimeProcess {
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new Error("the runtime has no pipes");
  let output = "";
  const waiting = new Set<() => void>();
  let hasEnded = false;
  stdout.on("data", (bytes: Buffer) => {
    output += bytes.toString("latin1");
    if (output.includes(SAYS.kill)) child.kill("SIGKILL");
    for (const wake of waiting) wake();
  });
  const ended = once(child, "exit").then(() => {
    hasEnded = true;
    for (const wake of waiting) wake();
  });
  stdin.write(`${JSON.stringify(job)}\n`);
  return {
    async said(what) {
      for (;;) {
        const found = output.indexOf(what);
        if (found !== -1) {
          output = output.slice(0, found) + output.slice(found + 1);
          return "said";
        }
        if (hasEnded) return "ended";
        await new Promise<void>((wake) => {
          waiting.add(function once() {
            waiting.delete(once);
            wake();
          });
        });
      }
    },
    goOn: () => void stdin.write("\n"),
    kill: () => void child.kill("SIGKILL"),
    ended,
    report: () => readReport(job.report),
  };
}

function readReport(path: string): ReportLine[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return [];
  }
  // What follows the last newline was not written whole.
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as ReportLine);
}

function here(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}
