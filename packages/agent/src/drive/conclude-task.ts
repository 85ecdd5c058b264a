// How a task ends that no worker can work on any more, in a sentence that names its steps.

import type { StepRecord, StepStatus, Tasks, TaskWithCounts } from "@soong/tasks";
import type { DriveEnd } from "./drive-options.ts";

const PAGE = 100;
const MOST_NAMED = 10;

export async function concludeTask(tasks: Tasks, state: TaskWithCounts): Promise<DriveEnd> {
  const { task_id } = state.task;
  const { counts } = state;
  if (counts.failed > 0) {
    const failed = await describeSteps(
      tasks,
      task_id,
      "failed",
      ({ step_id, attempts, failure }) => {
        const times = attempts === 1 ? "once" : `${attempts} times`;
        return `step ${step_id} failed ${times}, last: ${failure?.message ?? "no reason was given"}`;
      },
    );
    const open = counts.pending + counts.blocked;
    const waiting = open === 0 ? "" : ` ${open} further steps could not be done.`;
    return { kind: "failed", reason: `${toSentence(failed)}.${waiting}` };
  }
  if (counts.blocked > 0) {
    const blocked = await describeSteps(
      tasks,
      task_id,
      "blocked",
      ({ step_id, reason }) => `step ${step_id} is blocked: ${reason ?? "no reason was given"}`,
    );
    return { kind: "blocked", reason: `${toSentence(blocked)}.` };
  }
  if (counts.pending > 0) {
    return { kind: "stuck", reason: `${counts.pending} steps wait, and nothing they wait for.` };
  }
  const left = counts.cancelled === 0 ? "" : `, ${counts.cancelled} cancelled`;
  return { kind: "completed", reason: `All steps are done: ${counts.completed} completed${left}.` };
}

/** By position, page by page. */
export async function* readAllSteps(
  { reader }: Tasks,
  task_id: string,
  statuses?: readonly StepStatus[],
): AsyncGenerator<StepRecord, undefined> {
  let after_position: number | undefined;
  for (;;) {
    const page = await reader.steps(task_id, { statuses, after_position, limit: PAGE });
    yield* page;
    after_position = page.at(-1)?.position;
    if (page.length < PAGE) return undefined;
  }
}

async function describeSteps(
  { reader }: Tasks,
  task_id: string,
  status: StepStatus,
  say: (step: StepRecord) => string,
): Promise<string> {
  const steps = await reader.steps(task_id, { statuses: [status], limit: MOST_NAMED });
  return steps.map(say).join("; ").slice(0, 3000);
}

function toSentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`.replace(/\.$/, "");
}
