// The author's own schema (Zod or another), asked within its time, and the check of outputs. A schema is code like any
// other: its answer may be anything.

import type { HandlerOutcome } from "../result/index.ts";
import type { ToolSchema } from "../registry/index.ts";
import type { ValidationIssue } from "@soong/schema";
import { messageOf, toolError } from "../tool/index.ts";
import { withinCall, type Call, type Ending } from "./call.ts";
import type { RunBase } from "./host.ts";

/** SCHEMA-7: output that is not what the tool declared is a failed call, and says how. */
export async function validateOutput(
  host: RunBase,
  call: Call,
  output: ToolSchema,
  end: Ending,
): Promise<Ending> {
  const { outcome, status } = end;
  if (status !== "succeeded" && status !== "partial") return end;
  const value = outcome.data === undefined ? outcome.returned_text : outcome.data.value;
  const checked = output.check(value);
  if (!checked.ok) return mismatch(call, end, wordsOf(checked.issues));
  const answer = output.own && (await askOwnSchema(host, call, output.own, value));
  if (answer === undefined) return end;
  if (typeof answer === "string") return mismatch(call, end, `the schema ${answer}`);
  return answer.issues === undefined ? end : mismatch(call, end, wordsOf(answer.issues));
}

function wordsOf(issues: readonly ValidationIssue[]): string {
  return issues
    .slice(0, 5)
    .map(({ path, message }) => (path === "" ? message : `${path}: ${message}`))
    .join("; ");
}

/** The output is kept, so that the cause can be found. */
function mismatch(call: Call, end: Ending, problem: string): Ending {
  const { outcome } = end;
  const error = toolError({
    code: "output_schema_mismatch",
    message: `${call.tool_name} ran, but its output does not fit its own output_schema: ${problem}`,
    recovery: "use_another_tool",
  });
  const kept: HandlerOutcome = { ...outcome, status: "failed", error };
  if (kept.content.length === 0 && kept.data !== undefined) {
    kept.content = [{ type: "json", json: kept.data.value }];
    delete kept.data;
  }
  return { ...end, status: "failed", outcome: kept };
}

type OwnAnswer =
  | { value: unknown; issues?: undefined }
  | { issues: ValidationIssue[]; value?: undefined };

/** The answer of the author's schema, or what is wrong with it; undefined when the call was cancelled meanwhile. */
export async function askOwnSchema(
  host: RunBase,
  call: Call,
  own: NonNullable<ToolSchema["own"]>,
  value: unknown,
): Promise<OwnAnswer | string | undefined> {
  const { default_timeout_ms } = host.config.tools;
  const waited = await withinCall(host.clock, call, default_timeout_ms, () => own(value));
  switch (waited.kind) {
    case "given_up":
      return undefined;
    case "timed_out":
      return `did not answer within ${waited.ms} ms`;
    case "threw":
      return `threw: ${messageOf(waited.error)}`;
    case "answered":
      return readOwnAnswer(waited.value);
  }
}

/** The answer, or what is wrong with it. */
function readOwnAnswer(given: unknown): OwnAnswer | string {
  try {
    if (typeof given !== "object" || given === null) return "did not answer with an object";
    const { issues, value } = given as { issues?: unknown; value?: unknown };
    if (issues !== undefined) {
      if (!Array.isArray(issues) || issues.length === 0) return "gave issues that are no list";
      return { issues: issues.slice(0, MAX_ISSUES).map(issueOf) };
    }
    return "value" in given ? { value } : "answered with neither issues nor a value";
  } catch {
    return "answered with something that cannot be read";
  }
}

const MAX_ISSUES = 100;
const MAX_CHARS = 500;

function issueOf(given: unknown): ValidationIssue {
  const { message, path } = (given ?? {}) as { message?: unknown; path?: unknown };
  const text = typeof message === "string" && message !== "" ? message : "does not fit";
  const expected = text.slice(0, MAX_CHARS);
  return { path: pathOf(path), expected, received: "a value that does not fit", message: expected };
}

function pathOf(path: unknown): string {
  if (!Array.isArray(path)) return "";
  return path
    .map((part: unknown) => {
      const key: unknown =
        typeof part === "object" && part !== null ? (part as { key?: unknown }).key : part;
      return typeof key === "number" ? `[${key}]` : `.${String(key)}`;
    })
    .join("")
    .replace(/^\./, "")
    .slice(0, MAX_CHARS);
}
