// What every storage of tasks must do, in memory or a database: find exactly what a selection asks for, and change all of
// it or nothing.

import assert from "node:assert/strict";
import type {
  FoundRows,
  StepState,
  StepWrite,
  StoredStep,
  StoredTask,
  TaskSelection,
  TaskStorage,
} from "@soong/tasks";
import type { Check } from "./check.ts";

export interface TaskStorageUnderTest {
  readonly storage: TaskStorage;
  /** The same rows, as another process has them. */
  readonly other: TaskStorage;
  /** Two sessions tasks can be of. */
  readonly sessions: readonly [string, string];
}

export const taskStorageChecks: readonly Check<TaskStorageUnderTest>[] = [
  check("what was written is found again, to the letter", async ({ storage, other, sessions }) => {
    const odd = {
      text: 'naïve "quotes" \u0000 \ud800 \u2028 ✓',
      deep: [{ a: null }],
      big: 2 ** 40,
    };
    const task = { ...taskOf("t", sessions[0]), content: odd };
    const step: StoredStep = {
      ...stepOf("t", "a", { run_id: 'run "\u0000', lease_expires_at: 1_767_323_045_123 }),
      state: odd,
      definition: { depends_on: [], content: odd },
    };
    await storage.change({ task_id: "t" }, () => ({ answer: 1, task, steps: [step] }));
    for (const of of [storage, other]) {
      assert.deepEqual(await of.read({ task_id: "t", steps: "all" }), { task, steps: [step] });
      assert.deepEqual(await of.read({ task_id: "t", claims_of: 'run "\u0000' }), {
        task,
        steps: [step],
      });
    }
  }),
  check("a task that is not there is not found", async ({ storage }) => {
    assert.deepEqual(await storage.read({ task_id: "no", steps: "all", counts: true }), {
      steps: [],
      counts: {},
    });
    assert.deepEqual(await storage.list({ limit: 10 }), []);
  }),
  check("a selection finds what it asks for, once each, by position", async (under) => {
    const { storage } = await withSteps(under);
    const found = async (selection: Omit<TaskSelection, "task_id">): Promise<string[]> =>
      ids(await storage.read({ task_id: "t", ...selection }));
    assert.deepEqual(await found({}), []);
    assert.deepEqual(await found({ steps: "all" }), ["c", "a", "b", "d", "e"]);
    assert.deepEqual(await found({ steps: ["b", "c", "b", "none"] }), ["c", "b"]);
    assert.deepEqual(await found({ steps: ["a"], with_dependents: true }), ["a", "b", "d"]);
    assert.deepEqual(await found({ steps: ["none"], with_dependents: true }), []);
    assert.deepEqual(await found({ leases_until: 999 }), []);
    assert.deepEqual(await found({ leases_until: 1000 }), ["a"]);
    assert.deepEqual(await found({ leases_until: 5000 }), ["a", "e"]);
    assert.deepEqual(await found({ claims_of: "run_1" }), ["a", "x"]);
    assert.deepEqual(await found({ claims_of: "run_none" }), []);
    const ready = { statuses: ["ready"], limit: 9 };
    assert.deepEqual(await found({ with_status: [ready] }), ["c", "d"]);
    assert.deepEqual(await found({ with_status: [{ ...ready, limit: 1 }] }), ["c"]);
    assert.deepEqual(await found({ with_status: [{ ...ready, after_position: 0 }] }), ["d"]);
    assert.deepEqual(await found({ with_status: [{ limit: 2, after_position: 1 }] }), ["b", "d"]);
    assert.deepEqual(await found({ with_status: [{ limit: 0 }] }), []);
    const two = { statuses: ["pending", "ready", "pending"], limit: 2 };
    assert.deepEqual(await found({ with_status: [two] }), ["c", "b"]);
    assert.deepEqual(
      await found({
        with_status: [two, { statuses: ["running"], limit: 5 }],
        leases_until: 5000,
        steps: ["c"],
      }),
      ["c", "a", "b", "e"],
    );
  }),
  check("counts are of the task and of the session", async (under) => {
    const { storage, sessions } = await withSteps(under);
    const { counts, session_tasks } = await storage.read({
      task_id: "t",
      counts: true,
      tasks_of_session: sessions[0],
    });
    assert.deepEqual(counts, { ready: 2, running: 2, pending: 1 });
    assert.equal(session_tasks, 1);
    assert.equal(
      (await storage.read({ task_id: "t", tasks_of_session: "nobody" })).session_tasks,
      0,
    );
  }),
  check("a change writes all it wants and answers", async (under) => {
    const { storage, other } = await withSteps(under);
    const answer = await storage.change({ task_id: "t", steps: ["a", "c"] }, (found) => ({
      answer: ids(found),
      task: { ...(found.task as StoredTask), status: "running", updated_at: "later" },
      steps: [
        moved(found, "a", { status: "completed", position: 9 }),
        { ...stepOf("t", "new"), position: 7 },
      ],
      removed_steps: ["c"],
    }));
    assert.deepEqual(answer, ["c", "a"]);
    const { task, steps } = await other.read({ task_id: "t", steps: "all" });
    assert.deepEqual([task?.status, task?.updated_at], ["running", "later"]);
    assert.deepEqual(
      steps.map(({ step_id }) => step_id),
      ["b", "d", "e", "new", "a"],
    );
    const a = steps.at(-1);
    assert.deepEqual([a?.run_id, a?.lease_expires_at], [undefined, undefined]);
    assert.deepEqual(a?.definition.content, { title: "a" });
    assert.deepEqual(ids(await other.read({ task_id: "t", claims_of: "run_1" })), ["x"]);
    assert.deepEqual(ids(await other.read({ task_id: "t", leases_until: 1000 })), []);
  }),
  check("a definition that is written again takes its dependencies along", async (under) => {
    const { storage } = await withSteps(under);
    const definition = { depends_on: ["c"], content: { title: "other" } };
    await storage.change({ task_id: "t", steps: ["b"] }, (found) => ({
      answer: undefined,
      steps: [{ ...moved(found, "b", {}), definition }],
    }));
    const after = async (step_id: string): Promise<string[]> =>
      ids(await storage.read({ task_id: "t", steps: [step_id], with_dependents: true }));
    assert.deepEqual(await after("a"), ["a", "d"]);
    assert.deepEqual(await after("c"), ["c", "b"]);
    await storage.change({ task_id: "t" }, () => ({
      answer: undefined,
      removed_steps: ["d", "none"],
    }));
    assert.deepEqual(await after("a"), ["a"]);
  }),
  check("a plan that throws, or wants what cannot be, changes nothing", async (under) => {
    const { storage } = await withSteps(under);
    const before = await storage.read({ task_id: "t", steps: "all" });
    const changed = (found: FoundRows): StepWrite => moved(found, "a", { status: "changed" });
    await assert.rejects(
      storage.change({ task_id: "t", steps: ["a"] }, () => {
        throw new Error("changed my mind");
      }),
      /changed my mind/,
    );
    await assert.rejects(
      storage.change({ task_id: "t", steps: ["a"] }, (found) => {
        const { definition: _definition, ...undefinedStep } = stepOf("t", "new");
        return { answer: undefined, steps: [changed(found), undefinedStep] };
      }),
      /definition/,
    );
    await assert.rejects(
      storage.change({ task_id: "t", steps: ["a"] }, (found) => ({
        answer: undefined,
        steps: [changed(found), stepOf("nowhere", "x")],
      })),
    );
    assert.deepEqual(await storage.read({ task_id: "t", steps: "all" }), before);
  }),
  check("what was given away can be changed without changing what is kept", async (under) => {
    const { storage } = await withSteps(under);
    const { steps } = await storage.read({ task_id: "t", steps: ["a"] });
    Object.assign(steps[0]?.state ?? {}, { attempts: 99 });
    assert.deepEqual((await storage.read({ task_id: "t", steps: ["a"] })).steps[0]?.state, {});
  }),
  check("changes at the same time happen one after the other", async (under) => {
    const { storage, other } = await withSteps(under);
    const claims = Array.from({ length: 20 }, (_, i) =>
      (i % 2 === 0 ? storage : other).change(
        { task_id: "t", with_status: [{ statuses: ["ready"], limit: 1 }] },
        ({ steps }) => {
          const [first] = steps;
          if (first === undefined) return { answer: undefined };
          const { definition: _definition, ...state } = first;
          return { answer: first.step_id, steps: [{ ...state, status: "claimed" }] };
        },
      ),
    );
    const got = (await Promise.all(claims)).filter((one) => one !== undefined);
    assert.deepEqual(got.toSorted(), ["c", "d"]);
  }),
  check(
    "tasks are listed newest first, by session and status, in pages",
    async ({ storage, sessions }) => {
      const [first, second] = sessions;
      for (const [i, session_id] of [first, second, first, first].entries()) {
        const task = { ...taskOf(`t${i}`, session_id), status: i === 2 ? "failed" : "pending" };
        await storage.change({ task_id: task.task_id }, () => ({ answer: undefined, task }));
      }
      const listed = async (page: Partial<Parameters<TaskStorage["list"]>[0]>): Promise<string[]> =>
        (await storage.list({ limit: 10, ...page })).map(({ task_id }) => task_id);
      assert.deepEqual(await listed({}), ["t3", "t2", "t1", "t0"]);
      assert.deepEqual(await listed({ limit: 2 }), ["t3", "t2"]);
      assert.deepEqual(await listed({ after: "t2" }), ["t1", "t0"]);
      assert.deepEqual(await listed({ after: "none" }), []);
      assert.deepEqual(await listed({ session_id: first, after: "t3" }), ["t2", "t0"]);
      assert.deepEqual(await listed({ session_id: first, statuses: ["pending"] }), ["t3", "t0"]);
      assert.deepEqual(await listed({ session_id: "nobody" }), []);
      assert.deepEqual(await listed({ statuses: [] }), []);
    },
  ),
];

