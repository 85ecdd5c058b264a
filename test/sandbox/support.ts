// Whether there is a sandbox here, and runtimes that use it: one of the user who runs the tests, and if that is root one of
// an ordinary user. Each is a process of its own that reads commands and answers with what came of them.

import { spawn, type ChildProcess } from "node:child_process";
import {
  accessSync,
  chmodSync,
  constants,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
} from "node:fs";
import { once } from "node:events";
import { homedir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { ProcessEnd, RefusedHost, SandboxState } from "@soong/platform";
import { build } from "esbuild";
import { afterAll, beforeAll, type TestContext } from "vitest";
import { NODE_BUNDLE } from "../node-bundle.ts";
import { ORDINARY_USER, isRoot } from "../tools/path-ordinary-user.ts";

/** "1": a machine without a sandbox fails these tests, whatever the reason. */
const { CI: onServer = "", SOONG_TEST_SANDBOX: isDemanded } = process.env;

/**
 * Where commands in a sandbox see what tests make there: the directory for temporary files is another one inside. Not in a home, if
 * we may: every command of its user looks for secrets there, also for those of other tests, which come and go.
 */
export const VISIBLE_PLACE = isRoot ? "/var/cache" : homedir();

/** What a program says, but for the line that this machine has no sandbox, which it says once where it runs a command. */
export function withoutSandboxWarning(said: string): string {
  return said.replace(/^warning: Commands run without a sandbox: .*\n/m, "");
}

interface User {
  readonly user: string;
  readonly uid: number;
}

export const USERS: readonly [User, ...User[]] = isRoot
  ? [
      { user: "root", uid: 0 },
      { user: "nobody", uid: ORDINARY_USER },
    ]
  : [{ user: "an ordinary user", uid: process.getuid?.() ?? -1 }];

/** What a runtime of the tests is asked to run. */
export interface Command {
  readonly argv: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly timeoutMs?: number;
  /** Its output is counted and not kept. */
  readonly count?: boolean;
  /** Without one it runs outside, to show that what is refused inside works there. */
  readonly profile?: {
    readonly writable: readonly string[];
    readonly fixed?: readonly string[];
    readonly masked?: readonly string[];
    readonly absent?: readonly string[];
    /** Default: no network. */
    readonly hosts?: readonly string[];
  };
}

export interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly end: ProcessEnd;
  readonly refusedHosts: readonly RefusedHost[];
  readonly counted?: { readonly bytes: number; readonly sha256: string; readonly grown: number };
  /** It was not started. */
  readonly failure?: string;
  /** Of the sandbox after that. */
  readonly state?: SandboxState;
}

export interface Runtime {
  readonly child: ChildProcess & { pid: number };
  readonly state: SandboxState;
  run(command: Command): Promise<Outcome>;
  /** Starts it and does not wait; `started` when its first output is there. */
  start(command: Command): Promise<{ pid: number; outcome: Promise<Outcome> }>;
  abort(): void;
  /** Ends it in the ordinary way: the sandbox is closed. */
  close(): Promise<void>;
}

/** After `verifies`. Where there is no sandbox the test is skipped, with what is missing in one line at the end of the run. */
export function needsSandbox({ skip, task }: TestContext, state: SandboxState): void {
  if (!("missing" in state)) return;
  const wanted = `the sandbox: ${state.missing}. ${state.fix.replace(/\.$/, "")}`;
  // A build server installs it; whether its container has namespaces is not up to the repository.
  const isExpected = onServer !== "" && process.platform === "linux" && process.arch === "x64";
  const isInstalled = !state.missing.includes("not installed");
  if (isDemanded === "1" || (isExpected && !isInstalled)) {
    throw new Error(`This test needs ${wanted}.`);
  }
  task.meta.lacks = wanted;
  skip(`needs ${wanted}`);
}

