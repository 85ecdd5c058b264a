// One tool, notes.x, in whatever shape a test of redaction needs it, and the call of it.

import {
  toolResult,
  ToolFailure,
  type AnyTool,
  type ContentBlock,
  type HandlerResult,
  type HookAnswers,
} from "@soong/core";
import { pre } from "./pre-hook.ts";
import type { WatchedWorld } from "./secrets.ts";
import { reader, writer, type WorldOptions } from "./world.ts";

export type Act = (world: WatchedWorld) => Promise<unknown>;

export const call =
  (input: unknown = {}, name = "notes.x"): Act =>
  async (world) =>
    world.execute({ id: "c1", name, arguments: input });

/** It reads. */
export const reads = (about: Partial<AnyTool> = {}): WorldOptions => ({
  tools: [reader("notes.x", 0, { handler: () => "done", ...about })],
});

/** It writes, so that the user is asked. */
export const asks = (about: Partial<AnyTool> = {}): WorldOptions => ({
  tools: [writer("notes.x", 0, { handler: () => "done", ...about })],
  roots: { project: "/project", write: [] },
});

/** It takes no arguments. */
export const closed = (): WorldOptions =>
  reads({ input_schema: { type: "object", properties: {}, additionalProperties: false } });

export const returns = (value: unknown): WorldOptions => reads({ handler: () => value });
export const result = (given: HandlerResult): WorldOptions => returns(toolResult(given));

/** A hook has something to say before it. */
export const hooked = (answer: HookAnswers["PreToolUse"]): WorldOptions => ({
  ...asks(),
  hooks: [pre("meddler", answer)],
});

export function failWith(message: string): never {
  throw new Error(message);
}

export function failWithContent(message: string): never {
  const content: ContentBlock[] = [{ type: "text", text: message }];
  throw new ToolFailure({ code: "no", message, details: { a: message } }, content);
}

/** Says what it is given, and is never heard of again. */
export async function hang(_done?: void): Promise<never> {
  return new Promise(() => {});
}
