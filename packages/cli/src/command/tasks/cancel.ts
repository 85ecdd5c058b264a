// `soong tasks cancel`: the user ends a task.

import { EXIT, visibleLine } from "../../output/index.ts";
import type { CommandContext } from "../context.ts";
import { changeTask } from "./change-task.ts";
import { argument, JSON_OPTION, option, type CommandDefinition } from "../define-command.ts";

export const command: CommandDefinition = {
  name: "cancel",
  summary: "end a task: its workers find their claims gone",
  arguments: [argument("<task>", "id or unique prefix")],
  options: [option("--reason <text>", "why, for the record"), JSON_OPTION],
  examples: [`soong tasks cancel task_0abc --reason "not needed any more"`],
  run: cancelTask,
};

interface TasksCancelOptions {
  readonly reason?: string;
  readonly json?: boolean;
}

async function cancelTask(
  context: CommandContext,
  given: string,
  { reason = "cancelled at the command line", json = false }: TasksCancelOptions,
): Promise<number> {
  const { output } = context;
  return changeTask(context, given, async (tasks, caller, { task_id }) => {
    const task = await tasks.cancel(caller, { task_id, reason });
    if (json) output.record("soong.tasks/1", { task });
    else output.line(`${visibleLine(task_id)} is cancelled.`);
    return EXIT.ok;
  });
}
