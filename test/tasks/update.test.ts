// Creating and changing a plan (TASK-3): all operations or none, checked as a whole, and never under the feet of a worker.

import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import {
  createMemoryTasks,
  createTasks,
  type NewTask,
  type TaskOperation,
} from "../../packages/tasks/src/index.ts";
import { createTaskStage, refusal, type TaskStage } from "./task-stage.ts";

const text = { title: "T", instructions: "I" };

describe("a new task", () => {
  test("has statuses by its dependencies, ids for steps without one, and version 1", async () => {
    verifies("TASK-3", "TASK-2");
    const { tasks, orchestrator } = createTaskStage();
    const steps = [
      { ...text, title: " two\nlines " },
      { ...text, step_id: "step_3", depends_on: ["step_1"] },
      { ...text, expected_output: "E", max_attempts: 7, status: "completed", attempts: 9 },
    ];
    const made = await tasks.create(orchestrator, { title: "T", goal: "G", steps });
    expect(made).toMatchObject({
      task: { version: 1, status: "pending" },
      counts: { ready: 2, pending: 1 },
    });
    const kept = await tasks.reader.steps(made.task.task_id);
    expect(kept.map(({ step_id, status, title }) => [step_id, status, title])).toEqual([
      ["step_1", "ready", "two lines"],
      ["step_3", "pending", "T"],
      ["step_4", "ready", "T"],
    ]);
    // A status that was given anyhow means nothing.
    expect(kept[2]).toMatchObject({ attempts: 0, max_attempts: 7, expected_output: "E" });
  });

  test.each<[string, Partial<NewTask>, string]>([
    ["an empty title", { title: " " }, "title is empty"],
    [
      "a title that is too long",
      { title: "x".repeat(201) },
      "title has 201 characters; at most 200",
    ],
    ["a goal that is no text", { goal: 5 as never }, "goal must be a text"],
    ["steps that are no list", { steps: "a" as never }, "steps must be a list"],
    ["a step that is nothing", { steps: [null as never] }, "steps[0] must be an object"],
    [
      "a step without instructions",
      { steps: [{ title: "T" } as never] },
      "steps[0]: instructions must be a text",
    ],
    ["an id with a slash", { steps: [{ ...text, step_id: "a/b" }] }, '"a/b" is not a step_id'],
    [
      "an id twice",
      {
        steps: [
          { ...text, step_id: "a" },
          { ...text, step_id: "a" },
        ],
      },
      "step a is there twice",
    ],
    ["no attempts", { steps: [{ ...text, max_attempts: 0 }] }, "from 1 to 100"],
    [
      "an unknown dependency",
      { steps: [{ ...text, step_id: "a", depends_on: ["z"] }] },
      "step a depends on z, which is not a step",
    ],
    [
      "a dependency twice",
      {
        steps: [
          { ...text, step_id: "a" },
          { ...text, step_id: "b", depends_on: ["a", "a"] },
        ],
      },
      "step b names a twice",
    ],
    [
      "a step that waits for itself",
      { steps: [{ ...text, step_id: "a", depends_on: ["a"] }] },
      "wait for each other: a → a",
    ],
    [
      "too many steps",
      { steps: Array.from({ length: 5001 }, () => text) },
      "5001 steps are more than the 5000",
    ],
    [
      "too many dependencies",
      { steps: [{ ...text, depends_on: Array.from({ length: 101 }, (_, i) => `s${i}`) }] },
      "depends_on has 101 entries; at most 100",
    ],
  ])("with %s is refused with what is wrong", async (_name, wrong, message) => {
    verifies("TASK-3");
    const { tasks, orchestrator, facts } = createTaskStage();
    const refused = await refusal(
      tasks.create(orchestrator, { title: "T", goal: "G", steps: [], ...wrong }),
    );
    expect(refused.code).toBe("invalid_plan");
    expect(refused.message).toContain("Nothing was changed, because:");
    expect(refused.message).toContain(message);
    expect(await tasks.reader.list()).toEqual([]);
    expect(facts).toEqual([]);
  });

  test("has as many attempts for a step as the step, the options or we ourselves say", async () => {
    verifies("TASK-3");
    const { orchestrator } = createTaskStage();
    const steps = [{ ...text, max_attempts: 7 }, text];
    for (const [options, wanted] of [
      [{}, 3],
      [{ maxAttempts: 5 }, 5],
    ] as const) {
      const tasks = createTasks({ storage: createMemoryTasks(), ...options });
      const { task } = await tasks.create(orchestrator, { title: "T", goal: "G", steps });
      const { task_id } = task;
      await tasks.update(orchestrator, { task_id, operations: [{ op: "add_step", ...text }] });
      const kept = await tasks.reader.steps(task_id);
      expect(kept.map(({ max_attempts }) => max_attempts)).toEqual([7, wanted, wanted]);
    }
  });

  test("that runs in a circle is refused with the path, however long", async () => {
    verifies("TASK-3");
    const { create } = createTaskStage();
    const refused = await refusal(create({ x: [], a: ["c", "x"], b: ["a"], c: ["b"] }));
    expect(refused.message).toContain("these steps wait for each other: a → c → b → a");
    const ring = Array.from({ length: 3000 }, (_, i) => [`s${i}`, [`s${(i + 1) % 3000}`]] as const);
    const long = await refusal(create(Object.fromEntries(ring)));
    expect(long.message).toContain("s0 → s1 → s2");
    expect(long.message).toContain("more … → s0");
    expect(long.message.length).toBeLessThan(400);
  });

  test("is one of at most a thousand of its session", async () => {
    verifies("TASK-3");
    const { tasks, orchestrator } = createTaskStage();
    const one = { title: "T", goal: "G", steps: [] };
    for (let i = 0; i < 1000; i += 1) await tasks.create(orchestrator, one);
    expect((await refusal(tasks.create(orchestrator, one))).message).toContain("1000 tasks");
  });
});

