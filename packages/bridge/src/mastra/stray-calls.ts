// Calls of tools that were not offered. Mastra answers those itself, and runs the calls beside them one by one. So they go
// through it as calls of one more tool, which the model does not see. That has them refused by the kernel, and never executes.

import { packArguments } from "../kernel/index.ts";

export const STRAY_TOOL = "soong__stray_call";

export interface StrayCall {
  readonly name: string;
  /** As the model sent them. */
  readonly arguments: string;
}

export function packStray(name: string, text: string): string {
  const stray: StrayCall = { name, arguments: text };
  return JSON.stringify(stray);
}

export function readStray(input: unknown): StrayCall {
  const { name, arguments: text } = (input ?? {}) as Partial<StrayCall>;
  return { name: String(name), arguments: String(text) };
}

/** The input for the model's own history. */
export function restoreInput(stray: StrayCall): unknown {
  return JSON.parse(packArguments(stray.arguments)) as unknown;
}
