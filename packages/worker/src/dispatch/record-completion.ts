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
  const run = await store.findRun(step.last_run_id);
  if (run !== undefined && (await isRecordedIn(run.session_id))) return;
  // A run of the dispatching session may also have completed it.
  if (!(await isRecordedIn(from.session_id))) {
    record?.("task.step.completed", toCompletionFact(step));
  }

  async function isRecordedIn(session_id: string): Promise<boolean> {
    const facts = await store.factsOfTypes([session_id], ["task.step.completed"]);
    return facts.some(({ data }) => {
      const about = data as Pick<StepRecord, "task_id" | "step_id">;
      return about.task_id === step?.task_id && about.step_id === step.step_id;
    });
  }
}