describe("an update", () => {
  test("does each operation in turn and the whole at once", async () => {
    verifies("TASK-3");
    const stage = createTaskStage();
    const task_id = await stage.create({ a: [], b: ["a"], c: [] });
    const changed = await update(stage, task_id, [
      { op: "set_title", title: "New title" },
      { op: "set_goal", goal: "New goal" },
      { op: "add_step", ...text, step_id: "d", depends_on: ["c"], before: "b" },
      { op: "add_step", ...text },
      {
        op: "update_step",
        step_id: "b",
        title: "B!",
        instructions: "More",
        expected_output: "E",
        max_attempts: 9,
      },
      { op: "remove_dependency", step_id: "b", depends_on: ["a"] },
      { op: "add_dependency", step_id: "c", depends_on: ["a", "b"] },
      { op: "reorder", step_ids: ["c", "a"] },
    ]);
    expect(changed.task).toMatchObject({ title: "New title", goal: "New goal", version: 2 });
    const steps = await stage.tasks.reader.steps(task_id);
    expect(steps.map(({ step_id, status, position }) => [step_id, status, position])).toEqual([
      ["c", "pending", 0],
      ["d", "pending", 1],
      ["b", "ready", 2],
      ["a", "ready", 3],
      ["step_5", "ready", 4],
    ]);
    expect(steps[0]).toMatchObject({ depends_on: ["a", "b"], open_dependencies: 2 });
    expect(steps[2]).toMatchObject({
      title: "B!",
      instructions: "More",
      expected_output: "E",
      max_attempts: 9,
    });
    expect(stage.facts.at(-1)).toMatchObject({
      type: "task.updated",
      data: { version: 2, steps: 5, operations: { length: 8 } },
    });
    await update(stage, task_id, [
      { op: "remove_dependency", step_id: "c", depends_on: ["a"] },
      { op: "remove_step", step_id: "a" },
    ]);
    expect(Object.keys(await stage.statuses(task_id))).toEqual(["c", "d", "b", "step_5"]);
    // What is left of it is nothing: a step of the same name is another one.
    await update(stage, task_id, [{ op: "add_step", ...text, step_id: "a" }]);
    const claim = await stage.run(stage.worker("run_w", task_id), task_id, "a");
    await stage.tasks.updateStep(stage.orchestrator, {
      ...claim,
      status: "completed",
      summary: "s",
    });
    expect((await stage.step(task_id, "c")).open_dependencies).toBe(1);
  });

  test("that is wrong anywhere changes nothing, and says everything that is wrong", async () => {
    verifies("TASK-3");
    const stage = createTaskStage();
    const task_id = await stage.create({ a: [], b: ["a"] });
    const before = await state(stage, task_id);
    const refused = await refusal(
      update(stage, task_id, [
        { op: "set_title", title: "New" },
        { op: "add_step", ...text, step_id: "a" },
        { op: "remove_step", step_id: "zz" },
        { op: "add_step", ...text, before: "yy" },
        { op: "reorder", step_ids: ["a", "a"] },
        { op: "remove_dependency", step_id: "b", depends_on: ["q"] },
        { op: "retry_step", step_id: "a" },
        { op: "unblock_step", step_id: "a" },
      ]),
    );
    expect(refused.code).toBe("invalid_plan");
    expect(refused.message.split("\n").slice(1)).toEqual([
      "- operations[1] (add_step): there is a step a already",
      `- operations[2] (remove_step): zz is not a step of task ${task_id}; it has a, b`,
      `- operations[3] (add_step): yy is not a step of task ${task_id}; it has a, b`,
      "- operations[4] (reorder): step_ids names a step twice",
      "- operations[5] (remove_dependency): step b does not depend on q",
      "- operations[6] (retry_step): step a is ready; only a failed step can be tried again",
      "- operations[7] (unblock_step): step a is ready; only a blocked step can be unblocked",
    ]);
    expect(await state(stage, task_id)).toEqual(before);
  });

  test.each<[string, TaskOperation[], string]>([
    ["a circle", [{ op: "add_dependency", step_id: "a", depends_on: ["b"] }], "a → b → a"],
    [
      "what is not there",
      [{ op: "add_dependency", step_id: "a", depends_on: ["z"] }],
      "depends on z",
    ],
    [
      "a step others need",
      [{ op: "remove_step", step_id: "a" }],
      "step b depends on a, which is not a step",
    ],
    [
      "a cancelled step others need",
      [{ op: "cancel_step", step_id: "a", reason: "r" }],
      "cancelled and will never be completed",
    ],
    ["no operation", [], "at least one operation"],
    [
      "too many",
      Array.from({ length: 501 }, () => ({ op: "unblock_task" }) as const),
      "more than the 500",
    ],
    ["an unknown operation", [{ op: "destroy" } as never], "op must be one of set_title"],
    ["an operation of nothing", [null as never], "operations[0] must be an object"],
    ["a missing field", [{ op: "cancel_step", step_id: "a" } as never], "cancel_step needs reason"],
    [
      "a foreign field",
      [{ op: "remove_step", step_id: "a", status: "completed" } as never],
      "remove_step takes no status",
    ],
    ["an edit of nothing", [{ op: "update_step", step_id: "a" }], "update_step changes nothing"],
    [
      "a text that is too long",
      [{ op: "update_step", step_id: "a", instructions: "x".repeat(16_001) }],
      "instructions has 16001 characters",
    ],
    ["ids that are none", [{ op: "reorder", step_ids: ["../x"] }], "step_ids: "],
  ])("with %s is refused", async (_name, operations, message) => {
    verifies("TASK-3");
    const stage = createTaskStage();
    const task_id = await stage.create({ a: [], b: ["a"] });
    const before = await state(stage, task_id);
    const refused = await refusal(update(stage, task_id, operations));
    expect(refused).toMatchObject({ code: "invalid_plan" });
    expect(refused.message).toContain(message);
    expect(await state(stage, task_id)).toEqual(before);
  });

  test("of a version that was changed meanwhile is refused", async () => {
    verifies("TASK-3");
    const stage = createTaskStage();
    const task_id = await stage.create({ a: [] });
    const operations: TaskOperation[] = [{ op: "set_title", title: "N" }];
    const send = (expected_version: number): Promise<unknown> =>
      stage.tasks.update(stage.orchestrator, { task_id, expected_version, operations });
    await send(1);
    expect(await refusal(send(1))).toMatchObject({
      code: "version_conflict",
      details: { version: 2 },
    });
    // What workers do is no change of the plan.
    await stage.run(stage.worker("run_w", task_id), task_id);
    await send(2);
  });

  test.each<[string, TaskOperation]>([
    ["be removed", { op: "remove_step", step_id: "a" }],
    ["be told otherwise", { op: "update_step", step_id: "a", instructions: "Other" }],
    ["wait for more", { op: "add_dependency", step_id: "a", depends_on: ["z"] }],
    ["wait for less", { op: "remove_dependency", step_id: "a", depends_on: ["y"] }],
  ])("lets no step that is held, or completed, %s", async (_name, operation) => {
    verifies("TASK-3");
    const stage = createTaskStage();
    const task_id = await stage.create({ y: [], z: [], a: ["y"] });
    const worker = stage.worker("run_w", task_id);
    const finish = (step_id: string): Promise<unknown> => {
      const done = { task_id, step_id, status: "completed", summary: "s" } as const;
      return stage.tasks.updateStep(stage.orchestrator, done);
    };
    await stage.run(worker, task_id, "y");
    await finish("y");
    const claimed = await stage.tasks.claim(worker, { task_id, step_id: "a" });
    expect((await refusal(update(stage, task_id, [operation]))).message).toContain(
      "step a is claimed by run run_w and cannot",
    );
    if (claimed.kind === "claimed") {
      await stage.tasks.updateStep(worker, { ...claimed.claim, status: "running" });
    }
    expect((await refusal(update(stage, task_id, [operation]))).message).toContain(
      "step a is running by run run_w and cannot",
    );
    await update(stage, task_id, [{ op: "update_step", step_id: "a", max_attempts: 5 }]);
    await finish("a");
    expect((await refusal(update(stage, task_id, [operation]))).message).toContain(
      "step a is completed and cannot",
    );
  });

  test("may cancel a step that a worker holds, which takes it away", async () => {
    verifies("TASK-3", "TASK-4");
    const stage = createTaskStage();
    const task_id = await stage.create({ a: [], b: ["a"], c: ["b"] });
    const worker = stage.worker("run_w", task_id);
    const claim = await stage.run(worker, task_id);
    await update(stage, task_id, [
      { op: "cancel_step", step_id: "a", reason: "not needed" },
      { op: "cancel_step", step_id: "c", reason: "not needed" },
      { op: "remove_dependency", step_id: "b", depends_on: ["a"] },
    ]);
    expect(await stage.statuses(task_id)).toEqual({ a: "cancelled", b: "ready", c: "cancelled" });
    const late = { ...claim, status: "completed", summary: "s" } as const;
    expect((await refusal(stage.tasks.updateStep(worker, late))).code).toBe("claim_lost");
    expect(stage.facts.map(({ type }) => type)).toContain("task.step.cancelled");
  });

  test("tries failed steps again while they have attempts, and more when they are given more", async () => {
    verifies("TASK-3", "TASK-2");
    const stage = createTaskStage();
    const task_id = await stage.create({ a: [] }, { max_attempts: 1 });
    const fail = async (): Promise<void> => {
      const claim = await stage.run(stage.worker("run_w", task_id), task_id);
      await stage.tasks.updateStep(stage.orchestrator, {
        ...claim,
        status: "failed",
        reason: "no",
      });
    };
    const retry: TaskOperation = { op: "retry_step", step_id: "a" };
    await fail();
    expect((await refusal(update(stage, task_id, [retry]))).message).toContain(
      "has had 1 of 1 attempts",
    );
    const asReady = { task_id, step_id: "a", status: "ready" } as const;
    expect((await refusal(stage.tasks.updateStep(stage.orchestrator, asReady))).message).toContain(
      "higher max_attempts",
    );
    await update(stage, task_id, [{ op: "update_step", step_id: "a", max_attempts: 2 }, retry]);
    expect(await stage.step(task_id, "a")).toMatchObject({
      status: "ready",
      failure: { message: "no" },
    });
    await fail();
    expect(
      (
        await refusal(
          update(stage, task_id, [{ op: "update_step", step_id: "a", max_attempts: 1 }]),
        )
      ).message,
    ).toContain("cannot be below");
  });

  test("unblocks a step, whose attempt was not used up", async () => {
    verifies("TASK-3", "TASK-2");
    const stage = createTaskStage();
    const task_id = await stage.create({ a: [] }, { max_attempts: 1 });
    const worker = stage.worker("run_w", task_id);
    const claim = await stage.run(worker, task_id);
    await stage.tasks.updateStep(worker, { ...claim, status: "blocked", reason: "no key" });
    expect(await stage.step(task_id, "a")).toMatchObject({
      status: "blocked",
      reason: "no key",
      attempts: 0,
    });
    await update(stage, task_id, [{ op: "unblock_step", step_id: "a" }]);
    const step = await stage.step(task_id, "a");
    expect(step.status).toBe("ready");
    expect(step.reason).toBeUndefined();
    expect((await stage.run(worker, task_id)).step_id).toBe("a");
  });
});

