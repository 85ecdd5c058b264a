// The tools that work on tasks (TASK-1): an orchestrator makes, changes and ends them; workers share those that look at a
// task, take a step and say what became of it. Which task and which claim are the run's own come from the run (TASK-5).

import {
  defineTool,
  ToolFailure,
  toolResult,
  type AnyTool,
  type CallIds,
  type HandlerResult,
  type JsonObject,
  type JsonSchema,
  type ToolSource,
} from "@soong/core";
import { asJson } from "@soong/schema";
import { requireAction } from "./actor.ts";
import type { ClaimKeeper } from "./claim-keeper.ts";
import { readEarlierAttempts } from "./claims.ts";
import { TASK_LIMITS } from "./limits.ts";
import type { StepUpdate } from "./plan-step-update.ts";
import { STEP_STATUSES, TASK_STATUSES, type StepRecord } from "./records.ts";
import { withToolErrors } from "./refusal.ts";
import { TEMPLATE } from "./task-template.ts";
import { viewCounts, viewListedTask, viewStep, viewStepBriefly, viewTask } from "./task-view.ts";
import type { StepQuery, TaskCaller, Tasks } from "./tasks.ts";
import {
  ARTIFACTS,
  fields,
  GOAL,
  integer,
  NEW_STEP,
  OPERATION,
  OWN_TASK_ID,
  OWN_TOOL,
  REASON,
  STEP_ID,
  TASK_ID,
  text,
  TITLE,
} from "./tool-inputs.ts";
import { REQUESTED_STATUSES } from "./transitions.ts";

export interface TaskToolParts {
  readonly tasks: Tasks;
  readonly keeper: ClaimKeeper;
  readonly resolveCaller: (ids: CallIds) => TaskCaller;
}

/** Steps that come along with the task; more by query. */
const STEPS_OF_TASK = 30;
const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
const MAX_NAMED = 20;

export function taskTools(parts: TaskToolParts): ToolSource {
  const tools = [...orchestratorTools(parts), ...workerTools(parts)];
  return { id: "tasks", kind: "agent", tools };
}

/** A refusal is the error of the call. */
function handleBy({ resolveCaller }: TaskToolParts) {
  return <Input>(work: (input: Input, caller: TaskCaller) => Promise<HandlerResult>) =>
    (input: Input, context: CallIds) =>
      withToolErrors(async () => toolResult(await work(input, resolveCaller(context))));
}

