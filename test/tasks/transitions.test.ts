// Every transition of tasks and steps there could be, by every actor: what is legal happens, all else is refused with
// what would be legal (TASK-2).

import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import type { StepStatus, StepUpdate, TaskStatus } from "../../packages/tasks/src/index.ts";
import { createTaskStage, refusal, type Claim, type TaskStage } from "./task-stage.ts";

const STEP_STATUSES = [
  "pending",
  "ready",
  "claimed",
  "running",
  "blocked",
  "completed",
  "failed",
  "cancelled",
] as const satisfies readonly StepStatus[];

const REQUESTS = ["running", "completed", "failed", "blocked", "ready", "cancelled"] as const;

/** From each status: what a worker that holds the step, or held it, may ask for, and what the orchestrator. */
const LEGAL: Record<StepStatus, { worker: string[]; orchestrator: string[] }> = {
  pending: { worker: [], orchestrator: ["cancelled"] },
  ready: { worker: [], orchestrator: ["cancelled"] },
  claimed: { worker: ["running"], orchestrator: ["running", "ready", "cancelled"] },
  running: {
    worker: ["completed", "failed", "blocked"],
    orchestrator: ["completed", "failed", "blocked", "ready", "cancelled"],
  },
  blocked: { worker: [], orchestrator: ["ready", "cancelled"] },
  completed: { worker: [], orchestrator: [] },
  failed: { worker: [], orchestrator: ["ready", "cancelled"] },
  cancelled: { worker: [], orchestrator: [] },
};

const steps = STEP_STATUSES.flatMap((from) => REQUESTS.map((to) => [from, to] as const));

describe.each(["worker", "orchestrator"] as const)("a step, asked for by the %s,", (who) => {
  test.each(steps)("that is %s, to become %s", async (from, to) => {
    verifies("TASK-2", "TASK-5");
    const stage = createTaskStage();
    const { task_id, step_id, token } = await stepIn(stage, from);
    const caller = who === "orchestrator" ? stage.orchestrator : stage.worker("run_w", task_id);
    const update: StepUpdate = {
      task_id,
      step_id,
      ...(who === "worker" ? { token } : {}),
      status: to,
      summary: "done",
      reason: "because",
    };
    const before = await stage.step(task_id, step_id);
    if (LEGAL[from][who].includes(to)) {
      expect((await stage.tasks.updateStep(caller, update)).status).toBe(to);
      expect((await stage.step(task_id, step_id)).status).toBe(to);
      return;
    }
    const refused = await refusal(stage.tasks.updateStep(caller, update));
    expect(await stage.step(task_id, step_id)).toEqual(before);
    if (who === "worker" && from !== "claimed" && from !== "running") {
      // Its claim has ended, or it never had one.
      expect(refused.code).toMatch(/^(claim_lost|not_allowed)$/);
      return;
    }
    expect(refused).toMatchObject({ code: "illegal_transition" });
    expect(refused.details).toEqual({ from, to, legal: LEGAL[from][who] });
    expect(refused.message).toContain(`is ${from} and cannot become ${to}`);
    for (const legal of LEGAL[from][who]) expect(refused.message).toContain(legal);
  });
});

const TASK_ENDS: Record<TaskStatus, string[]> = {
  pending: ["block", "cancel"],
  blocked: ["unblock", "cancel"],
  running: ["complete", "fail", "cancel"],
  completed: [],
  failed: [],
  cancelled: [],
};
const AFTER: Record<string, TaskStatus> = {
  block: "blocked",
  unblock: "pending",
  complete: "completed",
  fail: "failed",
  cancel: "cancelled",
};

const moves = Object.keys(TASK_ENDS).flatMap((from) =>
  Object.keys(AFTER).map((move) => [from as TaskStatus, move] as const),
);

