// Claims and leases (TASK-4), on a clock that is moved by hand.

import { leaseMargin } from "@soong/platform";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import {
  createClaimKeeper,
  createMemoryTasks,
  createTasks,
  type HeldClaim,
} from "../../packages/tasks/src/index.ts";
import { createTaskStage, LEASE_MS, refusal, type TaskStage } from "./task-stage.ts";

describe("a claim", () => {
  test("is of the first ready step, in the order of the plan, and says who holds it", async () => {
    verifies("TASK-4");
    const stage = createTaskStage();
    const task_id = await stage.create({ late: ["first"], first: [], second: [] });
    const claimed = await stage.tasks.claim(stage.worker("run_w", task_id), { task_id });
    expect(claimed).toMatchObject({
      kind: "claimed",
      step: { step_id: "first", status: "claimed", attempts: 1, instructions: "All of first." },
    });
    expect((await stage.step(task_id, "first")).claim).toMatchObject({
      run_id: "run_w",
      agent_id: "agent_run_w",
      worker: "w1",
      lease_expires_at: new Date(stage.clock.now() + LEASE_MS).toISOString(),
    });
    const [, fact] = stage.facts;
    expect(fact).toMatchObject({
      type: "task.step.claimed",
      data: { step_id: "first", attempt: 1 },
    });
    expect(JSON.stringify(stage.facts)).not.toContain("token");
  });

  test("is one a run, for any task, until the step is finished", async () => {
    verifies("TASK-4");
    const stage = createTaskStage();
    const task_id = await stage.create({ a: [], b: [] });
    const other = await stage.create({ x: [] });
    const worker = stage.worker("run_w", task_id);
    const claim = await stage.run(worker, task_id);
    for (const request of [{ task_id }, { task_id, step_id: "b" }, { task_id, step_id: "a" }]) {
      const refused = await refusal(stage.tasks.claim(worker, request));
      expect(refused).toMatchObject({ code: "claim_held", details: { step_id: "a" } });
    }
    const elsewhere = stage.worker("run_w", other);
    expect((await refusal(stage.tasks.claim(elsewhere, { task_id: other }))).code).toBe(
      "claim_held",
    );
    await stage.tasks.updateStep(worker, { ...claim, status: "completed", summary: "s" });
    expect((await stage.run(worker, task_id)).step_id).toBe("b");
  });

  test("of a step that is not ready is refused with the reason and what is ready", async () => {
    verifies("TASK-4");
    const stage = createTaskStage();
    const task_id = await stage.create({ a: [], b: ["a"], c: [] });
    await stage.run(stage.worker("run_1", task_id), task_id, "a");
    const worker = stage.worker("run_2", task_id);
    const claimOf = (step_id: string): Promise<unknown> =>
      stage.tasks.claim(worker, { task_id, step_id });
    expect((await refusal(claimOf("a"))).message).toBe(
      "Step a is running by run run_1 and cannot be claimed. Ready now: c.",
    );
    expect((await refusal(claimOf("b"))).message).toContain("waits for 1 of its dependencies");
    expect((await refusal(claimOf("nowhere"))).code).toBe("step_unknown");
  });

  test("of a worker that was given a step is of that step and of no other", async () => {
    verifies("TASK-4", "TASK-5");
    const stage = createTaskStage();
    const task_id = await stage.create({ a: [], b: [] });
    const worker = stage.worker("run_w", task_id, "b");
    const other = stage.tasks.claim(worker, { task_id, step_id: "a" });
    expect((await refusal(other)).code).toBe("not_allowed");
    expect((await stage.run(worker, task_id)).step_id).toBe("b");
  });

  test("finds nothing where nothing is ready, also again, and sees at once when something is", async () => {
    verifies("TASK-4");
    const stage = createTaskStage();
    const task_id = await stage.create({ a: [], b: ["a"] });
    const first = stage.worker("run_1", task_id);
    const claim = await stage.run(first, task_id);
    const second = stage.worker("run_2", task_id);
    for (let i = 0; i < 3; i += 1) {
      const claimed = await stage.tasks.claim(second, { task_id });
      expect(claimed).toMatchObject({ kind: "nothing_ready", task: { status: "running" } });
    }
    expect((await refusal(stage.tasks.claim(first, { task_id }))).code).toBe("claim_held");
    const stranger = { actor: { ...second.actor, session_id: "other" } };
    expect((await refusal(stage.tasks.claim(stranger, { task_id }))).code).toBe("task_unknown");
    await stage.tasks.updateStep(first, { ...claim, status: "completed", summary: "s" });
    expect((await stage.run(second, task_id)).step_id).toBe("b");
  });
});