function orchestratorTools(parts: TaskToolParts): AnyTool[] {
  const { tasks } = parts;
  const handle = handleBy(parts);
  const ending = fields({ task_id: TASK_ID, reason: REASON }, "task_id", "reason");
  return [
    defineTool({
      ...OWN_TOOL,
      name: "agent.task_template",
      title: "Task template",
      description:
        "Get the guide for planning a task as a DAG of steps for workers: how to cut it, what each step must say, how to run and end it. Read it before the first agent.task_create. Changes nothing.",
      input_schema: fields({}),
      concurrency_safe: true,
      search_hint: "task plan template steps dag guide",
      handler: handle(async (_input, { actor }) => {
        requireAction(actor, "template");
        return {
          summary: "The task template is in the conversation.",
          content: [{ type: "text", text: "The task template follows as an instruction." }],
          context_nodes: [{ kind: "task_instruction", text: TEMPLATE }],
        };
      }),
    }),
    defineTool({
      ...OWN_TOOL,
      name: "agent.task_create",
      title: "Create a task",
      description:
        "Create a task: a goal and the steps that reach it, as a DAG. Steps without open dependencies are ready at once, " +
        "the others become ready as their dependencies are completed; a status cannot be given. Answers with the task_id.",
      input_schema: fields(
        {
          title: TITLE,
          goal: GOAL,
          steps: {
            type: "array",
            maxItems: TASK_LIMITS.steps,
            items: NEW_STEP,
            description: "In the order they should be taken when several are ready.",
          },
        },
        "title",
        "goal",
        "steps",
      ),
      search_hint: "create task dag steps plan workers",
      handler: handle(async (input, caller) => {
        const made = await tasks.create(caller, input);
        const summary = `Created task ${made.task.task_id}; ${made.counts.ready} of its steps are ready.`;
        return { summary, data: viewTask(made) };
      }),
    }),
    defineTool({
      ...OWN_TOOL,
      name: "agent.task_list",
      title: "List tasks",
      description: "List the tasks of this session, newest first.",
      input_schema: fields({
        statuses: {
          type: "array",
          items: { type: "string", enum: TASK_STATUSES },
          description: "Only tasks in one of these statuses.",
        },
        limit: integer(1, MAX_LIMIT, `Default: ${DEFAULT_LIMIT}.`),
        after: text(200, "The last task_id of the page before, to continue."),
      }),
      concurrency_safe: true,
      search_hint: "list tasks status",
      handler: handle(async ({ limit = DEFAULT_LIMIT, ...page }, caller) => {
        const found = await tasks.list(caller, { ...page, limit });
        return {
          summary: `${found.length} tasks.`,
          data: { tasks: found.map(viewListedTask), complete: found.length < limit },
        };
      }),
    }),
    defineTool({
      ...OWN_TOOL,
      name: "agent.task_update",
      title: "Change a task",
      description:
        "Change the plan of a task by a list of operations, all of them or none: they are applied in order to a copy, which must be a valid DAG in the end. " +
        "set_title(title), set_goal(goal); add_step(title, instructions, …), update_step(step_id, title, instructions, expected_output, max_attempts), remove_step(step_id), " +
        "add_dependency and remove_dependency(step_id, depends_on), reorder(step_ids); cancel_step(step_id, reason), retry_step(step_id) for a failed one, " +
        "unblock_step(step_id) for a blocked one; block_task(reason), unblock_task() before it runs. " +
        "A step that is claimed or running keeps its text and dependencies; it can be cancelled.",
      input_schema: fields(
        {
          task_id: TASK_ID,
          operations: {
            type: "array",
            minItems: 1,
            maxItems: TASK_LIMITS.operations,
            items: OPERATION,
          },
          expected_version: integer(
            1,
            undefined,
            "The version of the plan you have seen: refused if it was changed since.",
          ),
        },
        "task_id",
        "operations",
      ),
      search_hint: "update task add step dependency retry cancel",
      handler: handle(async (input, caller) => {
        const changed = await tasks.update(caller, input);
        const { task_id, version } = changed.task;
        return { summary: `Task ${task_id} has version ${version} now.`, data: viewTask(changed) };
      }),
    }),
    defineTool({
      ...OWN_TOOL,
      name: "agent.task_complete",
      title: "Complete a task",
      description:
        "End a running task as completed, with what came of it. Every step must be completed or cancelled.",
      input_schema: fields(
        {
          task_id: TASK_ID,
          summary: text(TASK_LIMITS.summaryChars, "What was reached, measured by the goal."),
          artifacts: ARTIFACTS,
        },
        "task_id",
        "summary",
      ),
      search_hint: "complete finish task",
      handler: handle(async (input, caller) => {
        const { task_id, status } = await tasks.complete(caller, input);
        return { summary: `Task ${task_id} is completed.`, data: { task_id, status } };
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
      handler: handle(async (input, caller) => {
        const { task_id, status } = await tasks.fail(caller, input);
        return { summary: `Task ${task_id} has failed.`, data: { task_id, status } };
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
      handler: handle(async (input, caller) => {
        const { task_id, status } = await tasks.cancel(caller, input);
        return { summary: `Task ${task_id} is cancelled.`, data: { task_id, status } };
      }),
    }),
  ];
}

function workerTools(parts: TaskToolParts): AnyTool[] {
  const { tasks, keeper } = parts;
  const handle = handleBy(parts);
  return [
    defineTool({
      ...OWN_TOOL,
      name: "agent.task_get",
      title: "Look at a task",
      description: `Look at a task: goal, status, version, how many steps have which status, its first ${STEPS_OF_TASK} steps, and the board (what runs, what is ready, what failed and why, what is blocked).`,
      input_schema: fields({ task_id: OWN_TASK_ID }),
      concurrency_safe: true,
      search_hint: "get task status board",
      handler: handle(async (input, caller) => {
        const task_id = resolveTaskId(caller, input);
        const found = await tasks.get(caller, task_id);
        const board = await tasks.board(caller, task_id);
        const steps = await tasks.querySteps(caller, { task_id, limit: STEPS_OF_TASK });
        return {
          summary: `Task ${task_id} is ${found.task.status}.`,
          data: { ...viewTask(found), board, first_steps: steps.map(viewStepBriefly) },
        };
      }),
    }),
    defineTool({
      ...OWN_TOOL,
      name: "agent.task_query_steps",
      title: "Look at steps",
      description:
        "Look at steps of a task, in their order: by status, or by id. brief has id, title, status, dependencies, attempts (with how earlier ones ended and what they may have changed) and the result in short; full also has instructions, expected output, the whole result and the claim.",
      input_schema: fields({
        task_id: OWN_TASK_ID,
        statuses: {
          type: "array",
          items: { type: "string", enum: STEP_STATUSES },
          description: 'Only steps in one of these statuses, such as ["ready"].',
        },
        step_ids: {
          type: "array",
          minItems: 1,
          maxItems: MAX_NAMED,
          items: STEP_ID,
          description: "Exactly these steps, in any status.",
        },
        detail: { type: "string", enum: ["brief", "full"], description: "Default: brief." },
        after_position: integer(
          0,
          undefined,
          "The position of the last step of the page before, to continue.",
        ),
        limit: integer(1, MAX_LIMIT, `Default: ${DEFAULT_LIMIT}.`),
      } as const satisfies Record<keyof StepQuery | "detail", JsonSchema>),
      concurrency_safe: true,
      search_hint: "query task steps ready failed result",
      handler: handle(async ({ detail, limit = DEFAULT_LIMIT, ...query }, caller) => {
        const task_id = resolveTaskId(caller, query);
        const steps = await tasks.querySteps(caller, { ...query, task_id, limit });
        const { counts } = await tasks.get(caller, task_id);
        const view = detail === "full" ? viewStep : viewStepBriefly;
        // The journal is read once for all of them.
        const runs = steps.flatMap(({ earlier = [] }) => earlier.map(({ run_id }) => run_id));
        const calls = runs.length === 0 ? [] : ((await caller.readCalls?.(runs)) ?? []);
        const known = { readCalls: async () => calls };
        const shown = steps.map(async (step) => ({
          ...view(step),
          ...(await viewEarlier(step, known)),
        }));
        return {
          summary: `${steps.length} steps of task ${task_id}.`,
          data: {
            task_id,
            steps_in_all: viewCounts(counts),
            steps: await Promise.all(shown),
            complete: query.step_ids !== undefined || steps.length < limit,
          },
        };
      }),
    }),
    defineTool({
      ...OWN_TOOL,
      name: "agent.task_claim_step",
      title: "Claim a step",
      description:
        "Claim a ready step of your task, so that no one else works on it: the one named, or the first that is ready. One step at a time; it is yours until you finish it with agent.task_update_step. " +
        "Answers with its instructions. Then set it running and begin, or say start: true here.",
      input_schema: fields({
        task_id: OWN_TASK_ID,
        step_id: text(TASK_LIMITS.stepIdChars, "Default: the first ready step."),
        start: { type: "boolean", description: "Also set it running at once." },
      }),
      search_hint: "claim take ready step worker",
      handler: handle(async ({ start, step_id, ...rest }, caller) => {
        const task_id = resolveTaskId(caller, rest);
        const claimed = await keeper.claim(caller, { task_id, step_id, start });
        if (claimed.kind === "nothing_ready") {
          const { counts } = await tasks.get(caller, task_id);
          return {
            summary: `No step of task ${task_id} is ready now.`,
            data: { claimed: false, task_id, steps: viewCounts(counts) },
          };
        }
        const { step, task } = claimed;
        const shown = { ...viewStep(step), ...(await viewEarlier(step, caller)) };
        return {
          summary: `Step ${step.step_id} is yours and ${step.status}.`,
          data: { claimed: true, step: shown, goal: task.goal },
        };
      }),
    }),
    defineTool({
      ...OWN_TOOL,
      name: "agent.task_update_step",
      title: "Update a step",
      description:
        "Say what became of a step. A worker: running when it begins; then completed with a summary of the result, failed with the reason, or blocked with what is missing; a note at any time. " +
        "The orchestrator may also set a failed or blocked step ready again, take a step back from its worker (ready), or cancel it.",
      input_schema: fields({
        task_id: OWN_TASK_ID,
        step_id: text(TASK_LIMITS.stepIdChars, "A worker can omit it: it has one step."),
        status: {
          type: "string",
          enum: REQUESTED_STATUSES,
          description: "The new status. Default: only the note changes.",
        },
        summary: text(
          TASK_LIMITS.summaryChars,
          "completed: what was done and found, and where it is, for who comes next.",
        ),
        artifacts: ARTIFACTS,
        reason: text(TASK_LIMITS.reasonChars, "failed, blocked, cancelled: why."),
        note: text(TASK_LIMITS.noteChars, "The current state of the work, for observers."),
      } as const satisfies Record<Exclude<keyof StepUpdate, "token">, JsonSchema>),
      search_hint: "update step running completed failed blocked",
      handler: handle(async (given, caller) => {
        const task_id = resolveTaskId(caller, given);
        const held = keeper.getClaim(caller.actor.run_id);
        const step_id = given.step_id ?? held?.step_id;
        if (step_id === undefined) throw missingField("step_id", "this run has claimed no step");
        const own = held?.task_id === task_id && held.step_id === step_id ? held : undefined;
        const applyUpdate = async (): Promise<StepRecord> => {
          const update = { ...given, task_id, step_id, token: own?.token };
          const updated = await tasks.updateStep(caller, update);
          if (own !== undefined && updated.claim?.token !== own.token) keeper.forget(own);
          return updated;
        };
        const step = await (own === undefined ? applyUpdate() : keeper.during(own, applyUpdate));
        return { summary: `Step ${step_id} is ${step.status}.`, data: viewStepBriefly(step) };
      }),
    }),
  ];
}

/** What was tried before, with the calls of it that changed something or may have. */
async function viewEarlier(
  step: StepRecord,
  { readCalls }: Pick<TaskCaller, "readCalls">,
): Promise<JsonObject> {
  const earlier = await readEarlierAttempts(step, readCalls);
  return earlier.length === 0 ? {} : { earlier: earlier.map(asJson) };
}

function resolveTaskId({ actor }: TaskCaller, given: { readonly task_id?: string }): string {
  if (given.task_id !== undefined) return given.task_id;
  if (actor.kind === "worker") return actor.task_id;
  throw missingField("task_id", "only a worker can omit it");
}

function missingField(field: string, why: string): ToolFailure {
  return new ToolFailure({
    code: "invalid_arguments",
    error_class: "invalid_arguments",
    recovery: "change_arguments",
    message: `${field} is missing: ${why}.`,
  });
}
