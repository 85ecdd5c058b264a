// The tools with which an orchestrator makes, changes and ends tasks (TASK-1).

import { defineTool, toolResult, type AnyTool, type CallIds, type ToolSource } from "@soong/core";
import { TASK_LIMITS, TASK_STATUSES } from "./records.ts";
import { viewListedTask, viewTask } from "./task-view.ts";
import type { TaskCaller, Tasks } from "./tasks.ts";
import {
  ARTIFACTS,
  GOAL,
  NEW_STEP,
  OPERATION,
  OWN_TOOL,
  REASON,
  TASK_ID,
  TITLE,
} from "./tool-inputs.ts";
import { withToolErrors } from "./refusal.ts";
import { workerTools, type WorkerToolParts } from "./worker-tools.ts";
import { checkAction } from "./actor.ts";

interface OrchestratorToolParts {
  readonly tasks: Tasks;
  readonly resolveCaller: (ids: CallIds) => TaskCaller;
}

const MAX_LISTED = 100;

function orchestratorTools(parts: OrchestratorToolParts): AnyTool[] {
  return [createTool(parts), listTool(parts), updateTool(parts), ...endTools(parts)];
}

function createTool({ tasks, resolveCaller }: OrchestratorToolParts): AnyTool {
  return defineTool({
    ...OWN_TOOL,
    name: "agent.task_create",
    title: "Create a task",
    description:
      "Create a task: a goal and the steps that reach it, as a DAG. Steps without open dependencies are ready at once, " +
      "the others become ready as their dependencies are completed; a status cannot be given. Answers with the task_id.",
    input_schema: {
      type: "object",
      properties: {
        title: TITLE,
        goal: GOAL,
        steps: {
          type: "array",
          maxItems: TASK_LIMITS.steps,
          items: NEW_STEP,
          description: "In the order they should be taken when several are ready.",
        },
      },
      required: ["title", "goal", "steps"],
      additionalProperties: false,
    },
    search_hint: "create task dag steps plan workers",
    handler: (input, context) =>
      withToolErrors(async () => {
        const made = await tasks.create(resolveCaller(context), input);
        const { task_id } = made.task;
        const { ready } = made.counts;
        return toolResult({
          summary: `Created task ${task_id}; ${ready} of its steps are ready.`,
          data: viewTask(made),
        });
      }),
  });
}

function listTool({ tasks, resolveCaller }: OrchestratorToolParts): AnyTool {
  return defineTool({
    ...OWN_TOOL,
    name: "agent.task_list",
    title: "List tasks",
    description: "List the tasks of this session, newest first.",
    input_schema: {
      type: "object",
      properties: {
        statuses: {
          type: "array",
          items: { type: "string", enum: TASK_STATUSES },
          description: "Only tasks in one of these statuses.",
        },
        limit: { type: "integer", minimum: 1, maximum: MAX_LISTED, description: "Default: 20." },
        after: { ...TASK_ID, description: "The last task_id of the page before, to continue." },
      },
      additionalProperties: false,
    },
    concurrency_safe: true,
    search_hint: "list tasks status",
    handler: (input, context) =>
      withToolErrors(async () => {
        const { limit = 20, ...page } = input;
        const found = await tasks.list(resolveCaller(context), { ...page, limit });
        return toolResult({
          summary: `${found.length} tasks.`,
          data: { tasks: found.map(viewListedTask), complete: found.length < limit },
        });
      }),
  });
}

function updateTool({ tasks, resolveCaller }: OrchestratorToolParts): AnyTool {
  return defineTool({
    ...OWN_TOOL,
    name: "agent.task_update",
    title: "Change a task",
    description:
      "Change the plan of a task by a list of operations, all of them or none: they are applied in order to a copy, which must be a valid DAG in the end. " +
      "set_title(title), set_goal(goal); add_step(title, instructions, …), update_step(step_id, title, instructions, expected_output, max_attempts), remove_step(step_id), " +
      "add_dependency and remove_dependency(step_id, depends_on), reorder(step_ids); cancel_step(step_id, reason), retry_step(step_id) for a failed one, " +
      "unblock_step(step_id) for a blocked one; block_task(reason), unblock_task() before it runs. " +
      "A step that is claimed or running keeps its text and dependencies; it can be cancelled.",
    input_schema: {
      type: "object",
      properties: {
        task_id: TASK_ID,
        operations: {
          type: "array",
          minItems: 1,
          maxItems: TASK_LIMITS.operations,
          items: OPERATION,
        },
        expected_version: {
          type: "integer",
          minimum: 1,
          description: "The version of the plan you have seen: refused if it was changed since.",
        },
      },
      required: ["task_id", "operations"],
      additionalProperties: false,
    },
    search_hint: "update task add step dependency retry cancel",
    handler: (input, context) =>
      withToolErrors(async () => {
        const changed = await tasks.update(resolveCaller(context), input);
        const { task_id, version } = changed.task;
        return toolResult({
          summary: `Task ${task_id} has version ${version} now.`,
          data: viewTask(changed),
        });
      }),
  });
}

