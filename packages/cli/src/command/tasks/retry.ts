// `soong tasks retry`: the user gives steps of a task another attempt.

import { CommandError, EXIT, UsageError, visibleLine } from "../../output/index.ts";
import type { CommandContext } from "../context.ts";
import { changeTask } from "./change-task.ts";
import { withoutClaimToken, listSteps } from "./stored-task.ts";
import { argument, JSON_OPTION, type CommandDefinition } from "../define-command.ts";

export const command: CommandDefinition = {
  name: "retry",
  summary: "give steps that failed or are blocked another attempt",
  arguments: [
    argument("<task>", "id or unique prefix"),
    argument("[step...]", "which; default: all of them"),
  ],
  options: [JSON_OPTION],
  examples: ["soong tasks retry task_0abc", "soong tasks retry task_0abc build tests"],
  run: retrySteps,
};

/** A task takes so many operations in one update. */
const MOST_AT_ONCE = 500;

/** Without steps: all that failed or are blocked. */
async function retrySteps(
  context: CommandContext,
  given: string,
  step_ids: readonly string[],
  { json = false }: { readonly json?: boolean },
): Promise<number> {
  const { output } = context;
  return changeTask(context, given, async (tasks, caller, { task_id, status: now }) => {
    const isBlocked = now === "blocked";
    const steps = await listSteps(tasks.reader, task_id);
    const wanted = steps.filter(({ step_id, status }) =>
      step_ids.length === 0
        ? status === "failed" || status === "blocked"
        : step_ids.includes(step_id),
    );
    const unknown = step_ids.find((id) => !steps.some(({ step_id }) => step_id === id));
    if (unknown !== undefined) {
      throw new UsageError(`${visibleLine(unknown)} is no step of ${visibleLine(task_id)}.`);
    }
    if (wanted.length === 0 && !isBlocked) {
      throw new CommandError("No step of it has failed or is blocked.");
    }
    const update = wanted.flatMap(({ step_id, status, attempts, max_attempts }) => [
      // One attempt more, where they are used up.
      ...(attempts >= max_attempts
        ? [{ op: "update_step", step_id, max_attempts: attempts + 1 } as const]
        : []),
      { op: status === "blocked" ? "unblock_step" : "retry_step", step_id } as const,
    ]);
    const first = isBlocked ? [{ op: "unblock_task" } as const] : [];
    const operations = [...first, ...update];
    for (let at = 0; at < operations.length; at += MOST_AT_ONCE) {
      const some = operations.slice(at, at + MOST_AT_ONCE);
      await tasks.update(caller, { task_id, operations: some });
    }
    for (const { step_id } of wanted) {
      const step = await tasks.reader.step(task_id, step_id);
      if (step === undefined) continue;
      if (json) output.record("soong.tasks/1", { step: withoutClaimToken(step) });
      else output.line(`${visibleLine(step_id)} is ${step.status} again.`);
    }
    if (!json) output.note(`\`soong tasks drive ${visibleLine(task_id)}\` continues it.`);
    return EXIT.ok;
  });
}