/** The bundled runtime, for all tests of a file. */
export function useRuntimes(): {
  /** `first`: a script of the shell that ends with `exec "$@"`, for a runtime on another kind of machine. */
  open(uid: number, first?: string): Promise<Runtime>;
  /** The program itself. */
  program(): string;
} {
  let folder: string;
  const children: ChildProcess[] = [];
  beforeAll(async () => {
    folder = createFolder(process.getuid?.() ?? 0);
    await build({
      ...NODE_BUNDLE,
      entryPoints: [fileURLToPath(new URL("./sandbox-runtime.ts", import.meta.url))],
      outfile: join(folder, "runtime.mjs"),
    });
  });
  afterAll(() => {
    for (const child of children) child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    open: (uid, first) => openRuntime(join(folder, "runtime.mjs"), uid, first, children),
    program: () => join(folder, "runtime.mjs"),
  };
}

async function openRuntime(
  program: string,
  uid: number,
  first: string | undefined,
  children: ChildProcess[],
): Promise<Runtime> {
  const argv = [process.execPath, program];
  const [command = "", ...args] = first === undefined ? argv : ["sh", "-c", first, "sh", ...argv];
  const child = spawn(command, args, {
    cwd: "/",
    env: { PATH: process.env["PATH"], RUNTIME_SECRET },
    stdio: ["pipe", "pipe", "inherit"],
    ...(isRoot && uid !== 0 ? { uid, gid: uid } : {}),
  });
  children.push(child);
  const waiting = new Map<string, (message: object | undefined) => void>();
  const hear = <Message>(key: string) =>
    new Promise<Message>((resolve, reject) => {
      waiting.set(key, (message) => {
        if (message === undefined) reject(new Error(`The runtime ended before ${key}`));
        else resolve(message as Message);
      });
    });
  child.once("close", () => {
    for (const settle of waiting.values()) settle(undefined);
  });
  const state = hear<SandboxState>("state");
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { key, ...message } = JSON.parse(line) as { key: string };
    waiting.get(key)?.(message);
    waiting.delete(key);
  });
  let count = 0;
  const begin = (command: Command) => {
    const id = (count += 1);
    const started = hear<{ pid: number }>(`started ${id}`);
    const outcome = hear<Outcome>(`end ${id}`);
    started.catch(() => {});
    outcome.catch(() => {});
    child.stdin.write(`${JSON.stringify({ id, command })}\n`);
    return { started, outcome };
  };
  return {
    child: child as ChildProcess & { pid: number },
    state: await state,
    run: (command) => begin(command).outcome,
    async start(command) {
      const { started, outcome } = begin(command);
      return { pid: (await started).pid, outcome };
    },
    abort: () => void child.stdin.write(`${JSON.stringify({ abort: true })}\n`),
    async close() {
      child.stdin.end();
      await once(child, "close");
    },
  };
}

/** In the environment of the runtime, and not in that of its commands. */
export const RUNTIME_SECRET = "SECRET-of-the-runtime";

/** A folder of that user which commands in the sandbox see: not where directories are private there, as a clone may be. */
export function createFolder(uid: number): string {
  mkdirSync(CACHE, { recursive: true });
  const place = [CACHE, homedir(), "/var/cache", "/opt"].find(isSeenInside);
  if (place === undefined) throw new Error("there is no folder that the sandbox shows");
  const folder = realpathSync(mkdtempSync(join(place, "sandbox-")));
  chmodSync(folder, 0o755);
  own(folder, uid);
  return folder;
}

const CACHE = fileURLToPath(new URL("../../.cache", import.meta.url));

/** By every user that the tests run as. */
function isSeenInside(place: string): boolean {
  try {
    accessSync(place, constants.W_OK);
  } catch {
    return false;
  }
  const parts = realpathSync(place).split("/");
  const above = parts.map((_, index) => parts.slice(0, index + 1).join("/") || "/");
  if (above.some((path) => ["/tmp", "/run", "/var/tmp"].includes(path))) return false;
  return !isRoot || above.every((path) => (statSync(path).mode & 0o001) !== 0);
}

/** Gives it to that user with all that is in it, where we may. */
export function own(path: string, uid: number): void {
  if (!isRoot) return;
  lchownSync(path, uid, uid);
  if (!lstatSync(path).isDirectory()) return;
  for (const name of readdirSync(path)) own(join(path, name), uid);
}
