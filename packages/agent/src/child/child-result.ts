// What comes back from a child (AGENT-4), as a record and as what its caller reads.

import { toolResult, type ArtifactRef, type HandlerResult, type JsonValue } from "@soong/core";
import { cutMiddle } from "../context/index.ts";
import type { EndReason, LoopError, UsageTotal } from "../loop/index.ts";
import type { ChildRole } from "./child-prompt.ts";

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

const MOST_SUMMARY_CHARS = 600;
const MOST_FINDINGS = 50;
const MOST_FINDING_CHARS = 1_000;

export function extractSummary(answer: string): string {
  const [first = ""] = answer.trim().split(/\n\s*\n/);
  return cutMiddle(first.trim(), MOST_SUMMARY_CHARS);
}

/** The lines below "Findings:", up to the first that is none. */
export function extractFindings(answer: string): string[] {
  const lines = answer.split(/\r?\n/);
  const from = lines.findIndex((line) => /^\W*findings\W*$/i.test(line.trim()));
  if (from === -1) return [];
  const below = lines.slice(from + 1).map((line) => line.trim());
  const end = below.findIndex((line) => line !== "" && !isItem(line));
  return below
    .slice(0, end === -1 ? undefined : end)
    .filter(isItem)
    .slice(0, MOST_FINDINGS)
    .map((line) => cutMiddle(line.replace(ITEM, ""), MOST_FINDING_CHARS));
}

const ITEM = /^(?:[-*•]|\d+[.)])\s+/;

function isItem(line: string): boolean {
  return ITEM.test(line);
}

/** A failed child is a result like any other: its caller reads why, and what the child had said, and continues. */
export function toHandlerResult(result: ChildResult, answer: string, note?: string): HandlerResult {
  const { status, agent_id, run_id, agent_definition_id, role, error } = result;
  const who = `${role} agent ${agent_definition_id} (${agent_id}, run ${run_id})`;
  const said = answer.trim();
  const parts = [
    ...(status === "completed" ? [`The ${who} completed.`] : []),
    ...(note === undefined ? [] : [note]),
    ...(said === "" ? [] : [status === "completed" ? said : `What it had said last:\n${said}`]),
  ];
  const content = parts.length === 0 ? [] : [{ type: "text" as const, text: parts.join("\n\n") }];
  const common = {
    content,
    data: result,
    artifacts: [...result.artifacts],
    context_nodes: [
      {
        kind: "child_result" as const,
        text: `The ${who}: ${status}.`,
        data: { agent_id, run_id, agent_definition_id, role, status },
      },
    ],
  };
  if (status === "completed") {
    return toolResult({ ...common, status: "succeeded", summary: result.summary });
  }
  return toolResult({
    ...common,
    status: status === "timed_out" ? "timed_out" : "failed",
    error: {
      code: error?.code ?? `child_${status}`,
      error_class: status === "timed_out" ? "timeout" : "execution_failed",
      message: `The ${who} ${END_VERBS[status]}: ${error?.message ?? status}`,
      retryable: status === "timed_out",
      recovery: status === "timed_out" ? "retry" : "use_another_tool",
    },
  });
}

const END_VERBS = {
  failed: "failed",
  timed_out: "was stopped",
  cancelled: "was cancelled",
} as const;
