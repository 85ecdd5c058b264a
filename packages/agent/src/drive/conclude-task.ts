// How a task ends that no worker can work on any more, in a sentence that names its steps.

import type { StepRecord, StepStatus, Tasks, TaskWithCounts } from "@soong/tasks";
import type { DriveEnd } from "./drive-options.ts";

const MOST_NAMED = 10;

export async function concludeTask(
  { reader }: Tasks,
  { task, counts }: TaskWithCounts,
): Promise<DriveEnd> {
  const { failed, blocked, pending, cancelled, completed } = counts;
  if (failed > 0) {
    const open = pending + blocked;
    const waiting = open === 0 ? "" : ` ${open} further steps could not be done.`;
    return {
      kind: "failed",
      reason: `${await describeSteps("failed", describeFailure)}${waiting}`,
    };
  }
  if (blocked > 0) {
    const describe = ({ reason }: StepRecord) => `is blocked: ${reason ?? NO_REASON}`;
    return { kind: "blocked", reason: await describeSteps("blocked", describe) };
  }
  if (pending > 0) {
    return { kind: "stuck", reason: `${pending} steps wait, and nothing they wait for.` };
  }
  const left = cancelled === 0 ? "" : `, ${cancelled} cancelled`;
  return { kind: "completed", reason: `All steps are done: ${completed} completed${left}.` };

  async function describeSteps(
    status: StepStatus,
    describe: (step: StepRecord) => string,
  ): Promise<string> {
    const steps = await reader.steps(task.task_id, { statuses: [status], limit: MOST_NAMED });
    const lines = steps.map((step) => `step ${step.step_id} ${describe(step)}`);
    const text = lines.join("; ").slice(0, 3000);
    return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`.replace(/\.$/, "").concat(".");
  }
}

const NO_REASON = "no reason was given";

function describeFailure({ attempts, failure }: StepRecord): string {
  const times = attempts === 1 ? "once" : `${attempts} times`;
  return `failed ${times}, last: ${failure?.message ?? NO_REASON}`;
}
