// A worker that is killed between the end of its step in the task and the record of that leaves a step that is done and a journal
// that does not say so. The dispatching run, which sees both, records it then.

import type { RemoteWork } from "@soong/agent";
import type { Store } from "@soong/store";
import { toCompletionFact, type StepRecord, type TaskCaller } from "@soong/tasks";

/** Call it when the run of the step can write nothing more. */
export async function recordMissingCompletion(
  store: Store,
  { from }: Pick<RemoteWork, "from">,
  step: StepRecord | undefined,
  { record }: Pick<TaskCaller, "record">,
): Promise<void> {
  if (step?.status !== "completed" || step.last_run_id === undefined) return;
  const { task_id, step_id } = step;
  const run = await store.findRun(step.last_run_id);
  // Someone in the dispatching session may have completed it, too.
  const sessions = [from.session_id, ...(run === undefined ? [] : [run.session_id])];
  const facts = await store.factsOfTypes(sessions, ["task.step.completed"]);
  const isRecorded = facts.some(({ data }) => {
    const about = data as Pick<StepRecord, "task_id" | "step_id">;
    return about.task_id === task_id && about.step_id === step_id;
  });
  if (!isRecorded) record?.("task.step.completed", toCompletionFact(step));
}