describe("a lease that has run out", () => {
  test.each(["claim", "get", "query", "board", "update", "update_step", "renew"])(
    "makes the step ready again for whoever comes to %s",
    async (look) => {
      verifies("TASK-4");
      const { stage, task_id, claim } = await lostClaim();
      await stage.clock.advance(LEASE_MS - 1);
      await lookBy(stage, task_id, claim, "get");
      expect((await stage.step(task_id, "a")).status).toBe("running");
      await stage.clock.advance(1);
      stage.facts.length = 0;
      await lookBy(stage, task_id, claim, look);
      const step = await stage.step(task_id, "a");
      expect(step).toMatchObject({
        status: look === "claim" ? "claimed" : "ready",
        attempts: look === "claim" ? 2 : 1,
        failure: { code: "lease_lost", attempt: 1, run_id: "run_1" },
      });
      expect(stage.facts[0]).toMatchObject({
        type: "task.step.lease_lost",
        data: { step_id: "a", attempt: 1, status: "ready", claim: { run_id: "run_1" } },
      });
    },
  );

  test("takes the word from its worker, even before anyone else has the step", async () => {
    verifies("TASK-4");
    const { stage, task_id, claim } = await lostClaim();
    const worker = stage.worker("run_1", task_id);
    await stage.clock.advance(LEASE_MS);
    const late = { ...claim, status: "completed", summary: "late" } as const;
    const refused = await refusal(stage.tasks.updateStep(worker, late));
    expect(refused).toMatchObject({ code: "claim_lost", details: { status: "ready" } });
    expect(refused.message).toContain("was not recorded");
    expect((await stage.step(task_id, "a")).result).toBeUndefined();
  });

  test("is not made good by a later claim of the same run: its token is another", async () => {
    verifies("TASK-4");
    const { stage, task_id, claim } = await lostClaim();
    const worker = stage.worker("run_1", task_id);
    await stage.clock.advance(LEASE_MS);
    const again = await stage.run(worker, task_id, "a");
    const late = { ...claim, status: "completed", summary: "of the first claim" } as const;
    expect((await refusal(stage.tasks.updateStep(worker, late))).code).toBe("claim_lost");
    const untold = { task_id, step_id: "a", status: "completed", summary: "no token" } as const;
    expect((await refusal(stage.tasks.updateStep(worker, untold))).code).toBe("claim_lost");
    expect((await refusal(stage.tasks.renew({ ...claim, run_id: "run_1" }))).code).toBe(
      "claim_lost",
    );
    const done = { ...again, status: "completed", summary: "of the second" } as const;
    expect((await stage.tasks.updateStep(worker, done)).result?.summary).toBe("of the second");
  });

  test("on the last attempt leaves the step failed, and the claim of others is not touched", async () => {
    verifies("TASK-4", "TASK-2");
    const stage = createTaskStage();
    const task_id = await stage.create({ a: [], b: [] }, { max_attempts: 2 });
    for (const run_id of ["run_1", "run_2"]) {
      await stage.run(stage.worker(run_id, task_id), task_id, "a");
      await stage.clock.advance(LEASE_MS);
    }
    await stage.run(stage.worker("run_3", task_id), task_id, "b");
    const step = await stage.step(task_id, "a");
    expect(step).toMatchObject({ status: "failed", attempts: 2, failure: { code: "lease_lost" } });
    expect(step.claim).toBeUndefined();
    expect((await stage.step(task_id, "b")).status).toBe("running");
    expect(stage.facts.map(({ type }) => type)).toContain("task.step.failed");
  });
});

describe("a renewed lease", () => {
  test("begins anew, as often as it is renewed, and records nothing", async () => {
    verifies("TASK-4");
    const { stage, task_id, claim } = await lostClaim();
    const told = stage.facts.length;
    for (let i = 0; i < 5; i += 1) {
      await stage.clock.advance(LEASE_MS - 1);
      const until = await stage.tasks.renew(claim);
      expect(until).toBe(new Date(stage.clock.now() + LEASE_MS).toISOString());
    }
    expect(await stage.step(task_id, "a")).toMatchObject({ status: "running", attempts: 1 });
    expect(stage.facts).toHaveLength(told);
  });

  test("cannot be had for less than a hiccup", () => {
    verifies("TASK-4");
    for (const leaseMs of [0, -1, 49, Number.NaN]) {
      expect(() => createTasks({ storage: createMemoryTasks(), leaseMs })).toThrow("too short");
    }
  });
});

