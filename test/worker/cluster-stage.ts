// Machines for a test: each has a home, a project and processes of its own, and they share only the database.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, vi } from "vitest";
import type { Fact } from "../../packages/core/src/index.ts";
import type { Runtime } from "../../packages/cli/src/runtime/open-runtime.ts";
import type { Store } from "../../packages/store/src/index.ts";
import { openJobQueue, type JobQueue } from "../../packages/worker/src/index.ts";
import type { StepRecord } from "../../packages/tasks/src/index.ts";
import type { CliBundle, Ended, Place, StartOptions, Started } from "../cli/cli-bundle.ts";
import { usePostgres } from "../postgres/shared.ts";

export const WAIT = { timeout: 30_000, interval: 25 };

/** The name of a worker, with its host. */
export const WORKER = /^builders@\S+\/\d+$/;

/** Short leases, so that a killed worker's step is soon another's. */
const CONFIG = `
[agents.worker_pools.builders]
size = 4
remote = true
allowed_tools = ["code.run_command", "code.write_file", "code.read_file"]
[task]
lease_ms = 3000
[store]
lease_ms = 3000
[sandbox]
mode = "off"
`;

const UPDATE = "tool: agent.task_update_step";
const BEGIN = `{ calls: [ { ${UPDATE}, input: { status: running } } ] }`;
const END = `{ calls: [ { ${UPDATE}, input: { status: completed, summary: It is. } } ] }, { text: Done. }`;

/** The turns of one start of a worker, with calls between the two updates of its step. */
export function work(...calls: readonly string[]): string {
  const turns = calls.map((call) => `{ calls: [ ${call} ] }, `).join("");
  return `[ ${BEGIN}, ${turns}${END} ]`;
}

export const DONE = work();

export function command(shell: string): string {
  return `{ tool: code.run_command, input: { argv: [sh, -c, ${JSON.stringify(shell)}] } }`;
}

/** Leaves a line in `ran`, then waits until the file `gate` is in the project. */
export const HELD = work(command("echo x >> ran; until [ -e gate ]; do sleep 0.05; done"));

/** The script of a worker that is started up to ten times. */
export function script(...starts: readonly string[]): string {
  const all = starts.length === 1 ? Array.from({ length: 10 }, () => starts[0]) : starts;
  const list = all.map((start) => `    - ${start}`).join("\n");
  return `turns: [ { text: never } ]\nagents:\n  default_worker_agent:\n${list}\n`;
}

export interface Machine extends Place {
  /** Of this machine's command, with the database. */
  readonly env: Readonly<Record<string, string>>;
  worker(options?: WorkerStart): Promise<Process>;
  drive(task_id: string, ...more: string[]): Process;
  /** The records a command printed, when it ends with 0. */
  records(...args: readonly string[]): Promise<Record<string, unknown>[]>;
  has(file: string): Promise<void>;
}

