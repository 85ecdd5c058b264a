// The tools a worker shares with the orchestrator (TASK-1): look at a task, take a step, say what became of it. Which
// task and which claim are the run's own come from the run (TASK-5).

import {
  type AnyTool,
  type CallIds,
  type JsonObject,
  type JsonSchema,
  ToolFailure,
  defineTool,
  toolResult,
} from "@soong/core";
import { asJson } from "@soong/schema";
import { readEarlierAttempts } from "./claims.ts";
import type { ClaimKeeper } from "./claim-keeper.ts";
import { TASK_LIMITS, STEP_STATUSES, type StepRecord } from "./records.ts";
import type { StepUpdate } from "./plan-step-update.ts";
import { viewCounts, viewStep, viewStepBriefly, viewTask } from "./task-view.ts";
import type { StepQuery, TaskCaller, Tasks } from "./tasks.ts";
import { ARTIFACTS, OWN_TASK_ID, OWN_TOOL, REASON, STEP_ID } from "./tool-inputs.ts";
import { withToolErrors } from "./refusal.ts";

export interface WorkerToolParts {
  readonly tasks: Tasks;
  readonly keeper: ClaimKeeper;
  readonly resolveCaller: (ids: CallIds) => TaskCaller;
}

/** Steps that come along with the task; more by query. */
const STEPS_OF_TASK = 30;
const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
const MAX_NAMED = 20;

export function workerTools(parts: WorkerToolParts): AnyTool[] {
  return [getTool(parts), queryTool(parts), claimTool(parts), updateStepTool(parts)];
}

function getTool({ tasks, resolveCaller }: WorkerToolParts): AnyTool {
  return defineTool({
    ...OWN_TOOL,
    name: "agent.task_get",
    title: "Look at a task",
    description: `Look at a task: goal, status, version, how many steps have which status, its first ${STEPS_OF_TASK} steps, and the board (what runs, what is ready, what failed and why, what is blocked).`,
    input_schema: {
      type: "object",
      properties: { task_id: OWN_TASK_ID },
      additionalProperties: false,
    },
    concurrency_safe: true,
    search_hint: "get task status board",
    handler: (input, context) =>
      withToolErrors(async () => {
        const caller = resolveCaller(context);
        const task_id = resolveTaskId(caller, input);
        const found = await tasks.get(caller, task_id);
        const board = await tasks.board(caller, task_id);
        const steps = await tasks.querySteps(caller, { task_id, limit: STEPS_OF_TASK });
        return toolResult({
          summary: `Task ${task_id} is ${found.task.status}.`,
          data: { ...viewTask(found), board, first_steps: steps.map(viewStepBriefly) },
        });
      }),
  });
}

function queryTool({ tasks, resolveCaller }: WorkerToolParts): AnyTool {
  return defineTool({
    ...OWN_TOOL,
    name: "agent.task_query_steps",
    title: "Look at steps",
    description:
      "Look at steps of a task, in their order: by status, or by id. brief has id, title, status, dependencies, attempts (with how earlier ones ended and what they may have changed) and the result in short; full also has instructions, expected output, the whole result and the claim.",
    input_schema: {
      type: "object",
      properties: {
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
        after_position: {
          type: "integer",
          minimum: 0,
          description: "The position of the last step of the page before, to continue.",
        },
        limit: {
          type: "integer",
          minimum: 1,
          maximum: MAX_LIMIT,
          description: `Default: ${DEFAULT_LIMIT}.`,
        },
      } as const satisfies Record<keyof StepQuery | "detail", JsonSchema>,
      additionalProperties: false,
    },
    concurrency_safe: true,
    search_hint: "query task steps ready failed result",
    handler: (input, context) =>
      withToolErrors(async () => {
        const { detail, limit = DEFAULT_LIMIT, ...query } = input;
        const caller = resolveCaller(context);
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
        return toolResult({
          summary: `${steps.length} steps of task ${task_id}.`,
          data: {
            task_id,
            steps_in_all: viewCounts(counts),
            steps: await Promise.all(shown),
            complete: query.step_ids !== undefined || steps.length < limit,
          },
        });
      }),
  });
}

