// How much a task may hold. Models fill these fields: nothing of them grows without a bound.

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
