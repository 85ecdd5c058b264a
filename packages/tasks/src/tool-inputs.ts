// What the task tools share: the pieces of their input schemas, and what they all say of themselves (SURF-10).

import type { JsonSchema } from "@soong/core";
import { DEFAULT_MAX_ATTEMPTS, TASK_LIMITS } from "./limits.ts";

/** No effect outside the runtime, so nobody is asked; and never two changes at once. */
export const OWN_TOOL = {
  permission: "readonly",
  concurrency_safe: false,
  destructive: false,
  open_world: false,
  interrupt_behavior: "block",
} as const;

export const TASK_ID: JsonSchema = {
  type: "string",
  minLength: 1,
  maxLength: 200,
  description: "As agent.task_create or agent.task_list gave it.",
};

export const OWN_TASK_ID: JsonSchema = {
  ...TASK_ID,
  description: "The task. A worker can leave it out: it has one task.",
};

export const STEP_ID: JsonSchema = {
  type: "string",
  minLength: 1,
  maxLength: TASK_LIMITS.stepIdChars,
  description: "The step, by its id within the task.",
};

const NEW_STEP_ID: JsonSchema = {
  ...STEP_ID,
  description:
    'A short word of your own such as "parse-input": letters, digits, "_", "-", ".". Left out: step_1, step_2 and so on.',
};

export const TITLE: JsonSchema = {
  type: "string",
  minLength: 1,
  maxLength: TASK_LIMITS.titleChars,
  description: "One line.",
};

export const REASON: JsonSchema = {
  type: "string",
  minLength: 1,
  maxLength: TASK_LIMITS.reasonChars,
  description: "Why, in a sentence or two.",
};

export const ARTIFACTS: JsonSchema = {
  type: "array",
  maxItems: TASK_LIMITS.artifacts,
  items: { type: "string", minLength: 1, maxLength: TASK_LIMITS.artifactIdChars },
  description: "Ids of artifacts that belong to the result.",
};

export const GOAL: JsonSchema = {
  type: "string",
  minLength: 1,
  maxLength: TASK_LIMITS.goalChars,
  description: "The outcome, how it can be checked, what is out of scope.",
};

const DEPENDS_ON: JsonSchema = {
  type: "array",
  maxItems: TASK_LIMITS.dependenciesPerStep,
  items: { type: "string", minLength: 1, maxLength: TASK_LIMITS.stepIdChars },
  description: "Ids of the steps that must be completed before this one can begin.",
};

/** Of a new step; an operation has them too. There is no status among them. */
const STEP_FIELDS: Record<string, JsonSchema> = {
  step_id: NEW_STEP_ID,
  title: TITLE,
  instructions: {
    type: "string",
    minLength: 1,
    maxLength: TASK_LIMITS.instructionChars,
    description:
      "All a worker needs to do it alone: what, where, with which inputs, what to leave untouched.",
  },
  expected_output: {
    type: "string",
    minLength: 1,
    maxLength: TASK_LIMITS.expectedOutputChars,
    description: "What its result has to hold.",
  },
  depends_on: DEPENDS_ON,
  max_attempts: {
    type: "integer",
    minimum: 1,
    maximum: TASK_LIMITS.attempts,
    description: `How often it may be tried; usually ${DEFAULT_MAX_ATTEMPTS} if left out.`,
  },
};

export const NEW_STEP: JsonSchema = {
  type: "object",
  properties: STEP_FIELDS,
  required: ["title", "instructions"],
  additionalProperties: false,
};

export function operationSchema(operations: readonly string[]): JsonSchema {
  return {
    type: "object",
    properties: {
      op: { type: "string", enum: [...operations] },
      ...STEP_FIELDS,
      goal: GOAL,
      reason: REASON,
      before: {
        ...STEP_ID,
        description: "add_step: put it before this one; left out: at the end.",
      },
      step_ids: {
        type: "array",
        minItems: 1,
        maxItems: TASK_LIMITS.steps,
        items: { type: "string", minLength: 1, maxLength: TASK_LIMITS.stepIdChars },
        description: "reorder: these steps, in this order, in the places they have now.",
      },
    },
    required: ["op"],
    additionalProperties: false,
  };
}
