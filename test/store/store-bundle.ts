// A program with the store in it, as one file that any Node can run, in a folder every user can read: for tests in which the store's process is another one, of another user, or gets killed.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { NODE_BUNDLE } from "../node-bundle.ts";

export interface StoreBundle {
  readonly folder: string;
  /** An empty folder any user can write to. */
  place(): Promise<string>;
  /** Starts `store-runtime.ts` with a deed. Killed in the end if it is still there. */
  start(deed: string, about: object, options?: StartOptions): StoreProcess;
  /** Starts it, waits for its end, and gives all it told. Fails unless it ended on its own and well. */
  run(deed: string, about: object, options?: StartOptions): Promise<Told[]>;
  remove(): Promise<void>;
}

export interface StartOptions {
  /** Root becomes this user; anyone else stays who they are. */
  readonly uid?: number;
  /** A line of shell before the program starts. */
  readonly first?: string;
}

/** One line of JSON. */
export type Told = Record<string, unknown>;

export interface StoreProcess {
  readonly child: ChildProcess;
  /** The next line it tells; fails when it ends without. */
  next(): Promise<Told>;
  /** Lets it continue. */
  say(word: string): void;
  ended(): Promise<{ code: number | null; signal: string | null; errors: string }>;
}

export async function bundleStore(): Promise<StoreBundle> {
  const folder = await openFolder(join(tmpdir(), "soong-store-"));
  const program = join(folder, "store-runtime.mjs");
  await build({
    ...NODE_BUNDLE,
    entryPoints: [here("./store-runtime.ts")],
    outfile: program,
    external: ["@photostructure/sqlite"],
  });
  await symlink(here("../../node_modules"), join(folder, "node_modules"));
  await chmod(program, 0o644);
  const started: ChildProcess[] = [];

  const bundle: StoreBundle = {
    folder,
    place: () => openFolder(join(folder, "place-")),
    start(deed, about, { uid, first = ":" } = {}) {
      const child = spawn(
        "/bin/sh",
        ["-c", `${first}; exec "$@"`, "sh", process.execPath, program, deed, JSON.stringify(about)],
        {
          cwd: folder,
          stdio: ["pipe", "pipe", "pipe"],
          ...(uid === undefined || process.getuid?.() !== 0 ? {} : { uid, gid: uid }),
        },
      );
      started.push(child);
      return follow(child);
    },
    async run(deed, about, options) {
      const running = bundle.start(deed, about, options);
      const told: Told[] = [];
      const { code, signal, errors } = await running.ended();
      if (code !== 0) throw new Error(`${deed} ended with ${code ?? signal}: ${errors}`);
      for (;;) {
        const line = await running.next().catch(() => undefined);
        if (line === undefined) return told;
        told.push(line);
      }
    },
    async remove() {
      for (const child of started) child.kill("SIGKILL");
      await rm(folder, { recursive: true, force: true });
    },
  };
  return bundle;
}

function follow(child: ChildProcess): StoreProcess {
  if (child.stdout === null || child.stderr === null) throw new Error("a process without pipes");
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  // It may be gone before it hears of it.
  child.stdin?.on("error", () => {});
  const ended = once(child, "close") as Promise<[number | null, string | null]>;
  const lines: string[] = [];
  let wake: (() => void) | undefined;
  let isOver = false;
  createInterface({ input: child.stdout })
    .on("line", (line) => {
      lines.push(line);
      wake?.();
    })
    .on("close", () => {
      isOver = true;
      wake?.();
    });
  return {
    child,
    async next() {
      for (;;) {
        const line = lines.shift();
        if (line !== undefined) return JSON.parse(line) as Told;
        if (isOver) throw new Error(`the process told nothing more: ${errors}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    say: (word) => void child.stdin?.write(`${word}\n`),
    async ended() {
      const [code, signal] = await ended;
      return { code, signal, errors };
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
