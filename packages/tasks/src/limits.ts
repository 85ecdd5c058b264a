// How much a task may hold, and what a caller may write into it, checked field by field. Models fill these fields: nothing
// of them grows without a bound. The tools' schemas say the same to a model; this also holds for code.

export const TASK_LIMITS = {
  tasksPerSession: 1000,
  steps: 5000,
  dependenciesPerStep: 100,
  dependencies: 20_000,
  operations: 500,
  stepIdChars: 64,
  titleChars: 200,
  goalChars: 8000,
  instructionChars: 16_000,
  expectedOutputChars: 4000,
  summaryChars: 8000,
  reasonChars: 4000,
  noteChars: 1000,
  artifacts: 50,
  artifactIdChars: 200,
  attempts: 100,
} as const;

export const DEFAULT_MAX_ATTEMPTS = 3;
export const DEFAULT_LEASE_MS = 60_000;

/** A lease shorter than this is lost to any hiccup. */
export const MIN_LEASE_MS = 50;

const STEP_ID = /^[A-Za-z0-9][A-Za-z0-9_.-]*$/;

/** Nothing, or what is wrong in one sentence. */
export function textProblem(
  field: string,
  value: unknown,
  maxChars: number,
  { required = true } = {},
): string | undefined {
  if (value === undefined && !required) return undefined;
  if (typeof value !== "string") return `${field} must be a text`;
  if (required && value.trim() === "") return `${field} is empty`;
  if (value.length > maxChars) {
    return `${field} has ${value.length} characters; at most ${maxChars}. Put the rest into an artifact or another step`;
  }
  return undefined;
}

export function stepIdProblem(value: unknown): string | undefined {
  const isFine =
    typeof value === "string" && value.length <= TASK_LIMITS.stepIdChars && STEP_ID.test(value);
  if (isFine) return undefined;
  const given = typeof value === "string" ? JSON.stringify(value.slice(0, 80)) : typeof value;
  return `${given} is not a step_id: up to ${TASK_LIMITS.stepIdChars} letters, digits, "_", "-" and ".", beginning with a letter or digit`;
}

export function attemptsProblem(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const isCount = typeof value === "number" && Number.isInteger(value);
  if (isCount && value >= 1 && value <= TASK_LIMITS.attempts) return undefined;
  return `max_attempts must be a whole number from 1 to ${TASK_LIMITS.attempts}`;
}

export function idListProblem(field: string, value: unknown, most: number): string | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) return `${field} must be a list of ids`;
  if (value.length > most) return `${field} has ${value.length} entries; at most ${most}`;
  for (const id of value) {
    const problem = stepIdProblem(id);
    if (problem !== undefined) return `${field}: ${problem}`;
  }
  return undefined;
}

export function artifactsProblem(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const { artifacts, artifactIdChars } = TASK_LIMITS;
  if (!Array.isArray(value)) return "artifacts must be a list of artifact ids";
  if (value.length > artifacts)
    return `artifacts has ${value.length} entries; at most ${artifacts}`;
  const isFine = value.every(
    (id) => typeof id === "string" && id !== "" && id.length <= artifactIdChars,
  );
  return isFine ? undefined : `artifacts must hold ids of up to ${artifactIdChars} characters`;
}
