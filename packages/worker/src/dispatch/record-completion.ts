// A step is first completed in the task, then recorded in the journal of its worker. If the worker is killed in between, the
// dispatching run records the completion.

import type { RemoteWork } from "@soong/agent";
import type { Store } from "@soong/store";
import { toCompletionFact, type StepRecord, type TaskCaller } from "@soong/tasks";

/** Call it when the run of the step cannot write any more. */
export async function recordMissingCompletion(
  store: Store,
  { from }: Pick<RemoteWork, "from">,
  step: StepRecord | undefined,
  { record }: Pick<TaskCaller, "record">,
): Promise<void> {
  if (step?.status !== "completed" || step.last_run_id === undefined) return;
  const { task_id, step_id } = step;
  const run = await store.findRun(step.last_run_id);
  // A run of the dispatching session may also have completed it.
  const sessions = [from.session_id, ...(run === undefined ? [] : [run.session_id])];
  const facts = await store.factsOfTypes(sessions, ["task.step.completed"]);
  const isRecorded = facts.some(({ data }) => {
    const about = data as Pick<StepRecord, "task_id" | "step_id">;
    return about.task_id === task_id && about.step_id === step_id;
  });
  if (!isRecorded) record?.("task.step.completed", toCompletionFact(step));
}