describe("a step given back", () => {
  test("by a worker that ended counts as an attempt, by one that was stopped it does not", async () => {
    verifies("TASK-4");
    const stage = createTaskStage();
    const task_id = await stage.create({ a: [] }, { max_attempts: 2 });
    const expectStep = async (status: string, attempts: number): Promise<void> =>
      expect(await stage.step(task_id, "a")).toMatchObject({ status, attempts });
    const give = async (how: "ended" | "aborted"): Promise<void> => {
      const claim = await stage.run(stage.worker("run_w", task_id), task_id);
      await stage.tasks.release({ ...claim, run_id: "run_w" }, how, stage.orchestrator.record);
      // Once is enough.
      await stage.tasks.release({ ...claim, run_id: "run_w" }, how, stage.orchestrator.record);
    };
    await give("aborted");
    await expectStep("ready", 0);
    await give("ended");
    await expectStep("ready", 1);
    await give("ended");
    await expectStep("failed", 2);
    const { earlier } = await stage.step(task_id, "a");
    expect(earlier).toMatchObject([
      { attempt: 1, outcome: "stopped", run_id: "run_w", worker: "w1" },
      { attempt: 1, outcome: "released", message: "its worker ended without finishing it" },
      { attempt: 2, outcome: "released" },
    ]);
    const released = stage.facts.filter(({ type }) => type === "task.step.released");
    expect(released).toHaveLength(3);
    expect(released[0]?.data).toMatchObject({ counted: false, status: "ready" });
  });
});