test.each(moves)("a task that is %s, when a caller wants to %s it", async (from, move) => {
  verifies("TASK-2");
  const stage = createTaskStage();
  const task_id = await taskIn(stage, from);
  const attempt = (): Promise<unknown> => moveTask(stage, task_id, move);
  if (TASK_ENDS[from].includes(move)) {
    await attempt();
    expect((await stage.tasks.reader.get(task_id))?.task.status).toBe(AFTER[move]);
    return;
  }
  const before = await stage.tasks.reader.get(task_id);
  const refused = await refusal(attempt());
  expect(await stage.tasks.reader.get(task_id)).toEqual(before);
  const isEnded = TASK_ENDS[from].length === 0;
  expect(refused.code).toBe(
    isEnded ? "task_ended" : move.endsWith("block") ? "invalid_plan" : "illegal_transition",
  );
  expect(refused.message).toContain(from);
  if (isEnded) return;
  const legal = TASK_ENDS[from].map((one) => AFTER[one] ?? "");
  for (const status of legal) expect(refused.message).toContain(status);
});

test("a task runs from its first claim on, and a blocked one gives no step away", async () => {
  verifies("TASK-2");
  const stage = createTaskStage();
  const task_id = await stage.create({ a: [] });
  await moveTask(stage, task_id, "block");
  const worker = stage.worker("run_w", task_id);
  const refused = await refusal(stage.tasks.claim(worker, { task_id }));
  expect(refused).toMatchObject({ code: "task_blocked" });
  expect(refused.message).toContain("because");
  await moveTask(stage, task_id, "unblock");
  expect((await stage.tasks.claim(worker, { task_id })).task.status).toBe("running");
  expect(stage.facts.map(({ type }) => type)).toEqual([
    "task.created",
    "task.blocked",
    "task.updated",
    "task.unblocked",
    "task.updated",
    "task.step.claimed",
    "task.started",
  ]);
});

test("steps become ready as what they depend on is completed, and by nothing else", async () => {
  verifies("TASK-2");
  const stage = createTaskStage();
  const task_id = await stage.create({ a: [], b: [], c: ["a", "b"], d: ["c"] });
  const worker = stage.worker("run_w", task_id);
  const end = async (status: "failed" | "completed", step_id: string): Promise<void> => {
    const claim = await stage.run(worker, task_id, step_id);
    await stage.tasks.updateStep(worker, { ...claim, status, summary: "s", reason: "r" });
  };
  await end("completed", "a");
  await end("failed", "b");
  expect(await stage.statuses(task_id)).toMatchObject({ c: "pending", d: "pending" });
  await stage.tasks.updateStep(stage.orchestrator, { task_id, step_id: "b", status: "ready" });
  await end("completed", "b");
  expect(await stage.statuses(task_id)).toMatchObject({ c: "ready", d: "pending" });
  expect(stage.facts.at(-1)?.data).toMatchObject({ step_id: "b", now_ready: ["c"] });
});

test("a long text is cut in a fact, and never within a word: half a secret would not be recognised", async () => {
  verifies("TASK-2", "REDACT-1");
  const stage = createTaskStage();
  const task_id = await stage.create({ a: [] });
  const worker = stage.worker("run_w", task_id);
  const claim = await stage.run(worker, task_id, "a");
  const summary = `${"word ".repeat(98)}sk-secret-that-is-long and more`;
  await stage.tasks.updateStep(worker, { ...claim, status: "completed", summary });
  const [fact] = stage.facts.slice(-1);
  expect(fact).toMatchObject({
    type: "task.step.completed",
    data: { summary: `${"word ".repeat(98).trimEnd()}…` },
  });
});

test("a task is completed only when every step is completed or cancelled", async () => {
  verifies("TASK-2");
  const stage = createTaskStage();
  const task_id = await stage.create({ a: [], b: [] });
  const worker = stage.worker("run_w", task_id);
  const claim = await stage.run(worker, task_id, "a");
  const complete = (): Promise<unknown> =>
    stage.tasks.complete(stage.orchestrator, { task_id, summary: "all", artifacts: ["art_1"] });
  expect((await refusal(complete())).message).toContain("1 ready, 1 running");
  await stage.tasks.updateStep(worker, { ...claim, status: "failed", reason: "no" });
  expect((await refusal(complete())).code).toBe("steps_open");
  for (const step_id of ["a", "b"]) {
    const cancel = { task_id, step_id, status: "cancelled", reason: "not needed" } as const;
    await stage.tasks.updateStep(stage.orchestrator, cancel);
  }
  expect(await complete()).toMatchObject({
    status: "completed",
    result: { summary: "all", artifacts: ["art_1"] },
  });
});

