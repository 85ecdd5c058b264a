// What the task tools share: the pieces of their input schemas, and what they all say of themselves (SURF-10).

import type { JsonSchema } from "@soong/core";
import { DEFAULT_MAX_ATTEMPTS, TASK_LIMITS } from "./records.ts";
import type { NewStep } from "./new-task.ts";
import { OPERATIONS, type GivenOperation } from "./operation.ts";

/** No effect outside the runtime, so no approval is required; and never two changes at once. */
export const OWN_TOOL = {
  permission: "readonly",
  concurrency_safe: false,
  destructive: false,
  open_world: false,
  interrupt_behavior: "block",
} as const;

export const TASK_ID = {
  type: "string",
  minLength: 1,
  maxLength: 200,
  description: "As agent.task_create or agent.task_list gave it.",
} as const;

export const OWN_TASK_ID = {
  ...TASK_ID,
  description: "The task. A worker can omit it: it has one task.",
} as const;

export const STEP_ID = {
  type: "string",
  minLength: 1,
  maxLength: TASK_LIMITS.stepIdChars,
  description: "The step, by its id within the task.",
} as const;

const NEW_STEP_ID = {
  ...STEP_ID,
  description:
    'A short word of your own such as "parse-input": letters, digits, "_", "-", ".". Default: step_1, step_2 and so on.',
} as const;

export const TITLE = {
  type: "string",
  minLength: 1,
  maxLength: TASK_LIMITS.titleChars,
  description: "One line.",
} as const;

export const REASON = {
  type: "string",
  minLength: 1,
  maxLength: TASK_LIMITS.reasonChars,
  description: "Why, in a sentence or two.",
} as const;

export const ARTIFACTS = {
  type: "array",
  maxItems: TASK_LIMITS.artifacts,
  items: { type: "string", minLength: 1, maxLength: TASK_LIMITS.artifactIdChars },
  description: "Ids of artifacts that belong to the result.",
} as const;

export const GOAL = {
  type: "string",
  minLength: 1,
  maxLength: TASK_LIMITS.goalChars,
  description: "The outcome, how it can be checked, what is out of scope.",
} as const;

const DEPENDS_ON = {
  type: "array",
  maxItems: TASK_LIMITS.dependenciesPerStep,
  items: { type: "string", minLength: 1, maxLength: TASK_LIMITS.stepIdChars },
  description: "Ids of the steps that must be completed before this one can begin.",
} as const;

/** Of a new step; an operation has them too. There is no status among them. */
const STEP_FIELDS = {
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
    description: `How often it may be tried. Usual default: ${DEFAULT_MAX_ATTEMPTS}.`,
  },
} as const satisfies Record<keyof NewStep, JsonSchema>;

export const NEW_STEP = {
  type: "object",
  properties: STEP_FIELDS,
  required: ["title", "instructions"],
  additionalProperties: false,
} as const;

/** Flat, because that is what every model provider can be given a schema for. */
export const OPERATION = {
  type: "object",
  properties: {
    op: { type: "string", enum: OPERATIONS },
    ...STEP_FIELDS,
    goal: GOAL,
    reason: REASON,
    before: {
      ...STEP_ID,
      description: "add_step: put it before this one. Default: at the end.",
    },
    step_ids: {
      type: "array",
      minItems: 1,
      maxItems: TASK_LIMITS.steps,
      items: { type: "string", minLength: 1, maxLength: TASK_LIMITS.stepIdChars },
      description: "reorder: these steps, in this order, in the places they have now.",
    },
  } as const satisfies Record<keyof GivenOperation, JsonSchema>,
  required: ["op"],
  additionalProperties: false,
} as const;
