// Tasks at the command line: an orchestrator leaves one, workers of the command do it, and whoever looks sees how it
// stands, also from another process.

import { once } from "node:events";
import { join } from "node:path";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { bundleCli, type CliBundle, type Place, type Started } from "./cli-bundle.ts";

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

const PLAN = `
turns:
  - calls:
      - tool: agent.task_create
        input:
          title: Build it
          goal: A thing is built.
          steps:
            - { step_id: plan, title: Plan it, instructions: Plan. }
            - { step_id: left, title: Do the left, instructions: Left., depends_on: [plan] }
            - { step_id: join, title: Join them, instructions: Join., depends_on: [left, plan] }
  - text: The plan is made.
`;

const UPDATE = "tool: agent.task_update_step";
const BEGIN = `{ calls: [ { ${UPDATE}, input: { status: running } } ] }`;
const DONE = `[ ${BEGIN}, { calls: [ { ${UPDATE}, input: { status: completed, summary: It is. } } ] }, { text: Done. } ]`;
const FAILED = `[ ${BEGIN}, { calls: [ { ${UPDATE}, input: { status: failed, reason: no luck } } ] }, { text: Sorry. } ]`;
const BLOCKED = `[ ${BEGIN}, { calls: [ { ${UPDATE}, input: { status: blocked, reason: no key } } ] }, { text: Sorry. } ]`;
const WAITS = `[ ${BEGIN}, { parts: [ { text: "…", after_ms: 2000000 } ] } ]`;

/** One for each start, in order. */
function workers(...starts: readonly string[]): string {
  const list = starts.map((start) => `    - ${start}`).join("\n");
  return `turns: [ { text: never } ]\nagents:\n  default_worker_agent:\n${list}\n`;
}

type Runtime = Awaited<ReturnType<Awaited<ReturnType<CliBundle["modules"]>>["openRuntime"]>>;
type Tasks = NonNullable<Runtime["agents"]>["tasks"];

interface Task {
  readonly place: Place;
  readonly id: string;
  readonly drive: (script: string, ...more: string[]) => ReturnType<Place["run"]>;
  /** By the orchestrator, before anyone works on it. */
  readonly block: (reason: string) => Promise<unknown>;
  readonly step: (step_id: string) => ReturnType<Tasks["reader"]["step"]>;
}

/** Made in this process: only those who work on it are processes of their own. */
async function planned(config = ""): Promise<Task> {
  const place = await bundle.place();
  await place.write(join(place.home, "config.toml"), config);
  const { loadConfig, openRuntime } = await bundle.modules();
  const runtime = await openRuntime({
    env: {},
    cwd: place.project,
    config: await loadConfig({ home: place.home }),
    agents: true,
  });
  onTestFinished(() => runtime.close());
  const tasks = runtime.agents?.tasks as Tasks;
  const held = await runtime.openSession({ title: "The plan" });
  const { session_id } = held.session;
  const actor = { kind: "orchestrator", session_id, run_id: "r", agent_id: "a" } as const;
  const { task } = await tasks.create(
    { actor },
    {
      title: "Build it",
      goal: "A thing is built.",
      steps: [
        { step_id: "plan", title: "Plan it", instructions: "Plan." },
        { step_id: "left", title: "Do the left", instructions: "Left.", depends_on: ["plan"] },
        { step_id: "right", title: "Do the right", instructions: "Right.", depends_on: ["plan"] },
        {
          step_id: "join",
          title: "Join them",
          instructions: "Join.",
          depends_on: ["left", "right"],
        },
      ],
    },
  );
  await held.close();
  const id = task.task_id;
  return {
    place,
    id,
    async drive(script, ...more) {
      await place.write("work.yaml", script);
      return place.run(["tasks", "drive", id, "--model", "script:work.yaml", ...more]);
    },
    block: (reason) =>
      tasks.update({ actor }, { task_id: id, operations: [{ op: "block_task", reason }] }),
    step: (step_id) => tasks.reader.step(id, step_id),
  };
}

/** Resolves when it has printed that. */
async function printed({ child }: Started, wanted: string): Promise<void> {
  let seen = "";
  child.stdout?.setEncoding("utf8");
  while (!seen.includes(wanted)) {
    const [text] = (await once(child.stdout as NodeJS.ReadableStream, "data")) as [string];
    seen += text;
  }
}

