// What a worker does not do: what the policy of its dispatch denies, what its own does, work it has no definition for, jobs that
// are none, and anything at all with a clock that is off.

import { mkdir, symlink } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Job } from "../../packages/worker/src/index.ts";
import { bundleCli, type CliBundle } from "../cli/cli-bundle.ts";
import {
  countFacts,
  DONE,
  HELD,
  ONE,
  openCluster,
  openQueueOf,
  script,
  waitForJobs,
  waitForStep,
  work,
} from "./cluster-stage.ts";

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

function deny(path: string): string {
  return `[[permissions.rules]]\ntool = "code.write_file"\npath = "${path}"\ndecision = "deny"\n`;
}

function write(path: string): string {
  return `{ tool: code.write_file, input: { path: ${JSON.stringify(path)}, content: x } }`;
}

describe("the policy of a worker", () => {
  it("is below that of its dispatch and its own: a deny of either holds in the worker's project", async () => {
    verifies("DIST-1", "PERM-12");
    const { store, plan, machine } = await openCluster(bundle);
    const task = await plan(ONE);
    const there = await machine(deny("own"));
    const lead = await machine(deny("secret") + deny("$PROJECT/vault") + deny("$LINK/linked"));
    const config = join(lead.home, "config.toml");
    const link = join(lead.home, "link");
    await symlink(lead.project, link);
    const rules = await lead.read(config);
    await lead.write(config, rules.replace("$PROJECT", lead.project).replace("$LINK", link));
    const inside = (path: string): string => join(there.project, path);
    await mkdir(inside("secret"));
    await symlink("secret", inside("link"));
    const denied = [
      "secret/a",
      inside("secret/b"),
      "link/c",
      "own/d",
      "vault/e",
      inside("vault/f"),
      "linked/h",
    ];
    const calls = [...denied, "free/g"].map(write);
    const worker = await there.worker({ plays: script(work(...calls)) });
    expect(await lead.drive(task.id).ended).toMatchObject({ code: 0 });
    expect(await worker.stop("SIGTERM")).toMatchObject({ code: 0 });
    const files = ["secret/a", "secret/b", "secret/c", "own/d", "vault/e", "vault/f", "linked/h"];
    expect([...files, "free/g"].filter((file) => existsSync(inside(file)))).toEqual(["free/g"]);
    expect(await countFacts(store, "tool.denied")).toEqual({ "": denied.length });
  });
});

