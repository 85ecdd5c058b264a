// Who may do what (TASK-5), as one table: every action by every actor.

import { expect, test } from "vitest";
import { verifies } from "#laws";
import type { TaskCaller } from "../../packages/tasks/src/index.ts";
import { createTaskStage, refusal, SESSION, type TaskStage } from "./task-stage.ts";

interface Scene {
  readonly stage: TaskStage;
  readonly task_id: string;
  /** Of the step that the worker of the scene has claimed. */
  readonly token: string;
}

const ids = { session_id: SESSION, run_id: "run_x", agent_id: "agent_x" };

const ACTORS: Record<string, (scene: Scene) => TaskCaller> = {
  orchestrator: ({ stage }) => stage.orchestrator,
  "orchestrator of another session": ({ stage }) => ({
    actor: { ...stage.orchestrator.actor, session_id: "s2" },
  }),
  "worker with its step": ({ stage, task_id }) => stage.worker("run_w", task_id),
  "worker without a step": ({ stage, task_id }) => stage.worker("run_free", task_id),
  "worker of another task": ({ stage }) => stage.worker("run_other", "task_other"),
  "worker of another session": ({ stage, task_id }) => ({
    actor: { ...stage.worker("run_w", task_id).actor, session_id: "s2" },
  }),
  main: () => ({ actor: { kind: "other", ...ids, role: "main" } }),
  sub: () => ({ actor: { kind: "other", ...ids, role: "sub" } }),
  fork: () => ({ actor: { kind: "other", ...ids, role: "fork" } }),
};

const ACTIONS: Record<string, (scene: Scene, caller: TaskCaller) => Promise<unknown>> = {
  create: ({ stage }, caller) => stage.tasks.create(caller, { title: "T", goal: "G", steps: [] }),
  list: ({ stage }, caller) => stage.tasks.list(caller),
  get: ({ stage, task_id }, caller) => stage.tasks.get(caller, task_id),
  query_steps: ({ stage, task_id }, caller) => stage.tasks.querySteps(caller, { task_id }),
  board: ({ stage, task_id }, caller) => stage.tasks.board(caller, task_id),
  update: ({ stage, task_id }, caller) =>
    stage.tasks.update(caller, { task_id, operations: [{ op: "set_title", title: "N" }] }),
  claim_step: ({ stage, task_id }, caller) => stage.tasks.claim(caller, { task_id }),
  "update_step, the one claimed": ({ stage, task_id, token }, caller) =>
    stage.tasks.updateStep(caller, {
      task_id,
      step_id: "a",
      token,
      status: "completed",
      summary: "s",
    }),
  "update_step, another": ({ stage, task_id, token }, caller) =>
    stage.tasks.updateStep(caller, { task_id, step_id: "b", token, note: "mine?" }),
  complete: ({ stage, task_id }, caller) => stage.tasks.complete(caller, { task_id, summary: "s" }),
  fail: ({ stage, task_id }, caller) => stage.tasks.fail(caller, { task_id, reason: "r" }),
  cancel: ({ stage, task_id }, caller) => stage.tasks.cancel(caller, { task_id, reason: "r" }),
};

const NOT = "not_allowed";
const HIDDEN = "task_unknown";
const own = (of: Record<string, string>): Record<string, string> => ({
  create: NOT,
  list: NOT,
  update: NOT,
  complete: NOT,
  fail: NOT,
  cancel: NOT,
  ...of,
});
const all = (code: string): Record<string, string> =>
  Object.fromEntries(Object.keys(ACTIONS).map((action) => [action, code]));
const hidden = { get: HIDDEN, query_steps: HIDDEN, board: HIDDEN, claim_step: HIDDEN };
const hiddenSteps = { "update_step, the one claimed": HIDDEN, "update_step, another": HIDDEN };

/** What is refused, and how; what is not named happens. */
const REFUSED: Record<keyof typeof ACTORS, Record<string, string>> = {
  // Allowed, and then too early.
  orchestrator: { complete: "steps_open" },
  "orchestrator of another session": {
    ...hidden,
    ...hiddenSteps,
    update: HIDDEN,
    complete: HIDDEN,
    fail: HIDDEN,
    cancel: HIDDEN,
  },
  "worker with its step": own({ claim_step: "claim_held", "update_step, another": "claim_lost" }),
  "worker without a step": own({
    "update_step, the one claimed": "claim_lost",
    "update_step, another": "claim_lost",
  }),
  "worker of another task": own({ ...hidden, ...hiddenSteps }),
  "worker of another session": own({ ...hidden, ...hiddenSteps }),
  main: all(NOT),
  sub: all(NOT),
  fork: all(NOT),
};

const table = Object.keys(ACTORS).flatMap((actor) =>
  Object.keys(ACTIONS).map((action) => [actor, action] as const),
);

test.each(table)("%s: %s", async (actor, action) => {
  verifies("TASK-5");
  const scene = await setScene();
  const caller = ACTORS[actor]?.(scene);
  const act = ACTIONS[action];
  if (caller === undefined || act === undefined) throw new Error("not in the table");
  const code = REFUSED[actor]?.[action];
  const before = await everything(scene);
  if (code === undefined) {
    await act(scene, caller);
    return;
  }
  const refused = await refusal(act(scene, caller));
  expect(refused.code).toBe(code);
  expect(refused.message.length).toBeGreaterThan(20);
  // Someone who may not know of a task is not told what is in it.
  if (code === HIDDEN || code === NOT) expect(refused.message).not.toContain("Secret title");
  expect(await everything(scene)).toEqual(before);
});

test("a worker without a token, or with that of another, has no say in a step it did not claim", async () => {
  verifies("TASK-5", "TASK-4");
  const scene = await setScene();
  const { stage, task_id, token } = scene;
  const free = stage.worker("run_free", task_id);
  const done = { task_id, step_id: "a", status: "completed", summary: "mine" } as const;
  expect((await refusal(stage.tasks.updateStep(free, done))).code).toBe("not_allowed");
  expect((await refusal(stage.tasks.updateStep(free, { ...done, token }))).code).toBe("claim_lost");
  const holder = stage.worker("run_w", task_id);
  expect((await refusal(stage.tasks.updateStep(holder, { ...done, token: "no" }))).code).toBe(
    "claim_lost",
  );
});

test("an orchestrator sees the tasks of its session and of no other", async () => {
  verifies("TASK-5");
  const { stage, task_id } = await setScene();
  const other = { actor: { ...stage.orchestrator.actor, session_id: "s2" } };
  const made = await stage.tasks.create(other, { title: "T2", goal: "G", steps: [] });
  const listed = async (caller: TaskCaller): Promise<string[]> =>
    (await stage.tasks.list(caller)).map((task) => task.task_id);
  expect(await listed(stage.orchestrator)).toEqual([task_id]);
  expect(await listed(other)).toEqual([made.task.task_id]);
});

async function setScene(): Promise<Scene> {
  const stage = createTaskStage();
  const task_id = await stage.create({ a: [], b: [] });
  await stage.tasks.update(stage.orchestrator, {
    task_id,
    operations: [{ op: "set_title", title: "Secret title" }],
  });
  const { token } = await stage.run(stage.worker("run_w", task_id), task_id, "a");
  return { stage, task_id, token };
}

async function everything({ stage, task_id }: Scene): Promise<unknown> {
  return [await stage.tasks.reader.list({ limit: 100 }), await stage.tasks.reader.steps(task_id)];
}
