// Tools for the tests of the loop: they do what a test says and count what they did.

import { defineTool, type AnyTool, type HeldClock } from "@soong/core";

export function readTool(name: string, handler: (input: unknown) => unknown): AnyTool {
  return defineTool({
    name,
    description: `Read with ${name}`,
    input_schema: { type: "object" },
    permission: "readonly",
    concurrency_safe: true,
    handler: (input) => handler(input) as string,
  });
}

export function writeTool(name: string, done: string[]): AnyTool {
  return defineTool({
    name,
    description: `Write with ${name}`,
    input_schema: { type: "object" },
    handler: (input) => {
      done.push(JSON.stringify(input));
      return `written ${JSON.stringify(input)}`;
    },
  });
}

/** Takes so long, unless it is cancelled. */
export function slowTool(
  clock: () => HeldClock,
  name: string,
  ms: number,
  behavior: "cancel" | "block" = "cancel",
): AnyTool {
  return defineTool({
    name,
    description: `Takes ${ms} ms`,
    input_schema: { type: "object" },
    permission: "readonly",
    concurrency_safe: true,
    interrupt_behavior: behavior,
    handler: () =>
      new Promise<string>((resolve) => {
        clock().after(ms, () => resolve(`${name} took ${ms} ms`));
      }),
  });
}

/** Writes without a question. */
export const ALLOW_ALL = {
  rules: [{ tool: "*", decision: "allow" as const, origin: { file: "test", line: 1 } }],
};
