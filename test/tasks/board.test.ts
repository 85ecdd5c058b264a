// The board of a task: short for any DAG, and it says what an orchestrator has to know.

import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { createTaskStage } from "./task-stage.ts";

test("the board says what failed and why, what is blocked, what runs where and what is ready", async () => {
  verifies("TASK-1");
  const stage = createTaskStage();
  const task_id = await stage.create({ a: [], b: [], c: [], d: [], e: ["a"], f: [] });
  const end = async (
    step_id: string,
    status: "failed" | "blocked" | "completed",
  ): Promise<void> => {
    const worker = stage.worker(`run_${step_id}`, task_id);
    const claim = await stage.run(worker, task_id, step_id);
    const words = { summary: "s", reason: `why\n${step_id}` };
    await stage.tasks.updateStep(worker, { ...claim, status, ...words });
  };
  await end("b", "failed");
  await end("c", "blocked");
  await end("f", "completed");
  const worker = stage.worker("run_a", task_id);
  const claim = await stage.run(worker, task_id, "a");
  await stage.tasks.updateStep(worker, { ...claim, note: "half way" });
  expect(await stage.tasks.board(stage.orchestrator, task_id)).toBe(
    [
      `Task ${task_id} "T" is running, plan version 1.`,
      "Goal: G",
      "Steps: 6 (1 pending, 1 ready, 1 running, 1 blocked, 1 completed, 1 failed).",
      "Failed:",
      '- b "Do b": attempt 1 of 3: why b',
      "Blocked:",
      '- c "Do c": why c',
      "At work:",
      '- a "Do a": running by w1, attempt 1 of 3: half way',
      "Ready:",
      '- d "Do d"',
      "Next: the ready steps can be given to workers.",
    ].join("\n"),
  );
});

test("the board says what to do next", async () => {
  verifies("TASK-1");
  const stage = createTaskStage();
  const next = async (task_id: string): Promise<string> =>
    (await stage.tasks.board(stage.orchestrator, task_id)).split("\n").at(-1) ?? "";
  const task_id = await stage.create({ a: [] }, { max_attempts: 1 });
  const block = { op: "block_task", reason: "no budget" } as const;
  await stage.tasks.update(stage.orchestrator, { task_id, operations: [block] });
  expect(await next(task_id)).toContain("unblock_task");
  expect(await stage.tasks.board(stage.orchestrator, task_id)).toContain("Reason: no budget");
  await stage.tasks.update(stage.orchestrator, { task_id, operations: [{ op: "unblock_task" }] });
  const worker = stage.worker("run_w", task_id);
  const claim = await stage.run(worker, task_id);
  expect(await next(task_id)).toContain("wait for the steps at work");
  await stage.tasks.updateStep(worker, { ...claim, status: "failed", reason: "r" });
  expect(await next(task_id)).toContain("nothing can continue automatically");
  const cancel = { task_id, step_id: "a", status: "cancelled", reason: "r" } as const;
  await stage.tasks.updateStep(stage.orchestrator, cancel);
  expect(await next(task_id)).toContain("task_complete");
  await stage.tasks.complete(stage.orchestrator, { task_id, summary: "s" });
  expect(await stage.tasks.board(stage.orchestrator, task_id)).not.toContain("Next:");
  expect(await next(await stage.create({}))).toContain("add steps");
});

test("no task makes the board longer than two thousand characters, and no count is wrong", async () => {
  verifies("TASK-1");
  const long = fc.string({ minLength: 1, maxLength: 200 }).filter((text) => text.trim() !== "");
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ title: long, reason: long, fate: fc.integer({ min: 0, max: 4 }) }), {
        maxLength: 40,
      }),
      long,
      async (plan, goal) => {
        const stage = createTaskStage();
        const steps = plan.map(({ title }, i) => ({
          step_id: `s${i}${"x".repeat(50)}`,
          title,
          instructions: "I",
        }));
        const made = await stage.tasks.create(stage.orchestrator, {
          title: goal,
          goal: goal.repeat(9),
          steps,
        });
        const { task_id } = made.task;
        for (const [i, { fate, reason }] of plan.entries()) {
          if (fate === 0) continue;
          const claim = await stage.run(
            stage.worker(`run_${i}`, task_id),
            task_id,
            steps[i]?.step_id,
          );
          const status = ([undefined, "completed", "failed", "blocked"] as const)[fate - 1];
          const update = { ...claim, status, summary: reason, reason, note: reason };
          await stage.tasks.updateStep(stage.orchestrator, update);
        }
        const board = await stage.tasks.board(stage.orchestrator, task_id);
        expect(board.length).toBeLessThanOrEqual(2000);
        expect(board).toContain(`Steps: ${plan.length}`);
        const listed = board.split("\n").filter((line) => line.startsWith("- "));
        const more = listed.flatMap((line) => /^- (\d+) more$/.exec(line)?.[1] ?? []).map(Number);
        const at = plan.filter(({ fate }) => fate !== 2).length;
        expect(listed.length - more.length + more.reduce((a, b) => a + b, 0)).toBe(at);
      },
    ),
    { numRuns: 20 },
  );
});

test("a task of long texts has a full board, with what is omitted counted", async () => {
  verifies("TASK-1");
  const stage = createTaskStage();
  const long = "word ".repeat(40).trim();
  const steps = Array.from({ length: 60 }, (_, i) => ({
    title: long,
    instructions: "I",
    step_id: `s${i}`,
  }));
  const plan = { title: long, goal: long.repeat(20), steps };
  const { task_id } = (await stage.tasks.create(stage.orchestrator, plan)).task;
  for (let i = 0; i < 45; i += 1) {
    const claim = await stage.run(stage.worker(`run_${i}`, task_id), task_id);
    const status = (["failed", "blocked", undefined] as const)[i % 3];
    await stage.tasks.updateStep(stage.orchestrator, {
      ...claim,
      status,
      reason: long,
      note: long,
    });
  }
  const board = await stage.tasks.board(stage.orchestrator, task_id);
  expect(board.length).toBeLessThanOrEqual(2000);
  expect(board.length).toBeGreaterThan(1500);
  for (const section of ["Failed:", "Blocked:", "At work:", "Ready:"])
    expect(board).toContain(section);
  expect(board.match(/^- \d+ more$/gm)).toHaveLength(4);
});
