// What code.run_command takes.

import type { InferOutput } from "@soong/core";

export type CommandInput = InferOutput<ReturnType<typeof commandInput>>;

export function commandInput(defaultTimeoutMs: number, maxTimeoutMs: number, hasSandbox: boolean) {
  return {
    type: "object",
    properties: {
      argv: {
        type: "array",
        items: { type: "string" },
        minItems: 1,
        description: 'The program and its arguments, one item each: ["git", "status", "--short"].',
      },
      cwd: {
        type: "string",
        minLength: 1,
        description: "Where to run it, relative to the project. Default: the project itself.",
      },
      timeout_ms: {
        type: "integer",
        minimum: 1,
        maximum: maxTimeoutMs,
        description: `After this time it is stopped. Default: ${defaultTimeoutMs}.`,
      },
      description: {
        type: "string",
        maxLength: 200,
        description: "What it is for, in a few words; shown while it runs.",
      },
      ...(hasSandbox
        ? { outside_sandbox: OUTSIDE }
        : (NOTHING as { outside_sandbox: typeof OUTSIDE })),
    },
    required: ["argv"],
    additionalProperties: false,
  } as const;
}

const OUTSIDE = {
  type: "boolean",
  description:
    "Run it outside of the sandbox. The user is asked each time: only for a command that the sandbox stopped.",
} as const;

/** A tool without a sandbox has no such field. */
const NOTHING: object = {};
