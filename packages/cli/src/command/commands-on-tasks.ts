// The commands about tasks, skills and memory: what agents leave for later, and what they are given.

import type { Command } from "commander";
import type { CommandContext } from "./context.ts";
import type { MemoryOptions } from "./memory.ts";
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

export function addGiven(program: Command, context: CommandContext, ended: Ended): void {
  const agents = program
    .command("agents")
    .description("list the agents that can be started, and files that cannot be used")
    .option(...JSON_FLAG)
    .action(async (options: { json?: boolean }) => {
      const { agentsCommand } = await import("./agents.ts");
      ended(await agentsCommand(context, options));
    });
  examples(agents, ["soong agents", `soong run --agent reviewer "Look at the last commit"`]);
  exits(agents, "0; 1 when a file cannot be used");

  const skills = program
    .command("skills")
    .description("list the skills agents can load, and those that cannot be used")
    .option(...JSON_FLAG)
    .action(async (options: { json?: boolean }) => {
      const { skillsCommand } = await import("./skills.ts");
      ended(await skillsCommand(context, options));
    });
  examples(skills, ["soong skills"]);
  exits(skills, "0; 1 when a skill cannot be used");
  addMemory(program, context, ended);
}

function addMemory(program: Command, context: CommandContext, ended: Ended): void {
  const memory = program
    .command("memory")
    .description("what is remembered from earlier work: list it, add to it, take from it");
  examples(memory, ["soong memory list", "soong memory extract", "soong memory forget ID"]);

  const list = memory
    .command("list")
    .description("list what is remembered, of the user and of each project")
    .option(...JSON_FLAG)
    .action(async (options: MemoryOptions) => {
      const { memoryListCommand } = await import("./memory.ts");
      ended(await memoryListCommand(context, options));
    });
  examples(list, ["soong memory list --json"]);

  const extract = memory
    .command("extract")
    .description("make memories of what agents proposed, after checks; writes nothing else")
    .option(...JSON_FLAG)
    .action(async (options: MemoryOptions) => {
      const { memoryExtractCommand } = await import("./memory.ts");
      ended(await memoryExtractCommand(context, options));
    });
  examples(extract, ["soong memory extract"]);
  exits(extract, "0; 1 when a candidate was refused");

  const forget = memory
    .command("forget")
    .description("take a memory away; what it came from does not bring it back")
    .argument("<id>", "its id, as `soong memory list` has it")
    .option(...JSON_FLAG)
    .action(async (id: string, options: MemoryOptions) => {
      const { memoryForgetCommand } = await import("./memory.ts");
      ended(await memoryForgetCommand(context, id, options));
    });
  examples(forget, ["soong memory forget tabs-not-spaces-1a2b"]);
}
