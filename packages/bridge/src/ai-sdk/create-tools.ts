// The tools of a run as the SDK takes them. Its `execute` only waits: the model in front has handed the call to the kernel.
// With a plain model it hands it over itself, with the other calls of the same tick.

import { unpackInput, type ListedTool } from "../kernel/index.ts";
import type { BridgedOutput } from "./bridged-output.ts";
import { findApproval } from "./find-approval.ts";
import { FollowedCall } from "./followed-call.ts";
import { createInputSchema, type InputSchema } from "./input-schema.ts";
import type { AnswerParts } from "./model-answer.ts";
import { toModelOutput, type ModelOutput } from "./to-model-output.ts";

/** A dynamic tool, for `tools` of `streamText`, `generateText`, agents and `convertToModelMessages`. */
export interface BridgedTool {
  readonly type: "dynamic";
  readonly description: string;
  readonly inputSchema: InputSchema;
  readonly execute: (
    input: unknown,
    options: ExecuteOptions,
  ) => AsyncIterable<BridgedOutput> | Promise<BridgedOutput>;
  readonly toModelOutput: (options: { readonly output: unknown }) => ModelOutput;
  /** Only with the host's approvals. */
  readonly needsApproval?: (input: unknown, options: ApprovalOptions) => Promise<boolean>;
}

/** Version 7 of the SDK: whether the host has to pause for a call, by the name of its tool. */
export type ToolApproval = Record<
  string,
  (input: unknown, options: ApprovalOptions) => Promise<"user-approval" | "not-applicable">
>;

export interface ApprovalOptions {
  readonly toolCallId: string;
  readonly messages: readonly unknown[];
}

export interface ExecuteOptions extends ApprovalOptions {
  readonly abortSignal?: AbortSignal | undefined;
}

export function createTools(parts: AnswerParts): Record<string, BridgedTool> {
  let isVersion7 = false;
  const listed = [...parts.tools.values()];
  return Object.fromEntries(listed.map((tool) => [tool.name, createTool(tool)]));

  function createTool({ name, description, input_schema }: ListedTool): BridgedTool {
    const { approvals } = parts;
    return {
      type: "dynamic",
      description,
      inputSchema: createInputSchema(input_schema),
      execute(input, options) {
        isVersion7 ||= "context" in options;
        return executeCall(parts, name, input, options);
      },
      toModelOutput: ({ output }) => toModelOutput(output, isVersion7),
      ...(approvals && {
        needsApproval: (input, options) => needsApproval(parts, name, input, options),
      }),
    };
  }
}

/** `not-applicable` for what the kernel refuses, too: then it is called, and its result explains why. */
export function createToolApproval(parts: AnswerParts): ToolApproval {
  if (parts.approvals === undefined) return {};
  const names = [...parts.tools.keys()];
  return Object.fromEntries(
    names.map((name) => [
      name,
      async (input: unknown, options: ApprovalOptions) =>
        (await needsApproval(parts, name, input, options)) ? "user-approval" : "not-applicable",
    ]),
  );
}

async function needsApproval(
  { run, approvals, calls }: AnswerParts,
  name: string,
  input: unknown,
  { toolCallId, messages }: ApprovalOptions,
): Promise<boolean> {
  if (approvals === undefined || calls.isStarted(toolCallId)) return false;
  // Asked again with the user's answer. What it is bound to is the plan that the user was shown, not a new one.
  if (findApproval(messages, toolCallId) !== undefined || calls.unpause(toolCallId)) return true;
  return approvals.needsApproval(run, { id: toolCallId, name, arguments: unpackInput(input) });
}

function executeCall(
  { gate, calls, feed }: AnswerParts,
  name: string,
  input: unknown,
  { toolCallId, messages, abortSignal: signal }: ExecuteOptions,
): AsyncIterable<BridgedOutput> | Promise<BridgedOutput> {
  const started = calls.take(toolCallId);
  if (started !== undefined) {
    started.confirm(signal);
    return started.call.read();
  }
  const isApproved = findApproval(messages, toolCallId) === "approved";
  const call = { id: toolCallId, name, arguments: unpackInput(input) };
  const pushed = gate.push(call, { signal, isApproved });
  return new FollowedCall(feed, pushed).read();
}
