// SCHEMA-7: output that is not what the tool declared is a failed call, and says how.

import { isThenable, type GivenUp, type Waited } from "../journal/index.ts";
import type { HandlerOutcome } from "../result/index.ts";
import type { ValidationIssue } from "../schema/index.ts";
import { messageOf, toolError } from "../tool/index.ts";
import { withinCall, type Call, type Ending } from "./call.ts";
import type { CallHost } from "./host.ts";
import { readOwnAnswer } from "./own-schema.ts";

export function checkOutput(host: CallHost, call: Call, end: Ending): Ending | Promise<Ending> {
  const { output } = call.tool ?? {};
  const { outcome } = end;
  const isClaimed = end.status === "succeeded" || end.status === "partial";
  if (output === undefined || !end.executed || !isClaimed) return end;
  const value = outcome.data === undefined ? outcome.returned_text : outcome.data.value;
  const checked = output.check(value);
  if (!checked.ok) return mismatch(call, end, wordsOf(checked.issues));
  const { own } = output;
  if (own === undefined) return end;
  const waited = withinCall(host.clock, call, host.config.tools.default_timeout_ms, () =>
    own(value),
  );
  const take = (answer: Waited<unknown> | GivenUp): Ending => {
    const problem = ownProblem(answer);
    return problem === undefined ? end : mismatch(call, end, problem);
  };
  return isThenable(waited) ? waited.then(take) : take(waited);
}

function ownProblem(waited: Waited<unknown> | GivenUp): string | undefined {
  switch (waited.kind) {
    case "given_up":
      return undefined;
    case "timed_out":
      return `the schema did not answer within ${waited.ms} ms`;
    case "threw":
      return `the schema threw: ${messageOf(waited.error)}`;
    case "answered": {
      const answer = readOwnAnswer(waited.value);
      if (typeof answer === "string") return `the schema ${answer}`;
      return answer.issues === undefined ? undefined : wordsOf(answer.issues);
    }
  }
}

function wordsOf(issues: readonly ValidationIssue[]): string {
  return issues
    .slice(0, 5)
    .map(({ path, message }) => (path === "" ? message : `${path}: ${message}`))
    .join("; ");
}

/** What came is kept for whoever has to find out why. */
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
