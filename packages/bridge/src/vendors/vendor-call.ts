// What the mappers of all vendors share: calls with their outcomes, one for each, in call order.

import type { ContentBlock, ToolCall, ToolResult } from "@soong/core";
import { asRecord } from "@soong/schema";
import type { CallOutcome, Gate } from "../kernel/index.ts";

/** What `executeCalls` or `run.execute` answers with for a call. */
export type VendorOutcome = CallOutcome | ToolResult;

export interface ExecuteOptions {
  readonly signal?: AbortSignal | undefined;
  /** With the host's own approvals: whether its user approved this call, by its place in the answer. Ids may be missing. */
  readonly isApproved?: (call: ToolCall, at: number) => boolean;
  /** With the host's own approvals: given if its user refused this call. */
  readonly denied?: (call: ToolCall, at: number) => { readonly reason?: string } | undefined;
}

/** All calls of one answer as one turn; one outcome for each, in call order. Never rejects. */
export async function executeCalls(
  gate: Gate,
  calls: readonly ToolCall[],
  { signal, isApproved, denied }: ExecuteOptions = {},
): Promise<CallOutcome[]> {
  const turn = gate.openTurn();
  const pushed = calls.map((call, at) => {
    const refusal = denied?.(call, at);
    const answer = refusal === undefined ? {} : { denied: refusal };
    return turn.push(call, { signal, isApproved: isApproved?.(call, at) === true, ...answer });
  });
  turn.end();
  return Promise.all(pushed.map(({ outcome }) => outcome));
}

export interface AnsweredCall {
  readonly call: ToolCall;
  readonly blocks: readonly ContentBlock[];
  readonly isError: boolean;
}

/** Providers refuse a conversation in which a call has no result, so a missing one is an error. */
export function pairOutcomes(
  calls: readonly ToolCall[],
  outcomes: readonly VendorOutcome[],
): AnsweredCall[] {
  return calls.map((call, at) => {
    const outcome = outcomes[at];
    if (outcome === undefined) {
      return { call, blocks: [{ type: "text", text: "There is no result." }], isError: true };
    }
    const { result, added } = "result" in outcome ? outcome : { result: outcome, added: [] };
    const blocks = [result.content, ...added.map(({ content }) => content)].flat();
    return { call, blocks, isError: result.is_error };
  });
}

/** Without arguments, or with an empty text, as some models call a tool that needs none, it has none. */
export function createVendorCall(id: unknown, name: unknown, given: unknown): ToolCall {
  const known = readText(id);
  const isEmpty = typeof given === "string" && given.trim() === "";
  return {
    ...(known !== undefined && { id: known }),
    name: readText(name) ?? "",
    arguments: isEmpty ? {} : (given ?? {}),
  };
}

/** The records of a list; none if it is no list. */
export function readList(value: unknown): ReturnType<typeof asRecord>[] {
  return Array.isArray(value) ? value.map(asRecord) : [];
}

/** A field that should be a text; undefined if it is none. */
export function readText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
