// The commands about tasks, skills and memory: what agents leave for later, and what they are given.

import type { Command } from "commander";
import type { CommandContext } from "./context.ts";
import { collect, examples, exits, JSON_FLAG, rulesAndPlace, type Ended } from "./options.ts";
import type { TasksCancelOptions } from "./tasks-change.ts";
import type { TasksDriveOptions } from "./tasks-drive.ts";
import type { TasksOptions } from "./tasks.ts";

export function addTasks(program: Command, context: CommandContext, ended: Ended): void {
  const tasks = program
    .command("tasks")
    .description("list the tasks of orchestrators, or show one with its steps")
    .argument("[task]", "its id or how that begins; left out: all, newest first")
    .option("--follow", "go on until the task has ended, whoever works on it")
    .option(...JSON_FLAG)
    .action(async (task: string | undefined, options: TasksOptions) => {
      const { tasksCommand } = await import("./tasks.ts");
      ended(await tasksCommand(context, task, options));
    });
  examples(tasks, [
    "soong tasks",
    "soong tasks task_0abc --follow",
    "soong tasks drive task_0abc",
    "soong tasks retry task_0abc tests",
  ]);
  exits(tasks, "0; with --follow 1 when the task did not end as completed, 130 interrupted");

  const drive = tasks
    .command("drive")
    .description("let workers do the steps that are ready, until the task has ended")
    .argument("<task>", "its id or how that begins")
    .option("--model <model>", "for workers whose pool and definition name none")
    .option("--pool <name>", "only workers of this pool; may be repeated", collect)
    .option("--json", "print the facts, one a line, and nothing else");
  rulesAndPlace(drive).action(async (task: string, options: TasksDriveOptions) => {
    const { tasksDriveCommand } = await import("./tasks-drive.ts");
    ended(await tasksDriveCommand(context, task, options));
  });
  examples(drive, [
    "soong tasks drive task_0abc",
    "soong tasks drive task_0abc --pool builders --allow 'code.*'",
  ]);
  exits(drive, "0 completed, 1 failed, blocked or stuck, 2 used wrongly, 130 interrupted");

  const cancel = tasks
    .command("cancel")
    .description("end a task: whoever works on a step of it finds its claim gone")
    .argument("<task>", "its id or how that begins")
    .option("--reason <text>", "why, for the record")
    .option(...JSON_FLAG)
    .action(async (task: string, options: TasksCancelOptions) => {
      const { tasksCancelCommand } = await import("./tasks-change.ts");
      ended(await tasksCancelCommand(context, task, options));
    });
  examples(cancel, [`soong tasks cancel task_0abc --reason "not needed any more"`]);

  const retry = tasks
    .command("retry")
    .description("give steps that failed or are blocked another attempt")
    .argument("<task>", "its id or how that begins")
    .argument("[step...]", "which; left out: all of them")
    .option(...JSON_FLAG)
    .action(async (task: string, steps: string[], options: { json?: boolean }) => {
      const { tasksRetryCommand } = await import("./tasks-change.ts");
      ended(await tasksRetryCommand(context, task, steps, options));
    });
  examples(retry, ["soong tasks retry task_0abc", "soong tasks retry task_0abc build tests"]);
}
