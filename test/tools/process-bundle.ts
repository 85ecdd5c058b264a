// The process room as one file that any Node can run, beside the programs that use it, in a folder every
// user can read and write: for tests in which the runtime itself is a process that gets killed.

import type { ChildProcess } from "node:child_process";
import { chmod, copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { NODE_BUNDLE } from "../node-bundle.ts";

export interface ProcessBundle {
  folder: string;
  /** The process room. */
  room: string;
  /** process-runtime.mjs */
  runtime: string;
  /** process-family.sh */
  family: string;
  /** An empty folder for one test. */
  place(): Promise<string>;
  /** Killed in the end if it is still there: a test that fails must not leave it running. */
  adopt(runtime: ChildProcess): void;
  remove(): Promise<void>;
}

export async function bundleProcessRoom(): Promise<ProcessBundle> {
  const folder = await openFolder(join(tmpdir(), "soong-process-"));
  const [room, runtime, family] = ["process.mjs", "process-runtime.mjs", "process-family.sh"].map(
    (name) => join(folder, name),
  ) as [string, string, string];
  await build({
    ...NODE_BUNDLE,
    entryPoints: [here("../../packages/platform/src/process/index.ts")],
    outfile: room,
  });
  await copyFile(here("./process-runtime.mjs"), runtime);
  await copyFile(here("./process-family.sh"), family);
  for (const file of [room, runtime, family]) await chmod(file, 0o644);
  const runtimes: ChildProcess[] = [];
  return {
    folder,
    room,
    runtime,
    family,
    place: () => openFolder(join(folder, "place-")),
    adopt: (child) => void runtimes.push(child),
    async remove() {
      for (const child of runtimes) child.kill("SIGKILL");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function openFolder(prefix: string): Promise<string> {
  const folder = await mkdtemp(prefix);
  await chmod(folder, 0o777);
  return folder;
}

function here(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}