export interface WorkerStart {
  /** Default: every step is done at once. */
  readonly plays?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface Process extends Started {
  printed(wanted: string | RegExp): Promise<void>;
  output(): string;
  stop(signal: NodeJS.Signals): Promise<Ended>;
}

export interface Cluster {
  readonly url: string;
  readonly store: Store;
  /** Of this process, with the same store. */
  readonly runtime: Runtime;
  /** With more config, or with another one. */
  readonly machine: (more?: string, config?: string) => Promise<Machine>;
  readonly plan: (steps: readonly PlannedStep[]) => Promise<PlannedTask>;
}

export interface PlannedStep {
  readonly step_id: string;
  readonly depends_on?: readonly string[];
}

export interface PlannedTask {
  readonly id: string;
  readonly session_id: string;
  step(step_id: string): Promise<StepRecord>;
}

export const DIAMOND: readonly PlannedStep[] = [
  { step_id: "plan" },
  { step_id: "left", depends_on: ["plan"] },
  { step_id: "right", depends_on: ["plan"] },
  { step_id: "join", depends_on: ["left", "right"] },
];

export const ONE: readonly PlannedStep[] = [{ step_id: "plan" }];

/** `config`: of this process and, by default, of all machines. */
export async function openCluster(
  bundle: CliBundle,
  config: (usual: string) => string = (usual) => usual,
): Promise<Cluster> {
  const url = await usePostgres();
  const { loadConfig, openRuntime } = await bundle.modules();
  const here = await bundle.place();
  await here.write(join(here.home, "config.toml"), config(CONFIG));
  const runtime = await openRuntime({
    env: { SOONG_STORE_URL: url },
    cwd: here.project,
    config: await loadConfig({ home: here.home }),
    agents: true,
  });
  onTestFinished(() => runtime.close());
  const { agents } = runtime;
  if (agents === undefined) throw new Error("A cluster needs agents.");
  const { tasks } = agents;
  return {
    url,
    runtime,
    store: await runtime.store(),
    machine: (more = "", own = config(CONFIG)) => createMachine(bundle, url, `${own}${more}`),
    async plan(steps) {
      const held = await runtime.openSession({ title: "The plan" });
      const { session_id } = held.session;
      const actor = { kind: "orchestrator", session_id, run_id: "r", agent_id: "a" } as const;
      const { task } = await tasks.create(
        { actor },
        {
          title: "Build it",
          goal: "A thing is built.",
          steps: steps.map((step) => ({
            title: `Do ${step.step_id}`,
            instructions: "Do.",
            ...step,
          })),
        },
      );
      await held.close();
      return {
        id: task.task_id,
        session_id,
        async step(step_id) {
          const step = await tasks.reader.step(task.task_id, step_id);
          if (step === undefined) throw new Error(`There is no step ${step_id}.`);
          return step;
        },
      };
    },
  };
}

export async function readFacts(store: Store, session_id: string): Promise<Fact[]> {
  return (await store.readSession(session_id)).facts({ limit: 10_000 });
}

/** How many sessions there are, each as it was recorded. */
export async function verifyAll(store: Store): Promise<number> {
  const sessions = await store.sessions({ limit: 1000 });
  for (const { session_id } of sessions) {
    expect(await store.verify(session_id)).toMatchObject({ ok: true });
  }
  return sessions.length;
}

/** In all sessions: by the step it is about. */
export async function countFacts(
  store: Store,
  type: Fact["type"],
): Promise<Record<string, number>> {
  const sessions = await store.sessions({ limit: 1000 });
  const ids = sessions.map(({ session_id }) => session_id);
  const counts: Record<string, number> = {};
  for (const { data } of await store.factsOfTypes(ids, [type])) {
    const { step_id = "" } = data as { step_id?: string };
    counts[step_id] = (counts[step_id] ?? 0) + 1;
  }
  return counts;
}

export async function openQueueOf({ url }: Cluster): Promise<JobQueue> {
  const queue = await openJobQueue(url);
  onTestFinished(() => queue.close());
  return queue;
}

export async function waitForJobs(queue: JobQueue, waiting: number): Promise<void> {
  await vi.waitFor(
    async () => expect(await queue.count("builders")).toEqual({ waiting, active: 0 }),
    WAIT,
  );
}

export async function waitForStep(check: () => Promise<void>): Promise<void> {
  await vi.waitFor(check, WAIT);
}

/** Who drives a task needs none of its own. */
const NO_MODEL = "script:none.yaml";

/** On both sides: what the one that dispatches would ask about, the other asks about. */
const ALLOW = ["--allow", "code.run_command", "--allow", "code.write_file"];

async function createMachine(bundle: CliBundle, url: string, config: string): Promise<Machine> {
  const place = await bundle.place();
  await place.write(join(place.home, "config.toml"), config);
  await place.write("none.yaml", "turns: [ { text: never } ]\n");
  const shared = { SOONG_STORE_URL: url };
  const start = (args: readonly string[], { env, ...options }: StartOptions = {}): Started =>
    place.start(args, { ...options, env: { ...shared, ...env } });
  const run: Place["run"] = (args, options) => start(args, options).ended;
  return {
    ...place,
    env: shared,
    start,
    run,
    async worker({ plays = script(DONE), args = [], env } = {}) {
      await place.write("work.yaml", plays);
      const model = ["--model", "script:work.yaml", ...ALLOW];
      const started = start(["worker", "--pool", "builders", ...model, ...args], {
        ...(env !== undefined && { env }),
      });
      return follow(started);
    },
    drive: (task_id, ...more) =>
      follow(start(["tasks", "drive", task_id, "--model", NO_MODEL, ...ALLOW, ...more])),
    async records(...args) {
      const ended = await run([...args, "--json"]);
      expect(ended).toMatchObject({ code: 0, stderr: "" });
      return ended.stdout
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    },
    has: (file) => vi.waitFor(() => expect(existsSync(join(place.project, file))).toBe(true), WAIT),
  };
}

function follow(started: Started): Process {
  let text = "";
  for (const stream of [started.child.stdout, started.child.stderr]) {
    stream?.on("data", (part: string) => {
      text += part;
    });
  }
  onTestFinished(async () => {
    started.child.kill("SIGKILL");
    await started.ended;
  });
  return {
    ...started,
    output: () => text,
    printed: (wanted) => vi.waitFor(() => expect(text).toMatch(wanted), WAIT),
    stop(signal) {
      started.child.kill(signal);
      return started.ended;
    },
  };
}
