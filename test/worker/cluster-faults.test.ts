// Workers that are killed or stopped, dispatchers that go away, and a queue that loses everything: nothing is lost, and nothing
// is done twice.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleCli, type CliBundle } from "../cli/cli-bundle.ts";
import {
  command,
  countFacts,
  HELD,
  ONE,
  openCluster,
  openQueueOf,
  readFacts,
  script,
  verifyAll,
  waitForJobs,
  waitForStep,
  work,
} from "./cluster-stage.ts";
import { drop } from "./queue-stage.ts";

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

const held = { plays: script(HELD) };
const TWO = [...ONE, { step_id: "next" }];
const CHAIN = [...ONE, { step_id: "next", depends_on: ["plan"] }];

describe("a worker", () => {
  it("that has claimed a step and not begun its run gives it back when the dispatch is stopped", async () => {
    verifies("DIST-1", "AGENT-5");
    const { plan, machine } = await openCluster(bundle);
    const task = await plan(ONE);
    const [there, lead] = await Promise.all([machine(), machine()]);
    // Longer than a dispatch that is stopped waits for its workers.
    const shell = `touch ${join(there.project, "begun")}; sleep 6`;
    const slow = { id: "slow", event: "SessionStart", command: ["/bin/sh", "-c", shell] };
    await there.write(join(there.home, "hooks.json"), JSON.stringify({ hooks: [slow] }));
    const worker = await there.worker({ plays: script(work(command("echo x >> ran"))) });
    const driving = lead.drive(task.id);
    await there.has("begun");
    expect(await driving.stop("SIGINT")).toMatchObject({
      code: 130,
      stdout: expect.stringContaining("← plan is being stopped, builders/1:") as string,
    });
    await worker.printed(
      /← plan of \S+: not finished: The run was aborted: .*interrupted by the user/,
    );
    expect(await task.step("plan")).toMatchObject({ status: "ready", attempts: 0 });
    expect(existsSync(join(there.project, "ran"))).toBe(false);
  });

  it("that is killed in the middle of a step loses it to another, which does it once", async () => {
    verifies("DIST-2", "TASK-4");
    const { store, plan, machine } = await openCluster(bundle);
    const task = await plan(ONE);
    const [first, second, lead] = await Promise.all([machine(), machine(), machine()]);
    const killed = await first.worker(held);
    const driving = lead.drive(task.id);
    await first.has("ran");
    await second.write("gate", "");
    const other = await second.worker(held);
    await other.printed("takes steps");
    await killed.stop("SIGKILL");
    expect(await driving.ended).toMatchObject({ code: 0 });
    const step = await task.step("plan");
    expect(step).toMatchObject({ status: "completed", attempts: 2 });
    expect(step.earlier).toMatchObject([{ attempt: 1, outcome: "lease_lost" }]);
    expect([await first.read("ran"), await second.read("ran")]).toEqual(["x\n", "x\n"]);
    expect(await countFacts(store, "task.step.completed")).toEqual({ plan: 1 });
    expect(await verifyAll(store)).toBe(3);
    // The dispatching session names both runs, and the end of the one that did it.
    const facts = await readFacts(store, task.session_id);
    const ids = facts.flatMap((fact) =>
      fact.type === "worker.dispatched" ? [fact.data.run_id] : [],
    );
    expect(ids).toEqual([step.earlier?.[0]?.run_id, step.last_run_id]);
    const ended = facts.flatMap((fact) =>
      fact.type === "agent.child.completed" ? [fact.data.child_run_id] : [],
    );
    expect(ended).toEqual([step.last_run_id]);
  });

  it("finishes its step after SIGTERM, takes nothing more, and ends with 0", async () => {
    verifies("DIST-1");
    const { plan, machine } = await openCluster(bundle);
    const task = await plan(TWO);
    const [first, second, lead] = await Promise.all([machine(), machine(), machine()]);
    const worker = await first.worker(held);
    const driving = lead.drive(task.id);
    await first.has("ran");
    worker.child.kill("SIGTERM");
    await worker.printed("Draining");
    await first.write("gate", "");
    expect(await worker.ended).toMatchObject({ code: 0 });
    expect(worker.output().match(/→/g)).toHaveLength(1);
    await second.worker();
    expect(await driving.ended).toMatchObject({ code: 0 });
    expect(await task.step("plan")).toMatchObject({ attempts: 1 });
    expect(await task.step("next")).toMatchObject({ attempts: 1 });
  });

  it("gives its step back at once where it has no time to finish, and that is no attempt", async () => {
    verifies("DIST-1");
    const { store, plan, machine } = await openCluster(bundle);
    const task = await plan(ONE);
    const [first, second, lead] = await Promise.all([machine(), machine(), machine()]);
    const worker = await first.worker({ ...held, args: ["--grace", "0"] });
    const driving = lead.drive(task.id);
    await first.has("ran");
    expect(await worker.stop("SIGTERM")).toMatchObject({ code: 130 });
    expect(await task.step("plan")).toMatchObject({ status: "ready", attempts: 0 });
    await second.worker();
    expect(await driving.ended).toMatchObject({ code: 0 });
    expect(await task.step("plan")).toMatchObject({
      status: "completed",
      attempts: 1,
      earlier: [{ outcome: "stopped" }],
    });
    expect(await countFacts(store, "task.step.completed")).toEqual({ plan: 1 });
  });

  it("that is drained from elsewhere has as much time to finish as after a signal", async () => {
    verifies("DIST-1");
    const { plan, machine } = await openCluster(bundle);
    const task = await plan(ONE);
    const [there, lead] = await Promise.all([machine(), machine()]);
    const worker = await there.worker({ ...held, args: ["--grace", "1"] });
    const driving = lead.drive(task.id);
    await there.has("ran");
    const [{ worker_id } = {}] = await lead.records("workers");
    expect(await lead.run(["workers", "drain", String(worker_id)])).toMatchObject({ code: 0 });
    expect(await worker.ended).toMatchObject({ code: 130 });
    expect(worker.output()).toContain(
      "Draining: it finishes 1 step within 1 s, gives back the rest",
    );
    expect(worker.output()).toContain(
      "The worker has ended. 1 step was stopped, for another worker.",
    );
    expect(await task.step("plan")).toMatchObject({ status: "ready", attempts: 0 });
    await driving.stop("SIGINT");
  });
});