/** What was tried before, with the calls of it that changed something or may have. */
async function viewEarlier(
  step: StepRecord,
  { readCalls }: Pick<TaskCaller, "readCalls">,
): Promise<JsonObject> {
  const earlier = await readEarlierAttempts(step, readCalls);
  return earlier.length === 0 ? {} : { earlier: earlier.map(asJson) };
}

function claimTool({ tasks, keeper, resolveCaller }: WorkerToolParts): AnyTool {
  return defineTool({
    ...OWN_TOOL,
    name: "agent.task_claim_step",
    title: "Claim a step",
    description:
      "Claim a ready step of your task, so that no one else works on it: the one named, or the first that is ready. One step at a time; it is yours until you finish it with agent.task_update_step. " +
      "Answers with its instructions. Then set it running and begin, or say start: true here.",
    input_schema: {
      type: "object",
      properties: {
        task_id: OWN_TASK_ID,
        step_id: { ...STEP_ID, description: "Default: the first ready step." },
        start: { type: "boolean", description: "Also set it running at once." },
      },
      additionalProperties: false,
    },
    search_hint: "claim take ready step worker",
    handler: (input, context) =>
      withToolErrors(async () => {
        const { start, step_id, ...rest } = input;
        const caller = resolveCaller(context);
        const task_id = resolveTaskId(caller, rest);
        const claimed = await keeper.claim(caller, { task_id, step_id, start });
        if (claimed.kind === "nothing_ready") {
          const { counts } = await tasks.get(caller, task_id);
          return toolResult({
            summary: `No step of task ${task_id} is ready now.`,
            data: { claimed: false, task_id, steps: viewCounts(counts) },
          });
        }
        const { step, task } = claimed;
        return toolResult({
          summary: `Step ${step.step_id} is yours and ${step.status}.`,
          data: {
            claimed: true,
            step: { ...viewStep(step), ...(await viewEarlier(step, caller)) },
            goal: task.goal,
          },
        });
      }),
  });
}

function updateStepTool({ tasks, keeper, resolveCaller }: WorkerToolParts): AnyTool {
  return defineTool({
    ...OWN_TOOL,
    name: "agent.task_update_step",
    title: "Update a step",
    description:
      "Say what became of a step. A worker: running when it begins; then completed with a summary of the result, failed with the reason, or blocked with what is missing; a note at any time. " +
      "The orchestrator may also set a failed or blocked step ready again, take a step back from its worker (ready), or cancel it.",
    input_schema: {
      type: "object",
      properties: {
        task_id: OWN_TASK_ID,
        step_id: { ...STEP_ID, description: "A worker can omit it: it has one step." },
        status: {
          type: "string",
          enum: ["running", "completed", "failed", "blocked", "ready", "cancelled"],
          description: "The new status. Default: only the note changes.",
        },
        summary: {
          type: "string",
          minLength: 1,
          maxLength: TASK_LIMITS.summaryChars,
          description: "completed: what was done and found, and where it is, for who comes next.",
        },
        artifacts: ARTIFACTS,
        reason: { ...REASON, description: "failed, blocked, cancelled: why." },
        note: {
          type: "string",
          minLength: 1,
          maxLength: TASK_LIMITS.noteChars,
          description: "The current state of the work, for observers.",
        },
      } as const satisfies Record<Exclude<keyof StepUpdate, "token">, JsonSchema>,
      additionalProperties: false,
    },
    search_hint: "update step running completed failed blocked",
    handler: (input, context) =>
      withToolErrors(async () => {
        const given = input;
        const caller = resolveCaller(context);
        const task_id = resolveTaskId(caller, given);
        const held = keeper.getClaim(caller.actor.run_id);
        const step_id = given.step_id ?? held?.step_id;
        if (step_id === undefined) throw missingField("step_id", "this run has claimed no step");
        const own = held?.task_id === task_id && held.step_id === step_id ? held : undefined;
        const update = { ...given, task_id, step_id, token: own?.token };
        const applyUpdate = async (): Promise<StepRecord> => {
          const updated = await tasks.updateStep(caller, update);
          if (own !== undefined && updated.claim?.token !== own.token) keeper.forget(own);
          return updated;
        };
        const step = await (own === undefined ? applyUpdate() : keeper.during(own, applyUpdate));
        return toolResult({
          summary: `Step ${step_id} is ${step.status}.`,
          data: viewStepBriefly(step),
        });
      }),
  });
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
