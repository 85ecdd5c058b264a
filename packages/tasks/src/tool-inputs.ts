// What the task tools share: the pieces of their input schemas, and what they all say of themselves (SURF-10).

import type { JsonSchema } from "@soong/core";
import { omitUndefined } from "@soong/schema";
import { DEFAULT_MAX_ATTEMPTS, TASK_LIMITS } from "./limits.ts";
import { OPERATIONS, type GivenOperation } from "./operation.ts";
import type { NewStep } from "./plan-task.ts";

/** No effect outside the runtime, so no approval is required; and never two changes at once. */
export const OWN_TOOL = {
  permission: "readonly",
  concurrency_safe: false,
  destructive: false,
  open_world: false,
  interrupt_behavior: "block",
} as const;

export function text(maxLength: number, description: string) {
  return { type: "string", minLength: 1, maxLength, description } as const;
}

export function integer(minimum: number, maximum: number | undefined, description: string) {
  const bound = omitUndefined({ maximum });
  return { type: "integer", minimum, ...bound, description } as const;
}

/** Exactly these fields. */
export function fields<
  const Properties extends Readonly<Record<string, JsonSchema>>,
  const Required extends readonly (keyof Properties & string)[] = readonly [],
>(properties: Properties, ...required: Required) {
  const needed = required.length === 0 ? {} : { required };
  return { type: "object", properties, ...needed, additionalProperties: false } as {
    readonly type: "object";
    readonly properties: Properties;
    readonly required: Required;
    readonly additionalProperties: false;
  };
}

export const TASK_ID = text(200, "As agent.task_create or agent.task_list gave it.");
export const OWN_TASK_ID = text(200, "The task. A worker can omit it: it has one task.");
export const STEP_ID = text(TASK_LIMITS.stepIdChars, "The step, by its id within the task.");
export const TITLE = text(TASK_LIMITS.titleChars, "One line.");
export const REASON = text(TASK_LIMITS.reasonChars, "Why, in a sentence or two.");
export const GOAL = text(
  TASK_LIMITS.goalChars,
  "The outcome, how it can be checked, what is out of scope.",
);

export const ARTIFACTS = {
  type: "array",
  maxItems: TASK_LIMITS.artifacts,
  items: { type: "string", minLength: 1, maxLength: TASK_LIMITS.artifactIdChars },
  description: "Ids of artifacts that belong to the result.",
} as const;

const STEP_REFERENCE = {
  type: "string",
  minLength: 1,
  maxLength: TASK_LIMITS.stepIdChars,
} as const;

/** Of a new step; an operation has them too. There is no status among them. */
const STEP_FIELDS = {
  step_id: text(
    TASK_LIMITS.stepIdChars,
    'A short word of your own such as "parse-input": letters, digits, "_", "-", ".". Default: step_1, step_2 and so on.',
  ),
  title: TITLE,
  instructions: text(
    TASK_LIMITS.instructionChars,
    "All a worker needs to do it alone: what, where, with which inputs, what to leave untouched.",
  ),
  expected_output: text(TASK_LIMITS.expectedOutputChars, "What its result has to hold."),
  depends_on: {
    type: "array",
    maxItems: TASK_LIMITS.dependenciesPerStep,
    items: STEP_REFERENCE,
    description: "Ids of the steps that must be completed before this one can begin.",
  },
  max_attempts: integer(
    1,
    TASK_LIMITS.attempts,
    `How often it may be tried. Usual default: ${DEFAULT_MAX_ATTEMPTS}.`,
  ),
} as const satisfies Record<keyof NewStep, JsonSchema>;

export const NEW_STEP = fields(STEP_FIELDS, "title", "instructions");

/** Flat, because that is what every model provider can be given a schema for. */
export const OPERATION = fields(
  {
    op: { type: "string", enum: OPERATIONS },
    ...STEP_FIELDS,
    goal: GOAL,
    reason: REASON,
    before: text(TASK_LIMITS.stepIdChars, "add_step: put it before this one. Default: at the end."),
    step_ids: {
      type: "array",
      minItems: 1,
      maxItems: TASK_LIMITS.steps,
      items: STEP_REFERENCE,
      description: "reorder: these steps, in this order, in the places they have now.",
    },
  } as const satisfies Record<keyof GivenOperation, JsonSchema>,
  "op",
);