describe("work", () => {
  it("is left to others by a worker whose agent definition is another one", async () => {
    verifies("DIST-1");
    const { plan, machine } = await openCluster(bundle);
    const task = await plan(ONE);
    const pool = (config: string): string =>
      config.replace("remote = true", 'remote = true\nagent = "builder"');
    const machines = await Promise.all([machine(), machine(), machine()]);
    for (const [at, one] of machines.entries()) {
      const file = join(one.home, "config.toml");
      await one.write(file, pool(await one.read(file)));
      const body = at === 0 ? "Build something else." : "Build it.";
      const rules = 'rules: [ { tool: "code.web*", decision: deny } ]';
      const front = `---\ndescription: Builds.\nroles: [worker]\n${rules}\n---\n`;
      await one.write(join(one.home, "agents", "builder.md"), `${front}${body}\n`);
    }
    const [first, second, lead] = machines;
    const plays = script(DONE).replace("default_worker_agent", "builder");
    const unfit = await first?.worker({ plays });
    const driving = lead?.drive(task.id);
    await unfit?.printed(
      "is left to other workers: the agent definition builder is not the dispatcher's",
    );
    // It is said to whoever waits, too.
    await driving?.printed("waits for a worker that can take it: builders@");
    await second?.worker({ plays });
    expect(await driving?.ended).toMatchObject({ code: 0 });
    expect(unfit?.output()).not.toContain("→");
    // Once, however often it was delivered.
    expect(unfit?.output().match(/left to other workers/g)).toHaveLength(1);
  });

  it("is left to others by a worker without the guards of its dispatch", async () => {
    verifies("HOOK-1", "DIST-1");
    const { plan, machine } = await openCluster(bundle);
    const task = await plan(ONE);
    const [bare, guarded, lead] = await Promise.all([machine(), machine(), machine()]);
    const guard = { id: "no-secrets", event: "PreToolUse", path: "secret/**" };
    // The program may be another one on each machine.
    for (const [one, program] of [
      [lead, "/bin/true"],
      [guarded, "/bin/false"],
    ] as const) {
      const hooks = [{ ...guard, command: [program] }];
      await one.write(join(one.home, "hooks.json"), JSON.stringify({ hooks }));
    }
    const plays = script(work(...["secret/a", "free/b"].map(write)));
    const unfit = await bare.worker({ plays });
    const driving = lead.drive(task.id);
    await driving.printed(
      "because the hook no-secrets of the dispatching home can stop or change calls",
    );
    await guarded.worker({ plays });
    expect(await driving.ended).toMatchObject({ code: 0, stderr: "" });
    expect(unfit.output()).not.toContain("→");
    const files = ["secret/a", "free/b"].map((file) => join(guarded.project, file));
    expect(files.map((file) => existsSync(file))).toEqual([false, true]);
  });

  it("is done where the config says, and a pool whose workers are elsewhere is named", async () => {
    verifies("DIST-1");
    const { plan, machine } = await openCluster(bundle);
    const [remote, local] = [await plan(ONE), await plan(ONE)];
    const [there, lead] = await Promise.all([machine(), machine()]);
    const worker = await there.worker();
    await worker.printed("takes steps");
    // Whoever gives steps to remote workers alone needs no model.
    const drive = (id: string) => lead.run(["tasks", "drive", id]);
    expect(await drive(remote.id)).toMatchObject({ code: 0 });
    const file = join(lead.home, "config.toml");
    await lead.write(file, (await lead.read(file)).replace("remote = true", ""));
    const here = await drive(local.id);
    expect(here).toMatchObject({ code: 2, stderr: expect.stringContaining("no model") as string });
    const driving = await lead.drive(local.id).ended;
    expect(driving.stderr).toContain(
      "warning: the steps of the pool builders are done in this process, although there are workers",
    );
  });

  it("that no worker takes says so, and what to do", async () => {
    verifies("DIST-1");
    const { plan, machine } = await openCluster(bundle);
    const task = await plan(ONE);
    const lead = await machine("[agents]\nchild_timeout_ms = 4000\n");
    const { code, stdout, stderr } = await lead.drive(task.id).ended;
    expect(code).toBe(1);
    const sentence =
      "Step plan is not done: there is no worker of the pool builders. `soong worker --pool builders` starts one";
    expect(stdout).toContain(`← plan given back, builders/1: ${sentence}`);
    expect(stderr).toContain(`stuck: builders: ${sentence}`);
    expect(await task.step("plan")).toMatchObject({ status: "ready", attempts: 0 });
  });

  it("needs a store that machines share, and a pool that the config knows, or says so", async () => {
    verifies("DIST-1");
    const { machine } = await openCluster(bundle);
    const unknown = await (await machine("", "")).worker();
    expect(await unknown.ended).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        "config.toml of this home has no remote pool builders. Add [agents.worker_pools.builders]",
      ) as string,
    });
    const place = await machine();
    const env = { SOONG_STORE_URL: "" };
    const refused = await place.worker({ env });
    const wrong = await machine('[agents.worker_pools.painters]\nremote = true\nagent = "bob"\n');
    await wrong.write("s.yaml", script(DONE));
    const painters = await wrong.run(["worker", "--pool", "painters", "--model", "script:s.yaml"]);
    expect(painters).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        "there is no agent bob. `soong agents new bob --roles worker` writes one.",
      ) as string,
    });
    expect((await wrong.run(["doctor"])).stdout).toMatch(/fail +pools .*\.painters\] of config/);
    expect(await refused.ended).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        "A worker needs a store that machines share: set store.url",
      ) as string,
    });
    const steps = "[ { step_id: a, title: A, instructions: A. } ]";
    await place.write(
      "plan.yaml",
      `turns: [ { calls: [ { tool: agent.task_create, input: { title: T, goal: G., steps: ${steps} } } ] }, { text: Planned. } ]`,
    );
    await place.run(["run", "--mode", "orchestrator", "--model", "script:plan.yaml", "Plan"], {
      env,
    });
    const [id = ""] = (await place.run(["tasks"], { env })).stdout.split(" ");
    const driven = await place.run(["tasks", "drive", id, "--model", "script:none.yaml"], { env });
    expect(driven.code).toBe(1);
    expect(driven.stderr).toContain("there is no store that they share: set store.url.");
    const model = ["--model", "script:work.yaml"];
    for (const [args, sentence] of [
      [[], "Name the pool: `soong worker --pool NAME`."],
      [["--pool", "no pool"], "--pool is no pool; a pool is named with letters, digits, _ and -."],
      [["--pool", "a", "--concurrency", "0"], "--concurrency is 0; it is a number from 1 to 64."],
      [["--pool", "builders", "--project", "/nope"], "with --cwd, of a worker with --project"],
      [["--pool", "builder"], "has no remote pool builder. Did you mean builders?"],
      [["--pool", "builders", "--project", ".", "--cwd", "."], "both name the directory"],
    ] as const) {
      const { code, stderr } = await place.run(["worker", ...args, ...model]);
      expect({ code, stderr }).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(sentence) as string,
      });
    }
  });
});