test("what becomes of a step needs its summary or its reason, within bounds", async () => {
  verifies("TASK-2");
  const stage = createTaskStage();
  const task_id = await stage.create({ a: [], b: ["a"] });
  const worker = stage.worker("run_w", task_id);
  const claim = await stage.run(worker, task_id);
  const wrong = [
    [{}, "give a status, a note, or both"],
    [{ status: "completed" }, "summary must be a text"],
    [{ status: "completed", summary: "x".repeat(8001) }, "summary has 8001"],
    [{ status: "failed", reason: "  " }, "reason is empty"],
    [{ status: "blocked" }, "reason must be a text"],
    [{ note: "x".repeat(1001) }, "note has 1001"],
    [{ status: "completed", summary: "s", artifacts: [""] }, "artifacts must hold ids"],
    [
      { status: "completed", summary: "s", artifacts: Array.from({ length: 51 }, () => "a") },
      "at most 50",
    ],
  ] as const;
  for (const [fields, message] of wrong) {
    const refused = await refusal(stage.tasks.updateStep(worker, { ...claim, ...fields }));
    expect(refused.message).toContain(message);
  }
  await stage.tasks.updateStep(worker, { ...claim, note: "half way" });
  expect(await stage.step(task_id, "a")).toMatchObject({ status: "running", note: "half way" });
  const alone = { task_id, step_id: "a", status: "cancelled", reason: "r" } as const;
  expect((await refusal(stage.tasks.updateStep(stage.orchestrator, alone))).message).toContain(
    "b would wait for it for ever",
  );
});

function update(
  stage: TaskStage,
  task_id: string,
  operations: TaskOperation[],
): ReturnType<TaskStage["tasks"]["update"]> {
  return stage.tasks.update(stage.orchestrator, { task_id, operations });
}

async function state({ tasks }: TaskStage, task_id: string): Promise<unknown> {
  return [await tasks.reader.get(task_id), await tasks.reader.steps(task_id)];
}
