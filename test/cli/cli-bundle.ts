// The command as users have it: the real program, bundled as it is published, in processes of its own, each with a
// home and a project that are folders of the test.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync } from "node:fs";
import {
  mkdir,
  mkdtemp,
  readFile,
  realpath,
  rename,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Metafile } from "esbuild";
import type { loadConfig } from "../../packages/cli/src/config/index.ts";
import type { openRuntime } from "../../packages/cli/src/runtime/open-runtime.ts";
import { bundleProgram } from "../../scripts/bundle-cli.mjs";
import { bundlePage } from "../../scripts/bundle-page.mjs";

export interface CliBundle {
  readonly program: string;
  readonly metafile: Metafile;
  /** The modules below the commands, for a test that needs no process. */
  modules(): Promise<{ loadConfig: typeof loadConfig; openRuntime: typeof openRuntime }>;
  /** A home and a project no one has used, in a folder of the test or in this one. */
  place(around?: string): Promise<Place>;
  remove(): Promise<void>;
}

export interface Place {
  readonly home: string;
  readonly project: string;
  /** Writes a file of the project or, with an absolute path, any other. */
  write(path: string, content: string): Promise<void>;
  read(path: string): Promise<string>;
  run(args: readonly string[], options?: StartOptions): Promise<Ended>;
  /** Killed in the end if it is still there. */
  start(args: readonly string[], options?: StartOptions): Started;
}

export interface StartOptions {
  /** Default: stdin is closed. */
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** A file for stdout instead of a pipe. */
  readonly stdout?: string;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

export async function bundleCli(): Promise<CliBundle> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "soong-cli-")));
  const built = await builtOnce(join(folder, "program"));
  const metafile = JSON.parse(await readFile(join(built, "metafile.json"), "utf8")) as Metafile;
  const program = join(built, "soong.cjs");
  const started = new Set<ChildProcess>();

  return {
    program,
    metafile,
    async modules() {
      const modules = await Promise.all(
        ["config", "runtime"].map((name) => import(join(built, `${name}.cjs`)) as Promise<object>),
      );
      return Object.assign({}, ...modules) as Awaited<ReturnType<CliBundle["modules"]>>;
    },
    async place(around) {
      const place = createPlace(around ?? (await mkdtemp(join(folder, "place-"))));
      await mkdir(place.project);
      return place;
    },
    async remove() {
      for (const child of started) child.kill("SIGKILL");
      await rm(folder, { recursive: true, force: true });
    },
  };

  function createPlace(around: string): Place {
    const home = join(around, "home");
    const project = join(around, "project");
    const place: Place = {
      home,
      project,
      async write(path, content) {
        const file = path.startsWith("/") ? path : join(project, path);
        await mkdir(dirname(file), { recursive: true, mode: 0o700 });
        await writeFile(file, content, { mode: 0o600 });
      },
      read: (path) => readFile(path.startsWith("/") ? path : join(project, path), "utf8"),
      run: (args, options) => place.start(args, options).ended,
      start(args, { stdin, stdout, env = {}, cwd = project } = {}) {
        const file = stdout === undefined ? undefined : openSync(stdout, "w");
        const child = spawn(process.execPath, [program, ...args], {
          cwd,
          env: environment(home, env),
          stdio: [stdin === undefined ? "ignore" : "pipe", file ?? "pipe", "pipe"],
        });
        if (file !== undefined) closeSync(file);
        started.add(child);
        child.stdin?.on("error", () => {}).end(stdin);
        return { child, ended: endOf(child) };
      },
    };
    return place;
  }
}

/** The program of this run of tests: whoever comes first makes it. Of two who come together, one finds it made. */
async function builtOnce(own: string): Promise<string> {
  const { SOONG_TEST_SHARED: shared } = process.env;
  const common = shared === undefined ? own : join(shared, "cli");
  if (existsSync(common)) return common;
  await buildProgram(own);
  if (common === own) return own;
  try {
    await rename(own, common);
    return common;
  } catch {
    return own;
  }
}

async function buildProgram(folder: string): Promise<void> {
  await mkdir(folder);
  const [metafile] = await bundleProgram(folder, {
    config: here("../../packages/cli/src/config/index.ts"),
    runtime: here("../../packages/cli/src/runtime/open-runtime.ts"),
  });
  await writeFile(join(folder, "metafile.json"), JSON.stringify(metafile));
  await symlink(here("../../node_modules"), join(folder, "node_modules"));
  // What the inspector serves is beside the program.
  await bundlePage(join(folder, "page"));
}

/** Nothing of whoever runs the tests: no colours, no keys. */
export function environment(
  home: string,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return { PATH: process.env["PATH"] ?? "", HOME: dirname(home), SOONG_AGENT_HOME: home, ...more };
}

async function endOf(child: ChildProcess): Promise<Ended> {
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  return { code, signal, stdout, stderr };
}

/** The records a command printed. */
export function recordsOf({ stdout }: Ended): Record<string, unknown>[] {
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

function here(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}
