// Starts the second processes of the path tests: the path room as one file that any Node can run, and
// what the process said, line by line. Every process is ended by `remove`.

import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { chmod, copyFile, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { NODE_BUNDLE } from "../node-bundle.ts";

export interface SecondProcess {
  readonly child: ChildProcess;
  /** What it said so far. */
  readonly lines: Record<string, unknown>[];
  /** Resolves with the first line that has this field. */
  said(field: string): Promise<void>;
  /** Resolves when it has ended and everything it said was read. */
  readonly ended: Promise<{ status: number | null; signal: string | null; stderr: string }>;
}

export interface WorkerAs {
  uid?: number;
  gid?: number;
  /** No file of it may grow beyond so many blocks of 512 or 1024 bytes. */
  limitFileBlocks?: number;
}

export type Swapped = "file" | "directory" | "missing";

export interface SecondProcesses {
  /** A folder for the test's own files, canonical, open to every user. */
  readonly folder: string;
  worker(deed: string, options: object, as?: WorkerAs): SecondProcess;
  swapper(what: Swapped, place: string, outside: string, pauseMs: number): SecondProcess;
  /** Kills those that still run. */
  end(): Promise<void>;
  remove(): Promise<void>;
}

export async function secondProcesses(): Promise<SecondProcesses> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "soong-path-")));
  await chmod(folder, 0o777);
  const room = join(folder, "room.mjs");
  const [worker, swapper] = [join(folder, "worker.mjs"), join(folder, "swapper.mjs")];
  bundle ??= bundleRoom();
  await writeFile(room, await bundle);
  await copyFile(here("./path-worker.mjs"), worker);
  await copyFile(here("./path-swapper.mjs"), swapper);
  const started: SecondProcess[] = [];
  const start = (argv: string[], as: WorkerAs = {}): SecondProcess => {
    const { limitFileBlocks, ...user } = as;
    const limit = limitFileBlocks === undefined ? "" : `ulimit -f ${limitFileBlocks};`;
    const shell = ["-c", `${limit} exec "$0" "$@"`, process.execPath, ...argv];
    const second = listenTo(spawn("/bin/sh", shell, { cwd: folder, ...user }));
    started.push(second);
    return second;
  };
  const end = async (): Promise<void> => {
    for (const { child } of started) {
      child.kill("SIGKILL");
    }
    await Promise.all(started.map(({ ended }) => ended));
  };
  return {
    folder,
    worker: (deed, options, as) => start([worker, room, deed, JSON.stringify(options)], as),
    swapper: (what, place, outside, pauseMs) =>
      start([swapper, what, place, outside, String(pauseMs)]),
    end,
    async remove() {
      await end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

let bundle: Promise<Uint8Array> | undefined;

async function bundleRoom(): Promise<Uint8Array> {
  const { outputFiles } = await build({
    ...NODE_BUNDLE,
    entryPoints: [here("../../packages/tools/src/path/index.ts")],
    write: false,
  });
  return outputFiles[0]?.contents ?? new Uint8Array();
}

function listenTo(child: ChildProcess): SecondProcess {
  const lines: Record<string, unknown>[] = [];
  const waiting: (() => void)[] = [];
  let stderr = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  if (child.stdout !== null) {
    createInterface({ input: child.stdout }).on("line", (line) => {
      lines.push(JSON.parse(line) as Record<string, unknown>);
      for (const look of waiting) {
        look();
      }
    });
  }
  const ended: SecondProcess["ended"] = new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (status, signal) => {
      resolve({ status, signal, stderr });
    });
  });
  const said = (field: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (lines.some((line) => field in line)) {
          resolve();
        }
      };
      waiting.push(look);
      look();
      void ended.then((end) => {
        reject(new Error(`It ended without saying ${field}: ${JSON.stringify(end)}`));
      }, reject);
    });
  return { child, lines, said, ended };
}

function here(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}