function check(
  name: string,
  run: (under: TaskStorageUnderTest) => Promise<void>,
): Check<TaskStorageUnderTest> {
  return { name, laws: ["TASK-4"], run };
}

/** Task t: c, a, b (after a), d (after a), e; and a step x of another task with a claim of the same run. */
async function withSteps(under: TaskStorageUnderTest): Promise<TaskStorageUnderTest> {
  const steps = [
    { ...stepOf("t", "c", {}), position: 0 },
    {
      ...stepOf("t", "a", { status: "running", run_id: "run_1", lease_expires_at: 1000 }),
      position: 1,
    },
    { ...stepOf("t", "b", { status: "pending" }, ["a"]), position: 2 },
    { ...stepOf("t", "d", {}, ["a"]), position: 3 },
    {
      ...stepOf("t", "e", { status: "running", run_id: "run_2", lease_expires_at: 5000 }),
      position: 4,
    },
  ];
  const task = taskOf("t", under.sessions[0]);
  await under.storage.change({ task_id: "t" }, () => ({ answer: undefined, task, steps }));
  await under.storage.change({ task_id: "u" }, () => ({
    answer: undefined,
    task: taskOf("u", under.sessions[1]),
    steps: [{ ...stepOf("u", "x", { run_id: "run_1", lease_expires_at: 1000 }), position: 5 }],
  }));
  return under;
}

export function taskOf(task_id: string, session_id: string): StoredTask {
  const at = "2026-01-02T03:04:05.000Z";
  return { task_id, session_id, status: "pending", created_at: at, updated_at: at, content: {} };
}

export function stepOf(
  task_id: string,
  step_id: string,
  state: Partial<StepState> = {},
  depends_on: readonly string[] = [],
): StoredStep {
  return {
    task_id,
    step_id,
    position: 0,
    status: "ready",
    open_dependencies: depends_on.length,
    ...state,
    state: {},
    definition: { depends_on, content: { title: step_id } },
  };
}

/** Without its claim, and as it is changed. */
function moved(found: FoundRows, step_id: string, change: Partial<StepState>): StepWrite {
  const step = found.steps.find((one) => one.step_id === step_id);
  assert.ok(step !== undefined);
  const { definition: _definition, run_id: _run, lease_expires_at: _lease, ...state } = step;
  return { ...state, ...change };
}

function ids({ steps }: FoundRows): string[] {
  return steps.map(({ step_id }) => step_id);
}
