// A taker in a process of its own, which can be killed: `taker-runtime.ts` as one file that Node can run.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, onTestFinished, vi } from "vitest";
import { NODE_BUNDLE } from "../node-bundle.ts";
import { WAIT } from "./queue-stage.ts";

export interface TakerSettings {
  readonly url: string;
  readonly pool: string;
  readonly lockMs: number;
}

export interface TakerProcess {
  waitForJob(id: string): Promise<void>;
  /** With SIGKILL. */
  kill(): Promise<void>;
}

/** Starts takers that never finish a job. */
export async function bundleTaker(): Promise<(settings: TakerSettings) => TakerProcess> {
  const folder = await mkdtemp(join(tmpdir(), "soong-taker-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const program = join(folder, "taker-runtime.mjs");
  await build({
    ...NODE_BUNDLE,
    entryPoints: [here("./taker-runtime.ts")],
    outfile: program,
    external: ["bullmq", "ioredis", "pg"],
  });
  await symlink(here("../../node_modules"), join(folder, "node_modules"));
  return (settings) => startTaker(program, settings);
}

function startTaker(program: string, settings: TakerSettings): TakerProcess {
  const child = spawn(process.execPath, [program, JSON.stringify(settings)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ids: string[] = [];
  createInterface({ input: child.stdout }).on("line", (id) => ids.push(id));
  const closed = once(child, "close");
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await closed;
  };
  onTestFinished(kill);
  return { waitForJob: (id) => vi.waitFor(() => expect(ids).toContain(id), WAIT), kill };
}

function here(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}