test.each(["fail", "cancel"] as const)("to %s a task ends all that was under way", async (move) => {
  verifies("TASK-2", "TASK-4");
  const stage = createTaskStage();
  const task_id = await stage.create({ a: [], b: [], c: ["b"], d: [] });
  const done = await stage.run(stage.worker("run_d", task_id), task_id, "d");
  await stage.tasks.updateStep(stage.orchestrator, { ...done, status: "failed", reason: "r" });
  const worker = stage.worker("run_w", task_id);
  const claim = await stage.run(worker, task_id, "a");
  await moveTask(stage, task_id, move);
  expect(await stage.statuses(task_id)).toEqual({
    a: "cancelled",
    b: "cancelled",
    c: "cancelled",
    d: "failed",
  });
  expect(stage.facts.at(-1)?.data).toMatchObject({
    steps_cancelled: 3,
    claims_ended: [{ step_id: "a", run_id: "run_w" }],
  });
  const late = { ...claim, status: "completed", summary: "too late" } as const;
  expect((await refusal(stage.tasks.updateStep(worker, late))).code).toBe("claim_lost");
  expect((await refusal(stage.tasks.renew({ ...claim, run_id: "run_w" }))).code).toBe("claim_lost");
});

/** A step brought to that status, by a worker that has the token of its claim. */
async function stepIn(stage: TaskStage, status: StepStatus): Promise<Claim> {
  const task_id = await stage.create({ first: [], step: status === "pending" ? ["first"] : [] });
  const step_id = "step";
  const worker = stage.worker("run_w", task_id);
  if (status === "pending" || status === "ready") return { task_id, step_id, token: "none" };
  if (status === "cancelled") {
    const cancel = { task_id, step_id, status, reason: "r" } as const;
    await stage.tasks.updateStep(stage.orchestrator, cancel);
    return { task_id, step_id, token: "none" };
  }
  const claimed = await stage.tasks.claim(worker, { task_id, step_id });
  if (claimed.kind !== "claimed") throw new Error("not ready");
  const claim = { task_id, step_id, token: claimed.claim.token };
  if (status === "claimed") return claim;
  await stage.tasks.updateStep(worker, { ...claim, status: "running" });
  if (status === "running") return claim;
  await stage.tasks.updateStep(worker, { ...claim, status, summary: "s", reason: "r" });
  return claim;
}

async function taskIn(stage: TaskStage, status: TaskStatus): Promise<string> {
  const task_id = await stage.create({ a: [] });
  if (status === "pending") return task_id;
  if (status === "blocked") await moveTask(stage, task_id, "block");
  else {
    const worker = stage.worker("run_w", task_id);
    const claim = await stage.run(worker, task_id);
    await stage.tasks.updateStep(worker, { ...claim, status: "completed", summary: "s" });
    if (status === "completed") await moveTask(stage, task_id, "complete");
    if (status === "failed") await moveTask(stage, task_id, "fail");
    if (status === "cancelled") await moveTask(stage, task_id, "cancel");
  }
  return task_id;
}

function moveTask(
  { tasks, orchestrator }: TaskStage,
  task_id: string,
  move: string,
): Promise<unknown> {
  const ending = { task_id, reason: "because" };
  switch (move) {
    case "block":
      return tasks.update(orchestrator, {
        task_id,
        operations: [{ op: "block_task", reason: "because" }],
      });
    case "unblock":
      return tasks.update(orchestrator, { task_id, operations: [{ op: "unblock_task" }] });
    case "complete":
      return tasks.complete(orchestrator, { task_id, summary: "s" });
    case "fail":
      return tasks.fail(orchestrator, ending);
    default:
      return tasks.cancel(orchestrator, ending);
  }
}
