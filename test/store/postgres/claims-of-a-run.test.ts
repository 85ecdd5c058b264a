// A claim ends what its run holds elsewhere and has lost. That is in another task, whose lock it does not have.

import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "#laws";
import { createTasks } from "../../../packages/tasks/src/index.ts";
import { usePostgres } from "../../postgres/shared.ts";
import { ask, storeAt, until } from "./postgres-stage.ts";

test("a step that another run takes at that moment stays with it", async () => {
  verifies("DIST-1", "TASK-4");
  const url = await usePostgres();
  const store = await storeAt(url);
  await store.createSession({ session_id: "s1" });
  const tasks = createTasks({ storage: store.tasks() });
  const of = { session_id: "s1", agent_id: "agent_1" };
  const step = { step_id: "a", title: "Do a", instructions: "All of a.", depends_on: [] };
  const create = async (title: string): Promise<string> => {
    const actor = { kind: "orchestrator", run_id: "run_o", ...of } as const;
    return (await tasks.create({ actor }, { title, goal: "G", steps: [step] })).task.task_id;
  };
  const [lost, wanted] = [await create("lost"), await create("wanted")];
  const claim = (task_id: string) =>
    tasks.claim(
      { actor: { kind: "worker", run_id: "run_1", task_id, ...of } },
      { task_id, start: true },
    );
  await claim(lost);
  await ask(url, "UPDATE soong.task_steps SET lease_expires_at = 1 WHERE run_id = 'run_1'");

  const other = new pg.Client({ connectionString: url });
  await other.connect();
  onTestFinished(() => other.end());
  await other.query("BEGIN");
  await other.query("UPDATE soong.task_steps SET run_id = 'run_2' WHERE run_id = 'run_1'");
  const claiming = claim(wanted);
  await until(async () => {
    const waiting = await ask(
      url,
      "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
    );
    return waiting.length > 0;
  });
  await other.query("COMMIT");

  expect(await claiming).toMatchObject({ kind: "claimed", task: { task_id: wanted } });
  const rows = await ask(url, "SELECT run_id, status FROM soong.task_steps ORDER BY run_id");
  expect(rows).toEqual([
    { run_id: "run_1", status: "running" },
    { run_id: "run_2", status: "running" },
  ]);
});