describe("soong tasks", () => {
  it("lists what orchestrators left, shows one with its steps by level, and says what there is not", async () => {
    verifies("CLI-5", "CLI-2", "TASK-1");
    const place = await bundle.place();
    await place.write("plan.yaml", PLAN);
    const model = ["--model", "script:plan.yaml"];
    const run = await place.run(["run", "--mode", "orchestrator", ...model, "Plan it"]);
    expect(run).toMatchObject({ code: 0, stdout: "The plan is made.\n" });
    const { stdout } = await place.run(["tasks"]);
    expect(stdout).toMatch(/^task_\w+ {2}pending {2}0\/3 steps {2}just now\n {4}Build it\n$/);
    const id = stdout.split(" ")[0] ?? "";
    const shown = await place.run(["tasks", id.slice(0, -1)]);
    expect(shown.stdout).toBe(
      [
        "Build it  pending  0/3 steps",
        "A thing is built.",
        "1 ○ plan Plan it",
        "         ready",
        "2 · left Do the left ← plan",
        "         pending, waits for 1",
        "3 · join Join them ← left, plan",
        "         pending, waits for 2",
        `No process drives it: \`soong tasks drive ${id}\` does.`,
        "",
      ].join("\n"),
    );
    const unknown = await place.run(["tasks", "task_none"]);
    expect(unknown).toMatchObject({ code: 1, stdout: "" });
    expect(unknown.stderr).toContain("There is no task task_none. `soong tasks` lists");
    const empty = await bundle.place();
    expect(await empty.run(["tasks"])).toMatchObject({ code: 0, stdout: "" });
  });

  it("drives a task to its end with the workers of the config, and says who did what", async () => {
    verifies("TASK-6", "CLI-5", "CONF-3");
    const config = `
[task]
max_attempts = 2
[agents.worker_pools.hands]
size = 1
`;
    const { drive, step, place, id } = await planned(config);
    expect(await step("plan")).toMatchObject({ max_attempts: 2 });
    const driven = await drive(workers(FAILED, DONE, DONE, DONE, DONE));
    expect(driven).toMatchObject({ code: 0, stderr: "" });
    expect(driven.stdout).toBe(
      [
        "→ plan to hands/1: Plan it",
        "← plan failed, hands/1: no luck",
        "↻ plan: tried 1 of 2 times",
        "→ plan to hands/1 (attempt 2): Plan it",
        "← plan completed (1/4), hands/1: It is.",
        "→ left to hands/1: Do the left",
        "← left completed (2/4), hands/1: It is.",
        "→ right to hands/1: Do the right",
        "← right completed (3/4), hands/1: It is.",
        "→ join to hands/1: Join them",
        "← join completed (4/4), hands/1: It is.",
        "The task is completed. All steps are done: 4 completed.",
        "",
      ].join("\n"),
    );
    const shown = await place.run(["tasks", id]);
    expect(shown.stdout).toContain("completed, attempt 2 of 2: It is.");
    expect((await place.run(["verify", "--all"])).code).toBe(0);
    // It is over: there is nothing left to cancel.
    const cancelled = await place.run(["tasks", "cancel", id]);
    expect(cancelled.code).toBe(1);
    expect(cancelled.stderr).toContain("completed");
    const retried = await place.run(["tasks", "retry", id]);
    expect(retried).toMatchObject({ code: 1 });
    expect(retried.stderr).toContain(`The task ${id} is completed: it cannot be continued.`);
  });

  it("ends a task as failed with the reason, and prints facts alone with --json", async () => {
    verifies("TASK-6", "CLI-6");
    const { drive, place, id } = await planned("[task]\nmax_attempts = 1\n");
    const driven = await drive(workers(DONE, FAILED, DONE), "--json", "--pool", "workers");
    expect(driven).toMatchObject({ code: 1, stderr: "" });
    const types = driven.stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { type: string }).type);
    expect(types).toContain("task.failed");
    expect(types.at(-1)).toBe("run.failed");
    const followed = await place.run(["tasks", id, "--follow", "--json"]);
    expect(followed.code).toBe(1);
    const [task] = followed.stdout.split("\n");
    const { reason } = (JSON.parse(task ?? "") as { task: { reason: string } }).task;
    expect(reason).toMatch(/failed once, last: no luck\. 1 further steps/);
  });

  it("leaves a blocked step to the user, who lets it continue", async () => {
    verifies("TASK-6", "CLI-5");
    const { drive, place, id, step, block } = await planned("[task]\nmax_attempts = 1\n");
    await block("wait for the key");
    expect((await drive(workers(DONE))).stderr).toContain("waits for you: wait for the key");
    expect(await place.run(["tasks", "retry", id])).toMatchObject({ code: 0, stdout: "" });
    const driven = await drive(workers(BLOCKED));
    expect(driven.code).toBe(1);
    expect(driven.stderr).toContain("The task waits for you: Step plan is blocked: no key.");
    expect((await place.run(["tasks", "retry", id, "nope"])).stderr).toContain(
      "nope is not a step",
    );
    const retried = await place.run(["tasks", "retry", id]);
    expect(retried).toMatchObject({ code: 0, stdout: "plan is ready again.\n" });
    expect((await place.run(["tasks", "retry", id])).stderr).toContain("No step of it has failed");
    expect(await drive(workers(DONE, DONE, DONE, DONE))).toMatchObject({ code: 0 });
    expect(await step("plan")).toMatchObject({ status: "completed", attempts: 1 });
  });

  it("stops cleanly at Ctrl-C: steps are given back, another drive continues, and others see it all", async () => {
    verifies("TASK-6", "TASK-4", "CLI-5", "CONF-3");
    const { drive, place, id, step } = await planned("[task]\nlease_ms = 600_000\n");
    await place.write("work.yaml", workers(DONE, WAITS, WAITS));
    const driving = place.start(["tasks", "drive", id, "--model", "script:work.yaml"]);
    const following = place.start(["tasks", id, "--follow"]);
    await printed(following, "… right running");
    const { status, attempts, claim } = (await step("right")) ?? {};
    expect({ status, attempts }).toEqual({ status: "running", attempts: 1 });
    expect(claim?.worker).toMatch(/^workers\/\d$/);
    expect(Date.parse(claim?.lease_expires_at ?? "") - Date.now()).toBeGreaterThan(300_000);
    const shown = await place.run(["tasks", id, "--json"]);
    expect(shown.stdout).toContain(`"worker":"${claim?.worker}"`);
    expect(shown.stdout).not.toContain("token");
    // Someone else cannot work in that session meanwhile, and is told so.
    const second = await drive(workers(DONE));
    expect(second.code).toBe(1);
    expect(second.stderr).toMatch(/session_\w+ is (in use|open)/);
    driving.child.kill("SIGINT");
    const stopped = await driving.ended;
    expect(stopped.code).toBe(130);
    expect(stopped.stderr).toContain("steps that they have not finished are given back");
    expect(stopped.stderr).toContain(
      `Stopped: interrupted by the user. \`soong tasks drive ${id}\` continues.`,
    );
    expect(await step("left")).toMatchObject({ status: "ready", attempts: 0 });
    expect(await step("right")).toMatchObject({ status: "ready", attempts: 0 });
    expect(await drive(workers(DONE, DONE, DONE))).toMatchObject({ code: 0 });
    const { code, stdout } = await following.ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(/the task is completed: All steps are done/);
  });

  it("cancels a task that is being worked on, and its worker finds it gone", async () => {
    verifies("TASK-6", "CLI-5");
    const { place, id } = await planned();
    await place.write("work.yaml", workers(WAITS));
    const driving = place.start(["tasks", "drive", id, "--model", "script:work.yaml"]);
    await printed(driving, "→ plan");
    const cancelled = await place.run(["tasks", "cancel", id, "--reason", "not needed"]);
    expect(cancelled).toMatchObject({ code: 0, stdout: `${id} is cancelled.\n` });
    const ended = await driving.ended;
    expect(ended).toMatchObject({ code: 1 });
    expect(ended.stderr).toContain("cancelled: not needed");
    expect(ended.stderr).not.toContain("soong tasks drive");
    expect(ended.stdout).toContain("the task was cancelled: not needed");
    expect(ended.stdout).not.toContain("the drive has ended");
  });

  it("says what is wrong with how it is used", async () => {
    verifies("CLI-6");
    const { drive, place, id } = await planned();
    const noModel = await place.run(["tasks", "drive", id, "--pool", "hans"]);
    expect(noModel).toMatchObject({ code: 2, stdout: "" });
    expect(noModel.stderr).toContain("There is no worker pool hans; there are workers.");
    const unknown = await drive(workers(DONE), "--pool", "hans");
    expect(unknown).toMatchObject({ code: 2, stdout: "" });
    expect(unknown.stderr).toContain("There is no worker pool hans; there are workers.");
    const denied = await drive(workers(DONE), "--deny", "agent.dispatch_worker");
    expect(denied.code).toBe(1);
    expect(denied.stderr).toContain("stuck: ");
  });
});