function endTools({ tasks, resolveCaller }: OrchestratorToolParts): AnyTool[] {
  const ending = {
    type: "object",
    properties: { task_id: TASK_ID, reason: REASON },
    required: ["task_id", "reason"],
    additionalProperties: false,
  } as const;
  return [
    defineTool({
      ...OWN_TOOL,
      name: "agent.task_complete",
      title: "Complete a task",
      description:
        "End a running task as completed, with what came of it. Every step must be completed or cancelled.",
      input_schema: {
        type: "object",
        properties: {
          task_id: TASK_ID,
          summary: {
            type: "string",
            minLength: 1,
            maxLength: TASK_LIMITS.summaryChars,
            description: "What was reached, measured by the goal.",
          },
          artifacts: ARTIFACTS,
        },
        required: ["task_id", "summary"],
        additionalProperties: false,
      },
      search_hint: "complete finish task",
      handler: (input, context) =>
        withToolErrors(async () => {
          const { task_id } = await tasks.complete(resolveCaller(context), input);
          return toolResult({
            summary: `Task ${task_id} is completed.`,
            data: { task_id, status: "completed" },
          });
        }),
    }),
    defineTool({
      ...OWN_TOOL,
      name: "agent.task_fail",
      title: "Fail a task",
      description:
        "End a running task as failed: its goal cannot be reached. Steps not yet over are cancelled, and workers on them lose their claims.",
      input_schema: ending,
      search_hint: "fail give up task",
      handler: (input, context) =>
        withToolErrors(async () => {
          const { task_id } = await tasks.fail(resolveCaller(context), input);
          return toolResult({
            summary: `Task ${task_id} has failed.`,
            data: { task_id, status: "failed" },
          });
        }),
    }),
    defineTool({
      ...OWN_TOOL,
      name: "agent.task_cancel",
      title: "Cancel a task",
      description:
        "End a task that is no longer wanted, whether or not it has begun. Steps not yet over are cancelled, and workers on them lose their claims.",
      input_schema: ending,
      search_hint: "cancel stop task",
      handler: (input, context) =>
        withToolErrors(async () => {
          const { task_id } = await tasks.cancel(resolveCaller(context), input);
          return toolResult({
            summary: `Task ${task_id} is cancelled.`,
            data: { task_id, status: "cancelled" },
          });
        }),
    }),
  ];
}

export type TaskToolParts = WorkerToolParts;

export function taskTools(parts: TaskToolParts): ToolSource {
  const tools = [taskTemplateTool(parts), ...orchestratorTools(parts), ...workerTools(parts)];
  return { id: "tasks", kind: "agent", tools };
}

// agent.task_template: how to plan a task, added to the conversation of the caller. Writes nothing (TASK-1).

const TEMPLATE = `How to plan and run a task

1. Say what done means. The goal is one paragraph: the outcome, how it can be checked, what is out of scope.
2. Cut it into steps a worker can do alone. A worker sees its own step and what it looks up, not this conversation: each step's instructions name the files, the inputs, the limits and what to leave untouched. expected_output says what the result has to hold.
3. depends_on only where a step needs what another one makes. Steps without a dependency between them run at the same time, so two of them must not write the same files.
4. End with a step that checks the whole: tests, a review, a comparison with the goal.
5. Create it with agent.task_create. Step ids are short words of your own ("design", "api", "tests"); statuses follow from the dependencies and cannot be given.
6. Give ready steps to workers. What the task says of a step counts, not what a worker says in prose: look at agent.task_get before you continue.
7. When a step fails, read why. Improve its instructions (update_step) and retry_step, split it, or cancel_step what is no longer needed, all in one agent.task_update. When a step is blocked, remove what blocks it and unblock_step.
8. agent.task_complete when every step is completed or cancelled; agent.task_fail when the goal cannot be reached; agent.task_cancel when it is no longer wanted.

A task in outline:
title: <one line, up to ${TASK_LIMITS.titleChars} characters>
goal: <outcome, how to check it, what is out of scope>
steps:
- step_id: <word>, title: <one line>, instructions: <what to do, where, with what>, expected_output: <what the result holds>, depends_on: [<step ids>]`;

function taskTemplateTool({ resolveCaller }: Pick<WorkerToolParts, "resolveCaller">): AnyTool {
  return defineTool({
    ...OWN_TOOL,
    name: "agent.task_template",
    title: "Task template",
    description:
      "Get the guide for planning a task as a DAG of steps for workers: how to cut it, what each step must say, how to run and end it. Read it before the first agent.task_create. Changes nothing.",
    input_schema: { type: "object", properties: {}, additionalProperties: false },
    concurrency_safe: true,
    search_hint: "task plan template steps dag guide",
    handler: (_input, context) =>
      withToolErrors(async () => {
        checkAction(resolveCaller(context).actor, "template");
        return toolResult({
          summary: "The task template is in the conversation.",
          content: [{ type: "text", text: "The task template follows as an instruction." }],
          context_nodes: [{ kind: "task_instruction", text: TEMPLATE }],
        });
      }),
  });
}