describe("the keeper of claims", () => {
  test("renews them by its own clock until they are finished, forgotten or left", async () => {
    verifies("TASK-4");
    const stage = createTaskStage();
    const { tasks, clock } = stage;
    const task_id = await stage.create({ a: [], b: [], c: [] });
    const lost: HeldClaim[] = [];
    const keeper = createClaimKeeper({ tasks, clock });
    const workers = ["run_1", "run_2", "run_3"].map((run_id) => stage.worker(run_id, task_id));
    for (const run_id of ["run_1", "run_2", "run_3"]) {
      keeper.watch(run_id, (claim) => lost.push(claim));
    }
    for (const worker of workers) await keeper.claim(worker, { task_id, start: true });
    expect(clock.pending).toBe(3);
    // Far longer than a lease, as a long call is: the steps stay where they are.
    await clock.advance(LEASE_MS * 10);
    await tasks.get(stage.orchestrator, task_id);
    expect(await stage.statuses(task_id)).toEqual({ a: "running", b: "running", c: "running" });

    const [first] = workers;
    const held = keeper.getClaim("run_1");
    if (held === undefined || first === undefined) throw new Error("not held");
    await tasks.updateStep(first, { ...held, status: "completed", summary: "s" });
    keeper.forget(held);
    expect(keeper.getClaim("run_1")).toBeUndefined();

    await tasks.updateStep(stage.orchestrator, { task_id, step_id: "b", status: "ready" });
    await clock.advance(LEASE_MS);
    expect(lost.map(({ step_id }) => step_id)).toEqual(["b"]);
    // Still known, so that what comes late is refused as that, and whoever asks late is told at once.
    expect(keeper.getClaim("run_2")?.step_id).toBe("b");
    keeper.watch("run_2", (claim) => lost.push(claim))();
    expect(lost.map(({ step_id }) => step_id)).toEqual(["b", "b"]);

    await keeper.leave("run_3", "ended", stage.orchestrator.record);
    await keeper.leave("run_3", "ended");
    expect(stage.facts.at(-1)).toMatchObject({
      type: "task.step.released",
      data: { step_id: "c" },
    });
    expect(clock.pending).toBe(0);
    await keeper.claim(stage.worker("run_4", task_id), { task_id });
    await keeper.close();
    expect(await stage.statuses(task_id)).toEqual({ a: "completed", b: "ready", c: "ready" });
    expect(clock.pending).toBe(0);
  });

  test.each(["the clock is set forward", "the process stands still"])(
    "keeps the claims of a worker that lives when %s, and repeats nothing",
    async (how) => {
      verifies("TASK-4");
      const stage = createTaskStage();
      const { tasks, clock } = stage;
      const task_id = await stage.create({ a: [] });
      const keeper = createClaimKeeper({ tasks, clock });
      const worker = stage.worker("run_1", task_id);
      const lost: string[] = [];
      keeper.watch("run_1", (_claim, why) => lost.push(why));
      await keeper.claim(worker, { task_id, start: true });
      const held = keeper.getClaim("run_1");
      if (held === undefined) throw new Error("not held");
      // No timer fires meanwhile; then everyone looks at once.
      clock.set(clock.now() + LEASE_MS * 100);
      if (how === "the process stands still") await clock.advance(LEASE_MS / 3);
      await tasks.get(stage.orchestrator, task_id);
      const other = stage.worker("run_2", task_id);
      expect((await keeper.claim(other, { task_id })).kind).toBe("nothing_ready");
      await tasks.updateStep(worker, { ...held, status: "completed", summary: "s" });
      keeper.forget(held);
      expect(lost).toEqual([]);
      expect(stage.facts.map(({ type }) => type)).not.toContain("task.step.lease_lost");
      expect(await stage.step(task_id, "a")).toMatchObject({ status: "completed", attempts: 1 });
      expect(clock.pending).toBe(0);
    },
  );

  test("loses a claim that another process took while this one was paused", async () => {
    verifies("TASK-4");
    const storage = createMemoryTasks();
    const here = createTaskStage(storage);
    const there = createTaskStage(storage);
    const task_id = await here.create({ a: [] });
    const keeper = createClaimKeeper({ tasks: here.tasks, clock: here.clock });
    const lost: string[] = [];
    keeper.watch("run_1", (_claim, why) => lost.push(why));
    await keeper.claim(here.worker("run_1", task_id), { task_id, start: true });
    await there.clock.advance(LEASE_MS);
    await there.run(there.worker("run_2", task_id), task_id);
    await here.clock.advance(LEASE_MS);
    expect(lost).toHaveLength(1);
    expect((await here.step(task_id, "a")).claim?.run_id).toBe("run_2");
    await keeper.close();
  });

  test("tries again when the store cannot be reached for a moment", async () => {
    verifies("TASK-4");
    const memory = createMemoryTasks();
    let down = false;
    const stage = createTaskStage({
      ...memory,
      change: (selection, plan) =>
        down ? Promise.reject(new Error("locked")) : memory.change(selection, plan),
    });
    const task_id = await stage.create({ a: [] });
    const keeper = createClaimKeeper({ tasks: stage.tasks, clock: stage.clock });
    await keeper.claim(stage.worker("run_1", task_id), { task_id });
    await stage.clock.advance(LEASE_MS / 3 - 1);
    down = true;
    await stage.clock.advance(2);
    down = false;
    await stage.clock.advance(LEASE_MS * 2);
    await stage.tasks.get(stage.orchestrator, task_id);
    expect(await stage.statuses(task_id)).toEqual({ a: "claimed" });
    await keeper.close();
  });

  test.each(["refuses to answer", "does not answer at all"])(
    "reports a lease that ran out on its own while the store %s",
    async (how) => {
      verifies("TASK-4");
      const memory = createMemoryTasks();
      let down = false;
      const stage = createTaskStage({
        ...memory,
        change(selection, plan) {
          if (!down) return memory.change(selection, plan);
          if (how === "does not answer at all") return new Promise<never>(() => {});
          return Promise.reject(new Error("locked"));
        },
      });
      const task_id = await stage.create({ a: [] });
      const keeper = createClaimKeeper({ tasks: stage.tasks, clock: stage.clock });
      await keeper.claim(stage.worker("run_1", task_id), { task_id });
      const lost: string[] = [];
      keeper.watch("run_1", (_claim, why) => lost.push(why));
      await stage.clock.advance(LEASE_MS / 2);
      down = true;
      // Renewed at a third of it for the last time. It ends so early that all it has started is gone with the lease.
      await stage.clock.advance(LEASE_MS / 3 + LEASE_MS / 2 - leaseMargin(LEASE_MS) - 1);
      expect(lost).toEqual([]);
      await stage.clock.advance(1);
      expect(lost).toEqual([expect.stringContaining("could not be reached")]);
      await stage.clock.advance(LEASE_MS * 5);
      expect(lost).toHaveLength(1);
      expect(stage.clock.pending).toBe(0);
    },
  );

  test("keeps a claim that took longer to get than its lease lasts, and was made just now", async () => {
    verifies("TASK-4");
    const memory = createMemoryTasks();
    let answer = (): void => {};
    const gate = new Promise<void>((resolve) => {
      answer = resolve;
    });
    let isSlow = false;
    const stage = createTaskStage({
      ...memory,
      async change(selection, plan) {
        if (isSlow) await gate;
        return memory.change(selection, plan);
      },
    });
    const task_id = await stage.create({ a: [] });
    const keeper = createClaimKeeper({ tasks: stage.tasks, clock: stage.clock });
    isSlow = true;
    const claiming = keeper.claim(stage.worker("run_1", task_id), { task_id });
    await stage.clock.advance(LEASE_MS);
    isSlow = false;
    answer();
    await claiming;
    const lost: string[] = [];
    keeper.watch("run_1", (_claim, why) => lost.push(why));
    await stage.clock.advance(LEASE_MS * 2);
    await stage.tasks.get(stage.orchestrator, task_id);
    expect(await stage.statuses(task_id)).toEqual({ a: "claimed" });
    expect(lost).toEqual([]);
    await keeper.close();
  });

  test("loses a claim in time whichever attempts fail, and whichever are not answered", async () => {
    verifies("TASK-4", "DIST-2");
    for (const answers of ["fail", "silent", "fail silent", "fail fail silent", "silent fail"]) {
      const memory = createMemoryTasks();
      const left = answers.split(" ");
      let down = false;
      const stage = createTaskStage({
        ...memory,
        change(selection, plan) {
          if (!down) return memory.change(selection, plan);
          const next = left.length > 1 ? left.shift() : left[0];
          if (next === "fail") return Promise.reject(new Error("locked"));
          return new Promise<never>(() => {});
        },
      });
      const task_id = await stage.create({ a: [] });
      const keeper = createClaimKeeper({ tasks: stage.tasks, clock: stage.clock });
      await keeper.claim(stage.worker("run_1", task_id), { task_id });
      let lostAt = 0;
      keeper.watch("run_1", () => (lostAt = stage.clock.monotonic()));
      const claimedAt = stage.clock.monotonic();
      down = true;
      for (let ms = 0; ms < LEASE_MS * 2; ms += LEASE_MS / 60) {
        await stage.clock.advance(LEASE_MS / 60);
      }
      expect(lostAt - claimedAt, answers).toBeGreaterThan(LEASE_MS / 2);
      expect(lostAt - claimedAt, answers).toBeLessThanOrEqual(LEASE_MS - leaseMargin(LEASE_MS));
      expect(stage.clock.pending).toBe(0);
    }
  });

  test("takes no claim for lost that its own run has just finished", async () => {
    verifies("TASK-4");
    const stage = createTaskStage();
    const task_id = await stage.create({ a: [] });
    const keeper = createClaimKeeper({ tasks: stage.tasks, clock: stage.clock });
    const worker = stage.worker("run_1", task_id);
    await keeper.claim(worker, { task_id, start: true });
    const held = keeper.getClaim("run_1");
    if (held === undefined) throw new Error("not held");
    const lost: string[] = [];
    keeper.watch("run_1", (_claim, why) => lost.push(why));
    await keeper.during(held, async () => {
      await stage.tasks.updateStep(worker, { ...held, status: "completed", summary: "s" });
      // As from a storage whose answer is still on its way.
      await stage.clock.advance(LEASE_MS / 2);
      keeper.forget(held);
    });
    await stage.clock.advance(LEASE_MS);
    expect(lost).toEqual([]);
    expect(stage.clock.pending).toBe(0);
  });
});

async function lostClaim(): Promise<{ stage: TaskStage; task_id: string; claim: HeldClaim }> {
  const stage = createTaskStage();
  const task_id = await stage.create({ a: [], b: ["a"] });
  const claim = await stage.run(stage.worker("run_1", task_id), task_id);
  return { stage, task_id, claim: { ...claim, run_id: "run_1" } };
}

async function lookBy(
  { tasks, orchestrator, worker }: TaskStage,
  task_id: string,
  claim: HeldClaim,
  look: string,
): Promise<void> {
  const record = orchestrator.record;
  if (look === "claim") await tasks.claim(worker("run_2", task_id), { task_id });
  else if (look === "get") await tasks.get(orchestrator, task_id);
  else if (look === "query") await tasks.querySteps(worker("run_2", task_id), { task_id });
  else if (look === "board") await tasks.board(orchestrator, task_id);
  else if (look === "renew") await refusal(tasks.renew(claim, record));
  else if (look === "update_step") {
    const late = { ...claim, status: "completed", summary: "late" } as const;
    await refusal(tasks.updateStep(worker("run_1", task_id), late));
  } else {
    await tasks.update(orchestrator, { task_id, operations: [{ op: "set_title", title: "New" }] });
  }
}
