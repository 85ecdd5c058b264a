// Eyes of the process tests, apart from the code under test: who is alive, who carries a mark of the
// test's own, and a runtime process whose lines can be waited for.

import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import type { ProcessBundle } from "./process-bundle.ts";

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
  } catch {
    // Without /proc the answer above stands; with it, the process has just gone.
    return process.platform !== "linux";
  }
}

export function pidsIn(folder: string): number[] {
  return readFileSync(`${folder}/pids`, "utf8").split("\n").filter(Boolean).map(Number);
}

/** Everyone alive with TEST_MARK=mark in the environment. */
export function marked(mark: string): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0 && holdsMark(pid, mark) && isAlive(pid));
}

function holdsMark(pid: number, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").includes(`TEST_MARK=${mark}\0`);
  } catch {
    return false;
  }
}

/** Milliseconds until it was so; fails after ten seconds. */
export async function until(condition: () => boolean): Promise<number> {
  const started = performance.now();
  while (!condition()) {
    if (performance.now() - started > 10_000) throw new Error("It did not come about in 10 s");
    await delay(25);
  }
  return performance.now() - started;
}

export interface RuntimeProcess {
  child: ChildProcess & { pid: number };
  /** The next line it tells. */
  next(): Promise<Record<string, unknown>>;
  /** Its exit and the end of its output. */
  closed: Promise<void>;
}

export interface RuntimeOptions {
  deed: string;
  args?: readonly string[];
  mark?: string;
  /** Run it as a user without rights, where we may choose. */
  asNobody?: boolean;
  /** A shell command before it: a limit to set. */
  first?: string;
  /** It is expected to complain. */
  isQuiet?: boolean;
}

export function startRuntime(bundle: ProcessBundle, options: RuntimeOptions): RuntimeProcess {
  const { deed, args = [], mark = "", first = ":", isQuiet = false } = options;
  const isRoot = process.getuid?.() === 0;
  const child = spawn(
    "/bin/sh",
    [
      "-c",
      `${first}; exec "$@"`,
      "sh",
      process.execPath,
      "--expose-gc",
      bundle.runtime,
      bundle.room,
    ].concat([deed, ...args]),
    {
      cwd: bundle.folder,
      env: { PATH: process.env.PATH, TEST_MARK: mark },
      stdio: ["ignore", "pipe", isQuiet ? "ignore" : "inherit"],
      detached: true,
      ...(isRoot && options.asNobody === true ? { uid: 65_534, gid: 65_534 } : {}),
    },
  );
  bundle.adopt(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child: child as ChildProcess & { pid: number },
    async next() {
      const line = await lines.next();
      if (line.done === true) throw new Error(`The runtime ended instead of telling of ${deed}`);
      return JSON.parse(line.value) as Record<string, unknown>;
    },
    closed: new Promise((resolve) => {
      child.once("close", () => resolve());
    }),
  };
}