describe("a job", () => {
  it("that comes twice is claimed once, and one that is none is dropped", async () => {
    verifies("DIST-1", "TASK-4");
    const cluster = await openCluster(bundle);
    const { store, plan, machine } = cluster;
    const task = await plan(ONE);
    const queue = await openQueueOf(cluster);
    const [first, second, lead] = await Promise.all([machine(), machine(), machine()]);
    const driving = lead.drive(task.id);
    const job = await takeJob();
    const { from, ...rest } = job.data;
    for (const [id, data] of Object.entries({
      "bad/1": {},
      "bad/2": { ...rest, from: { session_id: "session_none" } },
      "bad/3": { ...job.data, allowed_tools: [3] },
      "bad/4": { ...job.data, task_id: "task_none" },
      "bad/5": { ...job.data, from: { ...(from as object), session_id: "session_none" } },
      twice: job.data,
    })) {
      await queue.add("builders", { id, data });
    }
    const workers = await Promise.all([
      first.worker({ plays: script(HELD) }),
      second.worker({ plays: script(HELD) }),
    ]);
    await waitForStep(async () =>
      expect(await task.step("plan")).toMatchObject({ status: "running" }),
    );
    await Promise.all([first.write("gate", ""), second.write("gate", "")]);
    expect(await driving.ended).toMatchObject({ code: 0 });
    await waitForJobs(queue, 0);
    const said = workers.map((one) => one.output()).join("");
    expect(said.match(/→ plan/g)).toHaveLength(1);
    expect(said).toContain("The job bad/1 was dropped: it has no pool.");
    expect(said).toContain("The job bad/2 was dropped: it does not say where it is from (run_id).");
    expect(said).toContain("The job bad/3 was dropped: its allowed_tools must be a list of names.");
    expect(await countFacts(store, "task.step.claimed")).toEqual({ plan: 1 });
    expect(await task.step("plan")).toMatchObject({ attempts: 1 });

    /** As a worker would, and gives it back. */
    async function takeJob(): Promise<Job> {
      let found: (job: Job) => void = () => {};
      const got = new Promise<Job>((resolve) => {
        found = resolve;
      });
      const taker = await queue.take("builders", {
        concurrency: 1,
        async handle(one) {
          found(one);
          return { retryInMs: 0 };
        },
      });
      const one = await got;
      await taker.close();
      return one;
    }
  });
});

describe("a clock that is five minutes off", () => {
  it("keeps a worker from starting, and a dispatch from nothing", async () => {
    verifies("DIST-1", "TASK-4");
    const { plan, machine } = await openCluster(bundle);
    const task = await plan(ONE);
    const [first, second, lead] = await Promise.all([machine(), machine(), machine()]);
    const file = join(first.home, "clock.cjs");
    await first.write(
      file,
      "const now = Date.now; Date.now = () => now() + Number(process.env.OFF_MS);\n" +
        "const Real = Date; globalThis.Date = class extends Real { constructor(...a) { a.length === 0 ? super(Real.now()) : super(...a); } };\n",
    );
    const off = (ms: number) => ({ NODE_OPTIONS: `--require ${file}`, OFF_MS: String(ms) });
    const refused = await first.worker({ env: off(300_000) });
    expect(await refused.ended).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("is 300 s ahead of the database's") as string,
    });
    const worker = await second.worker();
    const args = ["tasks", "drive", task.id, "--model", "script:none.yaml"];
    expect(await lead.run(args, { env: off(-300_000) })).toMatchObject({ code: 0 });
    expect(await worker.stop("SIGTERM")).toMatchObject({ code: 0 });
    expect(await task.step("plan")).toMatchObject({ status: "completed", attempts: 1 });
  });
});
