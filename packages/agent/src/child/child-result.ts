// What comes back from a child (AGENT-4), as a record and as what its caller reads.

import { toolResult, type ArtifactRef, type HandlerResult, type JsonValue } from "@soong/core";
import { cutMiddle } from "../context/index.ts";
import type { EndReason, LoopError, RunEnd, UsageTotal } from "../loop/index.ts";
import type { ChildRole } from "./child-task.ts";

export type ChildStatus = "completed" | "failed" | "timed_out" | "cancelled";

export interface ChildResult {
  readonly status: ChildStatus;
  readonly summary: string;
  readonly findings: readonly string[];
  readonly artifacts: readonly ArtifactRef[];
  readonly usage: UsageTotal;
  readonly agent_id: string;
  readonly run_id: string;
  readonly agent_definition_id: string;
  readonly role: ChildRole;
  /** How its run ended. */
  readonly reason: EndReason;
  /** Model requests. */
  readonly turns: number;
  /** Where a form was expected and the answer has it. */
  readonly output?: JsonValue;
  readonly error?: Pick<LoopError, "code" | "message">;
}

/** Why it was ended from outside. */
export interface Stop {
  readonly status: "timed_out" | "cancelled";
  readonly message: string;
}

export function getChildStatus({ reason, error }: RunEnd, stop: Stop | undefined): ChildStatus {
  if (reason === "completed") return "completed";
  const isAborted = reason === "aborted_streaming" || reason === "aborted_tools";
  if (!isAborted || error?.code === "stopped_by_hook") return "failed";
  return stop?.status ?? "cancelled";
}

export function extractSummary(answer: string): string {
  const [first = ""] = answer.trim().split(/\n\s*\n/);
  return cutMiddle(first.trim(), MOST_SUMMARY_CHARS);
}

const MOST_SUMMARY_CHARS = 600;
const MOST_FINDINGS = 50;
const MOST_FINDING_CHARS = 1_000;
const ITEM = /^(?:[-*•]|\d+[.)])\s+/;

/** The lines below "Findings:", up to the first that is none. */
export function extractFindings(answer: string): string[] {
  const lines = answer.split(/\r?\n/).map((line) => line.trim());
  const from = lines.findIndex((line) => /^\W*findings\W*$/i.test(line));
  if (from === -1) return [];
  const below = lines.slice(from + 1).filter((line) => line !== "");
  const end = below.findIndex((line) => !ITEM.test(line));
  return below
    .slice(0, end === -1 ? undefined : end)
    .slice(0, MOST_FINDINGS)
    .map((line) => cutMiddle(line.replace(ITEM, ""), MOST_FINDING_CHARS));
}

/** A failed child is a result like any other: its caller reads why, and what the child had said, and continues. */
export function toHandlerResult(result: ChildResult, answer: string, note?: string): HandlerResult {
  const { status, agent_id, run_id, agent_definition_id, role, error } = result;
  const who = `The ${role} agent ${agent_definition_id} (${agent_id}, run ${run_id})`;
  const said = answer.trim();
  const isWell = status === "completed";
  const parts = [
    isWell ? `${who} completed.` : undefined,
    note,
    said === "" || isWell ? said : `What it had said last:\n${said}`,
  ];
  const text = parts.filter(Boolean).join("\n\n");
  const data = { agent_id, run_id, agent_definition_id, role, status };
  const common = {
    content: text === "" ? [] : [{ type: "text" as const, text }],
    data: result,
    artifacts: [...result.artifacts],
    context_nodes: [{ kind: "child_result" as const, text: `${who}: ${status}.`, data }],
  };
  if (isWell) return toolResult({ ...common, status: "succeeded", summary: result.summary });
  const isLate = status === "timed_out";
  return toolResult({
    ...common,
    status: isLate ? status : "failed",
    error: {
      code: error?.code ?? `child_${status}`,
      error_class: isLate ? "timeout" : "execution_failed",
      message: `${who} ${END_VERBS[status]}: ${error?.message ?? status}`,
      retryable: isLate,
      recovery: isLate ? "retry" : "use_another_tool",
    },
  });
}

const END_VERBS = {
  failed: "failed",
  timed_out: "was stopped",
  cancelled: "was cancelled",
} as const;
