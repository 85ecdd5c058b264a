// The machines of a campaign: each has a home, a project, a network of its own to the database, and a worker that is started
// again when it has gone. One of them drives the task.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { environment } from "../../cli/cli-bundle.ts";
import { startProxy, type Proxy } from "../../postgres/proxy.ts";

/** Divides by six: a third and a sixth of it are timeouts. */
export const LEASE_MS = 3_000;
export const POOL = "builders";
/** Fewer than there are machines: what is measured is how soon a step is taken over, not how many wait for a worker. */
const AT_ONCE = 2;

const CONFIG = `
[agents.worker_pools.${POOL}]
size = ${AT_ONCE}
remote = true
allowed_tools = ["user.effect"]
[task]
lease_ms = ${LEASE_MS}
[store]
lease_ms = ${2 * LEASE_MS}
[sandbox]
mode = "off"
`;

/** What it is given has the id of the call: a line for its start, and one for each tenth of a second of its life. */
const EFFECT = `#!/bin/sh
read -r call
echo "$call" >> effects
for beat in 1 2 3 4; do sleep 0.1; date +%s%3N >> "beats-$(echo "$call" | sed 's/.*"tool_call_id":"\\([^"]*\\)".*/\\1/')"; done
echo '{"ok":true,"summary":"done"}'
`;

const TOOL = {
  name: "user.effect",
  description: "Does it.",
  input_schema: { type: "object", properties: {}, additionalProperties: false },
  permission: "write",
  command_type: "exec",
  command: "./effect.sh",
  args: [],
};

const UPDATE = "agent.task_update_step";
const TURNS = [
  { calls: [{ tool: UPDATE, input: { status: "running" } }] },
  { calls: [{ tool: "user.effect", input: {} }] },
  { calls: [{ tool: UPDATE, input: { status: "completed", summary: "It is." } }] },
  { text: "Done." },
];
const MOST_STARTS = 500;

/** The clock of the process jumps with a signal: five minutes ahead, back, five minutes behind, back. */
const CLOCK = `let off = 0, at = 0;
const Real = Date, now = Date.now.bind(Date);
process.on("SIGUSR2", () => { off = [300000, 0, -300000, 0][at++ % 4]; });
globalThis.Date = class Date extends Real { constructor(...a) { if (a.length === 0) super(now() + off); else super(...a); } static now() { return now() + off; } };
`;

/** A home and a project, for commands. */
export interface Desk {
  readonly folder: string;
  readonly project: string;
  readonly run: (args: readonly string[]) => ChildProcess;
}

export interface Machine extends Pick<Desk, "project"> {
  readonly network: Proxy;
  /** Undefined while it starts. */
  readonly worker_id: string | undefined;
  readonly child: ChildProcess;
  /** What its workers said they have claimed: one that is killed at once has it nowhere on record. */
  readonly begun: readonly BegunStep[];
  /** With SIGKILL; it is started again. */
  kill(): void;
  close(): Promise<void>;
}

export interface BegunStep {
  /** `<task>/<step>` */
  readonly step: string;
  readonly at: number;
}

export interface MachineOptions {
  readonly folder: string;
  readonly name: string;
  readonly program: string;
  readonly url: string;
}

export async function createDesk(options: MachineOptions): Promise<Desk> {
  const { program, name, url } = options;
  const folder = join(options.folder, name);
  const home = join(folder, "home");
  const project = join(folder, "project");
  await mkdir(project, { recursive: true });
  await mkdir(join(home, "tools"), { recursive: true, mode: 0o700 });
  const starts = Array.from({ length: MOST_STARTS }, () => TURNS);
  const files = {
    "home/config.toml": CONFIG,
    "home/tools/effect.json": JSON.stringify(TOOL),
    "home/tools/effect.sh": EFFECT,
    "project/work.json": JSON.stringify({ turns: [], agents: { default_worker_agent: starts } }),
    "project/none.json": JSON.stringify({ turns: [{ text: "never" }] }),
    "clock.cjs": CLOCK,
  };
  for (const [path, content] of Object.entries(files)) {
    await writeFile(join(folder, path), content, { mode: 0o600 });
  }
  await chmod(join(home, "tools/effect.sh"), 0o700);
  return {
    folder,
    project,
    run: (args) =>
      spawn(process.execPath, ["--require", join(folder, "clock.cjs"), program, ...args], {
        cwd: project,
        env: environment(home, { SOONG_STORE_URL: url }),
        stdio: ["ignore", "pipe", "pipe"],
      }),
  };
}

export async function startMachine(options: MachineOptions): Promise<Machine> {
  const network = await startProxy(options.url);
  const { folder, project, run } = await createDesk({ ...options, url: network.url });
  const log = createWriteStream(join(folder, "log"), { flags: "a" });
  const begun: BegunStep[] = [];
  let worker_id: string | undefined;
  let isClosed = false;
  let child = startWorker();

  return {
    project,
    network,
    begun,
    get worker_id() {
      return worker_id;
    },
    get child() {
      return child;
    },
    kill: () => void child.kill("SIGKILL"),
    async close() {
      isClosed = true;
      if (child.exitCode === null && child.signalCode === null) {
        child.kill("SIGKILL");
        await once(child, "close");
      }
      await network.close();
    },
  };

  function startWorker(): ChildProcess {
    worker_id = undefined;
    const model = ["--model", "script:work.json", "--allow", "user.effect"];
    const started = run(["worker", "--pool", POOL, ...model]);
    started.stdout?.setEncoding("utf8").on("data", (text: string) => {
      worker_id ??= /^Worker (\S+) takes/m.exec(text)?.[1];
      log.write(`${Date.now()} ${text}`);
      for (const [, step_id, task_id] of text.matchAll(/^→ (\S+) of (\S+):/gm)) {
        begun.push({ step: `${task_id}/${step_id}`, at: Date.now() });
      }
    });
    started.stderr?.pipe(log, { end: false });
    started.once("close", (code, signal) => {
      log.write(`(ended: ${code ?? signal})\n`);
      if (isClosed) return;
      // A worker that cannot reach the database ends; a service manager starts it again.
      if (signal === null) setTimeout(restart, 500);
      else restart();
    });
    return started;
  }

  function restart(): void {
    if (!isClosed) child = startWorker();
  }
}

/** The calls that had an effect, once for each time. */
export async function readEffects({ project }: Pick<Machine, "project">): Promise<string[]> {
  const text = await readFile(join(project, "effects"), "utf8").catch(() => "");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => (JSON.parse(line) as { tool_call_id: string }).tool_call_id);
}

/** When the command of a call was still alive, in milliseconds since the epoch. */
export async function readBeats(
  { project }: Pick<Machine, "project">,
  tool_call_id: string,
): Promise<number[]> {
  const text = await readFile(join(project, `beats-${tool_call_id}`), "utf8").catch(() => "");
  return text.split("\n").filter(Boolean).map(Number);
}

/** The host is the same for all of them here; the process is not. */
export function isOf(
  { worker_id }: Pick<Machine, "worker_id">,
  worker: string | undefined,
): boolean {
  return worker_id !== undefined && worker?.startsWith(`${worker_id}/`) === true;
}