describe("a dispatch", () => {
  it("that is stopped stops its worker, and the step is ready when it has ended", async () => {
    verifies("DIST-1", "TASK-6");
    const { store, plan, machine } = await openCluster(bundle);
    const task = await plan(ONE);
    const [there, lead] = await Promise.all([machine(), machine()]);
    const worker = await there.worker(held);
    const driving = lead.drive(task.id);
    await there.has("ran");
    expect(await driving.stop("SIGINT")).toMatchObject({ code: 130 });
    expect(await task.step("plan")).toMatchObject({ status: "ready", attempts: 0 });
    await worker.printed("← plan");
    expect(await countFacts(store, "run.aborted")).not.toEqual({});
    // The worker itself continues with what comes next.
    await there.write("gate", "");
    expect(await lead.drive(task.id).ended).toMatchObject({ code: 0 });
    expect(await worker.stop("SIGTERM")).toMatchObject({ code: 0 });
  });

  it("that is stopped at any moment leaves no step at work, and ends at once", async () => {
    verifies("DIST-1", "AGENT-5");
    const { plan, machine } = await openCluster(bundle);
    const [there, lead] = await Promise.all([machine(), machine()]);
    const late = '{ tool: code.run_command, input: { argv: [sh, -c, "sleep 20; date >> ran"] } }';
    const moments = [0, 20, 40, 60, 90, 120, 160, 220];
    const worker = await there.worker({ plays: script(...moments.map(() => work(late))) });
    for (const ms of moments) {
      const task = await plan(ONE);
      const driving = lead.drive(task.id);
      await driving.printed("→ plan");
      await delay(ms);
      expect(await driving.stop("SIGINT")).toMatchObject({ code: 130 });
      const { status, claim } = await task.step("plan");
      expect({ ms, status, claim }).toEqual({ ms, status: "ready", claim: undefined });
    }
    // It ends when all that it has begun is done.
    expect(await worker.stop("SIGTERM")).toMatchObject({ code: 0 });
    expect(existsSync(join(there.project, "ran"))).toBe(false);
  });

  it("that is gone is not worked on when its job comes late", async () => {
    verifies("DIST-1");
    const cluster = await openCluster(bundle);
    const { store, plan, machine } = cluster;
    const task = await plan(ONE);
    const [there, lead] = await Promise.all([machine(), machine()]);
    const queue = await openQueueOf(cluster);
    const driving = lead.drive(task.id);
    await waitForJobs(queue, 1);
    await driving.stop("SIGKILL");
    await waitForStep(async () => expect(await store.heldSessions([task.session_id])).toEqual([]));
    const worker = await there.worker();
    await waitForJobs(queue, 0);
    expect(await task.step("plan")).toMatchObject({ status: "ready", attempts: 0 });
    expect(worker.output()).not.toContain("→");
  });

  it("does not wait behind the job that an earlier one has left", async () => {
    verifies("DIST-1");
    // A third of that is longer than this test: no job is added a second time.
    const long = (usual: string): string => usual.replace("lease_ms = 3000", "lease_ms = 600000");
    const cluster = await openCluster(bundle, long);
    const task = await cluster.plan(ONE);
    const [there, lead] = await Promise.all([cluster.machine(), cluster.machine()]);
    const queue = await openQueueOf(cluster);
    const stopped = lead.drive(task.id);
    await waitForJobs(queue, 1);
    expect(await stopped.stop("SIGINT")).toMatchObject({ code: 130 });
    const driving = lead.drive(task.id);
    await waitForJobs(queue, 2);
    await there.worker();
    expect(await driving.ended).toMatchObject({ code: 0 });
    expect(await task.step("plan")).toMatchObject({ status: "completed", attempts: 1 });
    await waitForJobs(queue, 0);
  });

  it("goes on when the tables of the queue are dropped", async () => {
    verifies("DIST-1");
    const { url, plan, machine } = await openCluster(bundle);
    const task = await plan(CHAIN);
    const [there, lead] = await Promise.all([machine(), machine()]);
    await there.worker(held);
    const driving = lead.drive(task.id);
    await there.has("ran");
    const client = new Client({ connectionString: url });
    await client.connect();
    await drop(client, "schema bullmq");
    await client.end();
    await there.write("gate", "");
    expect(await driving.ended).toMatchObject({ code: 0 });
    expect(await task.step("next")).toMatchObject({ status: "completed", attempts: 1 });
  });
});
